import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { parseAgentTokens } from './gates/agent-tokens.js'
import { startTestServer, type TestServer } from './testing/test-server.js'
import { tools } from './tools/registry.js'

const pageShape = z.looseObject({
  structuredContent: z.looseObject({ rows: z.array(z.looseObject({ key: z.string() })) }),
  _meta: z.object({
    crux: z.object({ budget: z.looseObject({ next_cursor: z.string().optional() }) }),
  }),
})

const TOKEN = 't'.repeat(32)

it('is there again for a connected client after a restart, which needs no new handshake', async () => {
  const agents = parseAgentTokens(TOKEN, undefined)
  const first = await startTestServer({ agents })
  const transport = new StreamableHTTPClientTransport(new URL(first.url), {
    requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
    reconnectionOptions: {
      initialReconnectionDelay: 10,
      maxReconnectionDelay: 10,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 1000,
    },
  })
  const client = new Client({ name: 'test', version: '0' })
  let announcements = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    announcements += 1
  })
  await client.connect(transport as Parameters<Client['connect']>[0])
  const { sessionId } = transport
  const heard = async (from: TestServer): Promise<void> => {
    const before = announcements
    // The client opens its stream on its own, some time after the handshake and after the restart.
    await expect
      .poll(
        () => {
          from.server.notifyToolsChanged(sessionId)
          return announcements
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThan(before)
  }
  await heard(first)
  const fact = { entity: 'deploy', key: 'status', value: 'green' }
  await client.callTool({ name: 'store_fact', arguments: fact })
  // The listener alone: what is stored is there for the next one, as it is on a disk.
  await first.server.close()
  let isReady = false
  const second = await startTestServer({
    agents,
    port: first.port,
    services: first.services,
    isReady: () => isReady,
  })
  onTestFinished(async () => {
    await client.close()
    await second.close()
  })
  await expect(client.listTools()).rejects.toThrow(/503|starting/)
  isReady = true
  const found = await client.callTool({ name: 'query_facts', arguments: { query: 'green' } })
  expect(found.structuredContent).toMatchObject({ rows: [fact] })
  await heard(second)
  expect(transport.sessionId).toBe(sessionId)
})

it('serves the reference client of the protocol: list, call, streams, and its pings', async () => {
  const server = await startTestServer({ agents: parseAgentTokens(TOKEN, undefined) })
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
  })
  const client = new Client({ name: 'test', version: '0' })
  onTestFinished(async () => {
    await client.close()
    await server.close()
  })
  const changed = new Promise((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, resolve)
  })
  // The class is the interface it says it implements, but for optional members that may be undefined.
  await client.connect(transport as Parameters<Client['connect']>[0])

  expect(client.getServerVersion()).toMatchObject({ name: 'crux', version: '1.2.3' })
  expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: true } })
  const listed = await client.listTools()
  expect(listed.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))

  const fact = { entity: 'deploy', key: 'status', value: 'green' }
  await client.callTool({ name: 'store_fact', arguments: fact })
  const found = await client.callTool({ name: 'query_facts', arguments: { query: 'green' } })
  expect(found.structuredContent).toMatchObject({ rows: [fact] })

  for (let i = 0; i < 5; i++) {
    const value = `${i} `.padEnd(200, 'x')
    await client.callTool({
      name: 'store_fact',
      arguments: { entity: 'many', key: `k${i}`, value },
    })
  }
  // What a budget leaves out is reached through what the client hands on.
  const keys: string[] = []
  let cursor: string | undefined
  do {
    const args = {
      entity: 'many',
      token_budget: 110,
      contract: 'legacy',
      ...(cursor && { cursor }),
    }
    const page = pageShape.parse(await client.callTool({ name: 'query_facts', arguments: args }))
    keys.push(...page.structuredContent.rows.map(({ key }) => key))
    cursor = page._meta.crux.budget.next_cursor
  } while (cursor !== undefined)
  expect(keys.sort()).toEqual(['k0', 'k1', 'k2', 'k3', 'k4'])

  await expect(client.ping()).rejects.toMatchObject({ code: -32601 })
  await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32601 })
  await client.sendRootsListChanged().catch(() => undefined)
  expect((await client.listTools()).tools).toHaveLength(tools.length)

  // The client opens its stream on its own, some time after the handshake.
  const announce = setInterval(() => server.server.notifyToolsChanged(transport.sessionId), 10)
  await changed
  clearInterval(announce)
  await transport.terminateSession()
})
