import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { openDocumentStore } from 'crux-documents'
import {
  DEFAULT_FEATURES,
  parseAgentTokens,
  planCapabilities,
  startMcpServer,
  tools,
} from 'crux-mcp'
import { openFactStore, openSubstrate } from 'crux-memory'
import { openMemoryObservations } from 'crux-observe/testing'
import { loadHashes } from 'crux-segment'
import { createIntentStore, openSessionPlans, openSessionStore } from 'crux-session'
import { createMemoryJournal, createMemorySegmentStore } from 'crux-storage'
import { ANONYMOUS, systemClock } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runStdioRelay, type StdioRelayOptions } from './relay.js'

const request = (id: unknown, method = 'tools/list', params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const notification = (method: string) => JSON.stringify({ jsonrpc: '2.0', method })

describe('runStdioRelay', () => {
  it('posts each line and writes each answer as a line (MCP-11.3-stdio-relay)', async () => {
    const stub = await startStub(({ body, response }) => {
      response.end(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: {} }))
    })
    const { code, lines } = await relay(stub.url, `${request(1)}\n\n  \n${request('two')}\r\n`)
    expect(code).toBe(0)
    expect(stub.seen.map(({ body }) => JSON.parse(body).id)).toEqual([1, 'two'])
    expect(stub.seen[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
    expect(
      lines
        .map((line) => JSON.parse(line))
        .map(({ id }) => id)
        .sort(),
    ).toEqual([1, 'two'])
  })

  it('relays to the endpoint that it is given (MCP-11.3-stdio-url)', async () => {
    const one = await startStub(answerEmpty)
    const two = await startStub(answerEmpty)
    await relay(two.url, request(1))
    expect([one.seen.length, two.seen.length]).toEqual([0, 1])
  })

  it('sends the token, if there is one (MCP-11.3-stdio-auth)', async () => {
    const stub = await startStub(answerEmpty)
    await relay(stub.url, request(1), { token: 'secret' })
    await relay(stub.url, request(1))
    expect(stub.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      undefined,
    ])
  })

  it('asks for the surface that its client is to see', async () => {
    const stub = await startStub(answerEmpty)
    await relay(`${stub.url}?surface=dynamic&x=1`, request(1), { surface: 'minimal' })
    await relay(stub.url, request(1))
    expect(stub.seen.map(({ path }) => path)).toEqual(['/mcp?surface=minimal&x=1', '/mcp'])
  })

  it('answers -32000 with the id when nothing listens, also to what is no request (MCP-11.3-stdio-error)', async () => {
    const url = await closedUrl()
    const input = [request('a b'), request({ odd: 1 }), notification('x'), '{broken'].join('\n')
    const { code, lines, errors } = await relay(url, input)
    expect(code).toBe(0)
    const message = `upstream MCP endpoint unreachable: ${url}`
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      expect.arrayContaining(
        ['a b', { odd: 1 }, null].map((id) => ({
          jsonrpc: '2.0',
          id,
          error: { code: -32000, message },
        })),
      ),
    )
    expect(lines).toHaveLength(3)
    expect(errors).toContain('ECONNREFUSED')
  })

  it.each([401, 403, 413, 500])('answers -32000 when the endpoint answers %i', async (status) => {
    const stub = await startStub(({ response }) => {
      response.writeHead(status).end('{"hint":"why"}')
    })
    const { lines, errors } = await relay(stub.url, request(5))
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        jsonrpc: '2.0',
        id: 5,
        error: { code: -32000, message: `upstream MCP endpoint answered HTTP ${status}` },
      },
    ])
    expect(errors).toContain('"hint":"why"')
  })

  it('lets nothing but JSON onto its output', async () => {
    const stub = await startStub(({ body, response }) => {
      const { id } = JSON.parse(body)
      if (id === 1) response.end('<html>a proxy</html>')
      else response.end(`{"jsonrpc":"2.0",\n"id":${id},\r\n"result":{}}`)
    })
    const { lines } = await relay(stub.url, `${request(1)}\n${request(2)}`)
    const answers = lines.map((line) => JSON.parse(line)).sort((a, b) => a.id - b.id)
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32000, message: expect.any(String) } },
      { jsonrpc: '2.0', id: 2, result: {} },
    ])
  })

  it('keeps the session id of the handshake, which it finishes before it goes on', async () => {
    const stub = await startStub(({ body, response }) => {
      const { id, method } = JSON.parse(body)
      if (id === undefined) return response.writeHead(202).end()
      if (method === 'initialize') response.setHeader('Mcp-Session-Id', 'minted')
      setTimeout(() => response.end(`{"jsonrpc":"2.0","id":${id},"result":{}}`), 5)
      return response
    })
    const input = [request(1, 'initialize'), notification('notifications/initialized'), request(2)]
    const { lines } = await relay(stub.url, input.join('\n'))
    expect(stub.seen.map(({ headers }) => headers['mcp-session-id'])).toEqual([
      undefined,
      'minted',
      'minted',
    ])
    expect(lines).toHaveLength(2)
  })

  it('has several requests under way, and no more than a bound', async () => {
    let underWay = 0
    let most = 0
    const stub = await startStub(({ body, response }) => {
      underWay += 1
      most = Math.max(most, underWay)
      const { id } = JSON.parse(body)
      setTimeout(() => {
        underWay -= 1
        response.end(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
      }, 5)
    })
    const input = Array.from({ length: 60 }, (_, id) => request(id)).join('\n')
    const { code, lines } = await relay(stub.url, input)
    expect(code).toBe(0)
    expect(new Set(lines.map((line) => JSON.parse(line).id)).size).toBe(60)
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(16)
  })

  it('asks again while the daemon is starting', async () => {
    let asked = 0
    const stub = await startStub((exchange) => {
      asked += 1
      if (asked > 1) return answerEmpty(exchange)
      return exchange.response.writeHead(503, { 'Retry-After': '0' }).end()
    })
    const { lines } = await relay(stub.url, request(1))
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  it('reports a daemon of another version on its error output', async () => {
    const stub = await startStub(({ response }) => {
      const result = { serverInfo: { name: 'crux', version: '9.9.9' } }
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
    })
    const other = await relay(stub.url, request(1, 'initialize'), { version: '0.1.0' })
    expect(other.errors).toContain('9.9.9')
    const same = await relay(stub.url, request(1, 'initialize'), { version: '9.9.9' })
    expect(same.errors).toBe('')
  })

  it('ends with 1 when its input cannot be read, and with 0 when it is told to end', async () => {
    const stub = await startStub(answerEmpty)
    const broken = new Readable({ read() {} })
    const failing = relay(stub.url, broken)
    broken.destroy(new Error('the terminal went away'))
    expect(await failing).toMatchObject({ code: 1, errors: expect.stringContaining('went away') })

    const stop = new AbortController()
    const ending = relay(stub.url, new Readable({ read() {} }), { signal: stop.signal })
    stop.abort()
    expect((await ending).code).toBe(0)
  })

  it('answers a line that is too long, and goes on', async () => {
    const stub = await startStub(answerEmpty)
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const input = Readable.from(
      (function* () {
        for (let i = 0; i < 65; i++) yield piece
        yield Buffer.from(`\n${request(1)}\n`)
      })(),
    )
    const { lines } = await relay(stub.url, input)
    const answers = lines.map((line) => JSON.parse(line))
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: expect.any(String) } },
      { jsonrpc: '2.0', id: 1, result: {} },
    ])
  })

  it('speaks with the real endpoint, errors included', async () => {
    const url = await startReal()
    const store = { name: 'store_fact', arguments: { entity: 'e', key: 'k', value: 'v' } }
    const first = await relay(
      url,
      [request(1, 'initialize'), request(2, 'tools/call', store)].join('\n'),
      {
        token: 't'.repeat(32),
      },
    )
    expect(first.lines.map((line) => JSON.parse(line).id)).toEqual([1, 2])
    const query = { name: 'query_facts', arguments: { entity: 'e' } }
    const input = [
      request(3, 'tools/call', query),
      request(4, 'ping'),
      '{broken',
      notification('x'),
    ]
    const second = await relay(url, input.join('\n'), { token: 't'.repeat(32) })
    const answers = second.lines.map((line) => JSON.parse(line)).sort((a, b) => a.id - b.id)
    expect(answers).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: 3, result: { structuredContent: { rows: [{ value: 'v' }] } } },
      { id: 4, error: { code: -32601, message: 'method not found: ping' } },
    ])
    const refused = await relay(url, request(1))
    expect(JSON.parse(refused.lines[0] ?? '').error.message).toBe(
      'upstream MCP endpoint answered HTTP 401',
    )
  })
})

