import { createServer } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'
import { readLines } from './lines.js'
import { runStdioRelay } from './relay.js'

const META = 'io.modelcontextprotocol'

interface Line {
  readonly id?: string | number
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  readonly result?: any
  readonly error?: { readonly code: number }
}

async function startFull(): Promise<string> {
  const { daemon } = await startTestDaemon(await temporaryFolder(), {
    CORECRUXD_MCP_PROFILE: 'full',
    CORECRUXD_MCP_CONFORMANCE_FIXTURES: '1',
  })
  return String(daemon.mcpUrl)
}

/** A relay that is talked to line by line. */
function startRelay(url: string) {
  const input = new PassThrough()
  const output = new PassThrough()
  const ended = runStdioRelay({ url, input, output, errorOutput: new PassThrough() })
  const lines: Line[] = []
  const waiting = new Set<() => void>()
  const reading = (async () => {
    for await (const line of readLines(output, 1 << 20)) {
      if (line === 'too_long') throw new Error('a line is too long')
      lines.push(JSON.parse(Buffer.from(line).toString()) as Line)
      for (const look of waiting) look()
    }
  })()
  onTestFinished(async () => {
    input.end()
    await ended
    output.end()
    await reading
  })
  const send = (message: object) => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const receive = (wanted: (line: Line) => boolean): Promise<Line> =>
    new Promise((resolve) => {
      const look = () => {
        const found = lines.find(wanted)
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  return {
    send,
    receive,
    ask(id: number | string, method: string, params: object = {}) {
      send({ id, method, params })
      return receive((line) => line.id === id && line.method === undefined)
    },
    end: () => {
      input.end()
      return ended
    },
  }
}

const hello = (capabilities: object = {}) => ({
  protocolVersion: '2025-11-25',
  capabilities,
  clientInfo: { name: 'test', version: '0' },
})
const stateless = (params: object = {}, capabilities: object = {}) => ({
  ...params,
  _meta: {
    [`${META}/protocolVersion`]: '2026-07-28',
    [`${META}/clientCapabilities`]: capabilities,
  },
})

describe('the relay before the full profile', () => {
  it('speaks the revision that the handshake agreed on', async () => {
    const relay = startRelay(await startFull())
    expect((await relay.ask(0, 'ping')).error?.code).toBe(-32601)
    const { result } = await relay.ask(1, 'initialize', hello())
    expect(result.protocolVersion).toBe('2025-11-25')
    relay.send({ method: 'notifications/initialized' })
    expect((await relay.ask(2, 'ping')).result).toEqual({})
    expect((await relay.ask(3, 'resources/list')).result.resources).toBeDefined()
  })

  it('carries a question to the client and its answer back', async () => {
    const relay = startRelay(await startFull())
    await relay.ask(1, 'initialize', hello({ elicitation: {} }))
    const params = { name: 'test_elicitation', arguments: { message: 'Who?' } }
    relay.send({ id: 2, method: 'tools/call', params })
    const question = await relay.receive(({ method }) => method === 'elicitation/create')
    relay.send({ id: question.id, result: { action: 'decline' } })
    const { result } = await relay.receive(({ id, method }) => id === 2 && method === undefined)
    expect(result.content[0].text).toContain('decline')
  })

  it('reads answers however many questions are open', async () => {
    const relay = startRelay(await startFull())
    await relay.ask(0, 'initialize', hello({ elicitation: {} }))
    const ids = Array.from({ length: 40 }, (_, index) => index + 1)
    const params = { name: 'test_elicitation', arguments: { message: 'Who?' } }
    for (const id of ids) relay.send({ id, method: 'tools/call', params })
    const answered = new Set<Line>()
    while (answered.size < ids.length) {
      const question = await relay.receive(
        (line) => line.method === 'elicitation/create' && !answered.has(line),
      )
      answered.add(question)
      // Only when all are open.
      if (answered.size < ids.length) continue
      for (const { id } of answered) relay.send({ id, result: { action: 'cancel' } })
    }
    for (const id of ids) {
      const { result } = await relay.receive((line) => line.id === id && line.method === undefined)
      expect(result.content[0].text).toContain('cancel')
    }
  })

  it('speaks the stateless revision, also its refusals', async () => {
    const relay = startRelay(await startFull())
    const found = await relay.ask('d', 'server/discover', stateless())
    expect(found.result.supportedVersions).toEqual(['2026-07-28'])
    const named = stateless({ name: 'naïve =?base64?', arguments: {} })
    expect((await relay.ask('n', 'tools/call', named)).error?.code).toBe(-32601)
    expect((await relay.ask('p', 'ping', stateless())).error?.code).toBe(-32601)
    const listed = await relay.ask('l', 'tools/list', stateless())
    expect(listed.result).toMatchObject({ resultType: 'complete' })
  })

  it('ends at the end of its input, whatever would go on for ever', async () => {
    const relay = startRelay(await startFull())
    await relay.ask(1, 'initialize', hello({ elicitation: {} }))
    const listen = stateless({ notifications: { toolsListChanged: true } })
    relay.send({ id: 'l', method: 'subscriptions/listen', params: listen })
    await relay.receive(({ method }) => method?.includes('acknowledged') === true)
    const params = { name: 'test_elicitation', arguments: { message: 'Who?' } }
    relay.send({ id: 2, method: 'tools/call', params })
    await relay.receive(({ method }) => method === 'elicitation/create')
    expect(await relay.end()).toBe(0)
  })

  it('ends a stateless request that its client cancels', async () => {
    const relay = startRelay(await startFull())
    const listen = stateless({ notifications: { toolsListChanged: true } })
    relay.send({ id: 'l', method: 'subscriptions/listen', params: listen })
    await relay.receive(({ method }) => method?.includes('acknowledged') === true)
    relay.send({ method: 'notifications/cancelled', params: { requestId: 'l' } })
    // Whatever came for it later would come before the answer to this.
    await relay.ask('t', 'tools/list', stateless())
    expect(await relay.end()).toBe(0)
  })

  it('passes on what is said to the session, and comes back for more', async () => {
    const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    let streams = 0
    const server = createServer((request, response) => {
      if (request.method === 'GET') {
        streams += 1
        expect(request.headers).toMatchObject({
          'mcp-session-id': 'minted',
          'mcp-protocol-version': '2025-11-25',
        })
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.end(streams === 2 ? `: hi\n\ndata: ${changed}\n\n` : ': hi\n\n')
        return
      }
      response.setHeader('Mcp-Session-Id', 'minted')
      response.end('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}')
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const relay = startRelay(`http://127.0.0.1:${port}/mcp`)
    await relay.ask(1, 'initialize', hello())
    expect(await relay.receive(({ method }) => method !== undefined)).toEqual(JSON.parse(changed))
    expect(streams).toBe(2)
  })
})
