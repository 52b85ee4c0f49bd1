import { get, type IncomingMessage } from 'node:http'
import { ANONYMOUS, agentCaller } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from '../gates/agent-tokens.js'
import { startTestServer, type TestServer } from '../testing/test-server.js'
import { ownerKey } from './event-streams.js'

const ONE = '1'.repeat(32)
const TWO = '2'.repeat(32)

describe('ownerKey', () => {
  it('names an agent, else an address, else nobody (MCP-11.1-sse-owner-key)', () => {
    expect(ownerKey(agentCaller('one'), '10.0.0.1')).toBe('agent:one')
    expect(ownerKey(ANONYMOUS, '10.0.0.1')).toBe('ip:10.0.0.1')
    expect(ownerKey(ANONYMOUS, undefined)).toBe('anonymous')
  })
})

describe('event streams', () => {
  it('opens on GET with the right Accept, under a minted or the given id (MCP-11.1-route-get-sse)', async () => {
    const server = await start({})
    const minted = await openStream(server)
    expect(minted.response.statusCode).toBe(200)
    expect(minted.response.headers['content-type']).toBe('text/event-stream')
    expect(minted.response.headers['mcp-session-id']).toMatch(/^[0-9a-f]{32}$/)
    const named = await openStream(server, { 'Mcp-Session-Id': 'mine' })
    expect(named.response.headers['mcp-session-id']).toBe('mine')
  })

  it('asks for a token like everything else', async () => {
    const server = await start({ agents: parseAgentTokens(ONE, undefined) })
    expect((await openStream(server)).response.statusCode).toBe(401)
    const bearer = { Authorization: `Bearer ${ONE}` }
    expect((await openStream(server, bearer)).response.statusCode).toBe(200)
  })

  it('carries list_changed to one session or to all, and nothing else (MCP-11.1-sse-one-notification)', async () => {
    const server = await start({})
    const a = await openStream(server, { 'Mcp-Session-Id': 'a' })
    const b = await openStream(server, { 'Mcp-Session-Id': 'b' })
    await server.call(
      'store_fact',
      { entity: 'e', key: 'k', value: 'v' },
      { 'Mcp-Session-Id': 'a' },
    )
    await server.call('save_session', { session_id: 's', state: {} }, { 'Mcp-Session-Id': 'b' })
    server.server.notifyToolsChanged('a')
    server.server.notifyToolsChanged('nobody')
    server.server.notifyToolsChanged()
    await server.server.close()
    const event = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    expect(await a.events).toEqual([event, event])
    expect(await b.events).toEqual([event])
  })

  it('keeps the connection alive with comments', async () => {
    const server = await start({ keepAliveMs: 5 })
    const stream = await openStream(server)
    await stream.sawText(/: keep-alive\n\n/)
    await server.server.close()
    expect(await stream.events).toEqual([])
  })

  it('refuses a session that another caller streams, and replaces one of the same caller (MCP-11.1-sse-403)', async () => {
    const server = await start({ agents: parseAgentTokens(undefined, `one:${ONE},two:${TWO}`) })
    const as = (token: string) => ({ Authorization: `Bearer ${token}`, 'Mcp-Session-Id': 'x' })
    const first = await openStream(server, as(ONE))
    const foreign = await openStream(server, as(TWO))
    expect(foreign.response.statusCode).toBe(403)
    expect(JSON.parse(await foreign.text)).toEqual({
      error: 'sse_session_owner_mismatch',
      detail: expect.any(String),
    })
    const second = await openStream(server, as(ONE))
    expect(second.response.statusCode).toBe(200)
    expect(await first.events).toEqual([])
    server.server.notifyToolsChanged('x')
    await server.server.close()
    expect(await second.events).toHaveLength(1)
  })

  it('gives a session free when its client goes away', async () => {
    const server = await start({ agents: parseAgentTokens(undefined, `one:${ONE},two:${TWO}`) })
    const as = (token: string) => ({ Authorization: `Bearer ${token}`, 'Mcp-Session-Id': 'x' })
    const gone = await openStream(server, as(ONE))
    gone.response.destroy()
    await expect.poll(async () => (await openStream(server, as(TWO))).response.statusCode).toBe(200)
  })
})

async function start(overrides: Parameters<typeof startTestServer>[0]): Promise<TestServer> {
  const server = await startTestServer(overrides)
  onTestFinished(() => server.close())
  return server
}

interface OpenStream {
  readonly response: IncomingMessage
  /** The whole body, once it has ended. */
  readonly text: Promise<string>
  /** Payloads of all events, once the stream has ended. */
  readonly events: Promise<unknown[]>
  /** Resolves when the body so far matches. */
  sawText(pattern: RegExp): Promise<void>
}

function openStream(server: TestServer, headers: Record<string, string> = {}): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const request = get(
      {
        host: '127.0.0.1',
        port: server.port,
        path: '/mcp',
        headers: { Accept: 'text/event-stream', ...headers },
      },
      (response) => {
        let seen = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          seen += chunk
        })
        const text = new Promise<string>((done) => {
          response.on('close', () => done(seen))
        })
        resolve({
          response,
          text,
          events: text.then((all) =>
            all
              .split('\n\n')
              .filter((part) => part.startsWith('data: '))
              .map((part) => JSON.parse(part.slice('data: '.length))),
          ),
          sawText: (pattern) => expect.poll(() => pattern.test(seen)).toBe(true),
        })
      },
    )
    request.on('error', reject)
  })
}