interface Exchange {
  readonly body: string
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly response: ServerResponse
}

function answerEmpty({ body, response }: Exchange): unknown {
  const { id } = JSON.parse(body)
  return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
}

async function startStub(
  answer: (exchange: Exchange) => unknown,
): Promise<{ readonly url: string; readonly seen: Exchange[] }> {
  const seen: Exchange[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const exchange = {
        body: Buffer.concat(chunks).toString(),
        path: incoming.url,
        headers: incoming.headers,
        response,
      }
      seen.push(exchange)
      answer(exchange)
    })
  })
  const url = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url, seen }
}

async function closedUrl(): Promise<string> {
  const server = createServer()
  const url = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return url
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      resolve(`http://127.0.0.1:${port}/mcp`)
    })
  })
}

async function startReal(): Promise<string> {
  const clock = systemClock
  const journal = createMemoryJournal()
  const facts = await openFactStore({ journal, clock })
  const agents = parseAgentTokens('t'.repeat(32), undefined)
  const server = await startMcpServer({
    host: '127.0.0.1',
    port: 0,
    services: {
      facts,
      sessions: await openSessionStore({ journal, clock }),
      intents: createIntentStore({ clock }),
      plans: await openSessionPlans({
        journal,
        clock,
        context: () => ({
          installId: '0'.repeat(32),
          user: 'ada',
          mcpUrl: 'http://127.0.0.1:14801/mcp',
          ...planCapabilities(tools),
        }),
      }),
      substrate: await openSubstrate({ journal, clock, facts, hashes: await loadHashes() }),
      documents: await openDocumentStore({
        segments: await createMemorySegmentStore(),
        clock,
        buildIndex: true,
      }),
      observations: openMemoryObservations({ clock, hashes: await loadHashes() }),
      clock,
    },
    version: '0.1.0',
    agents: () => agents,
    anonymous: ANONYMOUS,
    allowedHosts: [],
    allowedOrigins: [],
    maxBodyBytes: 1024 * 1024,
    isReady: () => true,
    log: { warn: () => undefined, info: () => undefined },
    features: DEFAULT_FEATURES,
  })
  onTestFinished(() => server.close())
  return server.url
}

async function relay(
  url: string,
  input: string | Readable,
  more: Partial<StdioRelayOptions> = {},
): Promise<{ readonly code: number; readonly lines: string[]; readonly errors: string }> {
  const output = new PassThrough()
  const errorOutput = new PassThrough()
  const written = collect(output)
  const said = collect(errorOutput)
  const code = await runStdioRelay({
    url,
    input: typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input,
    output,
    errorOutput,
    ...more,
  })
  output.end()
  errorOutput.end()
  const text = await written
  expect(text === '' || text.endsWith('\n')).toBe(true)
  return { code, lines: text.split('\n').filter(Boolean), errors: await said }
}

async function collect(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
