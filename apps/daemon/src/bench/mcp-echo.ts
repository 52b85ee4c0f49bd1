/**
 * What the MCP bench compares with: a hono server that reads the body and returns a fixed answer
 * of the same bytes.
 *
 * A program, started by `runMcpBench`; it takes `{answer}` by message and answers its URL.
 */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

process.once('message', ({ answer }: { readonly answer: string }) => {
  const app = new Hono()
  app.post('/mcp', async (context) => {
    await context.req.text()
    return context.body(answer, 200, { 'Content-Type': 'application/json' })
  })
  serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
    process.send?.(`http://127.0.0.1:${port}/mcp`)
  })
})
