import { EventEmitter, once } from 'node:events'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { ANONYMOUS, agentCaller } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from '../gates/agent-tokens.js'
import { startTestServer, type TestServer } from '../testing/test-server.js'
import { DEFAULT_STREAM_LIMITS, EventStreams, ownerKey } from './event-streams.js'

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

  it('opens no stream while the server stops, which would wait for it', async () => {
    const server = await start({})
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const socket = connect(server.port, '127.0.0.1')
    socket.setEncoding('utf8')
    socket.write(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
        `Content-Length: ${text.length}\r\nExpect: 100-continue\r\n\r\n`,
    )
    // The request is being served now, so its connection outlasts the end of listening.
    await once(socket, 'data')
    const closed = server.server.close()
    let seen = ''
    socket.on('data', (chunk: string) => {
      seen += chunk
    })
    socket.write(`${text}GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`)
    await Promise.all([closed, once(socket, 'close')])
    expect(seen).toMatch(/HTTP\/1\.1 200 .*HTTP\/1\.1 503 .*retry-after: 1/is)
  })

  it('gives a session free when its client goes away', async () => {
    const server = await start({ agents: parseAgentTokens(undefined, `one:${ONE},two:${TWO}`) })
    const as = (token: string) => ({ Authorization: `Bearer ${token}`, 'Mcp-Session-Id': 'x' })
    const gone = await openStream(server, as(ONE))
    gone.response.destroy()
    await expect.poll(async () => (await openStream(server, as(TWO))).response.statusCode).toBe(200)
  })
})

describe('limits of event streams', () => {
  const as = (token: string, id: string) => ({
    Authorization: `Bearer ${token}`,
    'Mcp-Session-Id': id,
  })
  const agents = parseAgentTokens(undefined, `one:${ONE},two:${TWO}`)
  const statusOf = async (server: TestServer, headers: Record<string, string>) =>
    (await openStream(server, headers)).response.statusCode

  it('refuse the stream that is one too many for all (MCP-11.1-sse-cap-global, MCP-11.1-sse-429)', async () => {
    const server = await start({ agents, streamLimits: () => ({ total: 2, perOwner: 0 }) })
    expect(await statusOf(server, as(ONE, 'a'))).toBe(200)
    expect(await statusOf(server, as(TWO, 'b'))).toBe(200)
    const refused = await openStream(server, as(TWO, 'c'))
    expect(refused.response.statusCode).toBe(429)
    expect(JSON.parse(await refused.text)).toEqual({
      error: 'sse_session_limit',
      scope: 'global',
      limit: 2,
    })
    // The owner of a session may open its stream anew, and whose session it is comes first.
    expect(await statusOf(server, as(ONE, 'a'))).toBe(200)
    expect(await statusOf(server, as(TWO, 'a'))).toBe(403)
  })

  it('refuse the stream that is one too many for its owner (MCP-11.1-sse-cap-owner, MCP-11.1-sse-429)', async () => {
    const server = await start({ agents, streamLimits: () => ({ total: 0, perOwner: 1 }) })
    const first = await openStream(server, as(ONE, 'a'))
    const refused = await openStream(server, as(ONE, 'b'))
    expect(refused.response.statusCode).toBe(429)
    expect(JSON.parse(await refused.text)).toEqual({
      error: 'sse_session_limit',
      scope: 'owner',
      limit: 1,
    })
    expect(await statusOf(server, as(TWO, 'c'))).toBe(200)
    // The one stream again, and another one once it has gone.
    const again = await openStream(server, as(ONE, 'a'))
    expect(again.response.statusCode).toBe(200)
    expect(await first.events).toEqual([])
    again.response.destroy()
    await expect.poll(() => statusOf(server, as(ONE, 'b')), { timeout: 10_000 }).toBe(200)
  })

  it('are 1,024 and 64 where nobody sets others, asked for at each stream, and none at 0', async () => {
    expect(DEFAULT_STREAM_LIMITS).toEqual({ total: 1024, perOwner: 64 })
    const untouched = await start({})
    const many = await Promise.all(Array.from({ length: 64 }, () => openStream(untouched)))
    expect(many.every(({ response }) => response.statusCode === 200)).toBe(true)
    expect(await statusOf(untouched, {})).toBe(429)

    let limits = { total: 1, perOwner: 1 }
    const server = await start({ streamLimits: () => limits })
    expect(await statusOf(server, {})).toBe(200)
    expect(await statusOf(server, {})).toBe(429)
    limits = { total: 0, perOwner: 0 }
    for (let count = 0; count < 3; count += 1) expect(await statusOf(server, {})).toBe(200)
  })

  it('count like a plain list of streams, whoever comes and goes', async () => {
    const owners = ['one', 'two']
    const ids = ['a', 'b', 'c', 'd']
    const step = fc.record({
      act: fc.constantFrom('open', 'open', 'leave'),
      owner: fc.constantFrom(...owners),
      id: fc.constantFrom(...ids),
    })
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.nat({ max: 4 }),
        fc.nat({ max: 3 }),
        (steps, total, perOwner) => {
          const streams = new EventStreams(() => ({ total, perOwner }), 60_000)
          const open = new Map<string, { owner: string; response: FakeResponse }>()
          for (const { act, owner, id } of steps) {
            if (act === 'leave') {
              open.get(id)?.response.emit('close')
              open.delete(id)
              continue
            }
            const response = new FakeResponse()
            const mine = [...open].filter(
              ([other, stream]) => other !== id && stream.owner === owner,
            )
            const present = open.get(id)
            const expected =
              present !== undefined && present.owner !== owner
                ? { kind: 'owner_mismatch' }
                : total > 0 && present === undefined && open.size >= total
                  ? { kind: 'limit', scope: 'global', limit: total }
                  : perOwner > 0 && mine.length >= perOwner
                    ? { kind: 'limit', scope: 'owner', limit: perOwner }
                    : undefined
            // The parts of a response that streams use.
            const given = response as unknown as ServerResponse
            expect(streams.open(id, { owner, isAdmitted: () => true }, given, {})).toEqual(expected)
            if (expected !== undefined) continue
            // Ended by its successor, the older one closes some time later.
            if (present !== undefined) present.response.emit('close')
            open.set(id, { owner, response })
          }
          streams.close()
        },
      ),
    )
  })
})

describe('the list of tools', () => {
  it('is announced anew after a session call with an intent, to its session alone (MCP-11.1-sse-when)', async () => {
    const server = await start({})
    const x = await openStream(server, { 'Mcp-Session-Id': 'x' })
    const y = await openStream(server, { 'Mcp-Session-Id': 'y' })
    const declare = (args: object, headers: Record<string, string>) =>
      server.rpc('tools/call', { name: 'cuecrux_session', arguments: args }, headers)
    for (const args of [{}, { intent: '' }, { intent: ' ' }, { intent: 7 }]) {
      await declare(args, { 'Mcp-Session-Id': 'x' })
    }
    await declare({ intent: 'audit_review' }, {})
    await declare({ intent: 'audit_review' }, { 'Mcp-Session-Id': 'nobody' })
    await server.call('query_facts', { intent: 'audit_review' }, { 'Mcp-Session-Id': 'x' })
    await declare({ intent: 'audit_review' }, { 'Mcp-Session-Id': 'x' })
    await server.server.close()
    expect(await x.events).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }])
    expect(await y.events).toEqual([])
  })
})

describe('a stream whose client reads nothing', () => {
  it('is cut before it fills the memory', () => {
    const streams = new EventStreams(() => DEFAULT_STREAM_LIMITS, 60_000)
    const response = new FakeResponse()
    streams.open(
      'id',
      { owner: 'me', isAdmitted: () => true },
      response as unknown as ServerResponse,
      {},
    )
    response.writableLength = 64 * 1024
    streams.notifyToolsChanged('id')
    expect(response.destroyed).toBe(false)
    response.writableLength += 1
    streams.notifyToolsChanged()
    expect(response.destroyed).toBe(true)
    streams.close()
  })
})

/** The parts of a response that streams use. */
class FakeResponse extends EventEmitter {
  destroyed = false
  writableEnded = false
  writableLength = 0
  writeHead(): void {}
  write(): void {}
  end(): void {
    this.writableEnded = true
  }
  destroy(): void {
    this.destroyed = true
  }
}

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
