import { request as httpRequest } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { agentCaller, SYSTEM } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTenants, parseAgentTokens } from '../gates/agent-tokens.js'
import {
  ask,
  askStateless,
  META,
  type Message,
  readEvents,
  startFullServer,
} from '../testing/full-client.js'
import type { TestServer } from '../testing/test-server.js'
import { tools } from '../tools/registry.js'

const TOKEN = 't'.repeat(32)
const URI = 'crux://bootstrap/doc/guide'

let open: TestServer
beforeAll(async () => {
  open = await startFullServer({ conformanceFixtures: true })
  await storeGuide(open, 'A guide.')
})
afterAll(() => open.close())

const storeGuide = (server: TestServer, value: string) =>
  server.services.facts.store(SYSTEM, {
    entity: '__bootstrap__::doc:guide',
    key: 'The guide',
    value,
  })

const callFixture = (name: string, more: object = {}, capabilities: object = {}) =>
  askStateless(open, 'tools/call', { name, arguments: {}, ...more }, { capabilities })

describe('the stateless revision', () => {
  it('says what it is and can to server/discover, whatever the version header', async () => {
    const { status, answer } = await askStateless(open, 'server/discover')
    expect([status, answer.result]).toMatchObject([
      200,
      {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
        ttlMs: expect.any(Number),
        _meta: { [`${META}/serverInfo`]: { name: 'crux', version: '1.2.3' } },
      },
    ])
    const bare = JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'server/discover', params: {} })
    const refused = await ask(open, bare, {})
    expect([refused.status, refused.answer.id]).toEqual([400, 9])
  })

  it('lists and calls the tools of the default profile, with cache hints and a type of result', async () => {
    const { answer } = await askStateless(open, 'tools/list')
    expect(answer.result).toMatchObject({ resultType: 'complete', cacheScope: 'private' })
    const names = answer.result.tools.map(({ name }: { name: string }) => name)
    expect(names.filter((name: string) => !name.includes('test_') && name.length < 24)).toEqual(
      tools.map(({ name }) => name),
    )
    const args = { entity: 'e', key: 'k', value: 'v' }
    await askStateless(open, 'tools/call', { name: 'store_fact', arguments: args })
    const found = await askStateless(open, 'tools/call', {
      name: 'query_facts',
      arguments: { entity: 'e', colour: 'red' },
    })
    expect(found.answer.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { rows: [args], crc_v1: {} },
      _meta: { crux: { ignored_arguments: ['colour'] } },
    })
  })

  it('checks headers against the body', async () => {
    for (const headers of [
      { 'Mcp-Method': 'prompts/list' },
      { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': '' },
    ]) {
      const { status, answer } = await askStateless(open, 'tools/list', {}, { headers })
      expect([status, answer.error.code]).toEqual([400, -32020])
    }
    const named = await askStateless(
      open,
      'tools/call',
      { name: 'list_entities', arguments: {} },
      { headers: { 'Mcp-Name': 'query' } },
    )
    expect([named.status, named.answer.error.code]).toEqual([400, -32020])
  })

  it('needs metadata in each request, and has no method of the other revisions', async () => {
    const meta = { [`${META}/clientCapabilities`]: undefined }
    const bare = await askStateless(open, 'tools/list', {}, { meta })
    expect([bare.status, bare.answer.error.code]).toEqual([400, -32602])
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'x/y']) {
      const { status, answer } = await askStateless(open, method)
      expect([method, status, answer.error.code]).toEqual([method, 404, -32601])
    }
  })

  it('has no stream on GET', async () => {
    const reply = await open.send({
      method: 'GET',
      headers: { Accept: 'text/event-stream', 'MCP-Protocol-Version': '2026-07-28' },
    })
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST'])
  })

  it('names the resource that does not exist', async () => {
    const { answer } = await askStateless(open, 'resources/read', { uri: 'crux://nowhere' })
    expect(answer.error).toMatchObject({ code: -32602, data: { uri: 'crux://nowhere' } })
  })

  it('sends log messages to requests that ask for them only', async () => {
    const silent = await callFixture('test_logging_tool')
    expect(silent.messages).toHaveLength(1)
    const told = await askStateless(
      open,
      'tools/call',
      { name: 'test_logging_tool', arguments: {} },
      { meta: { [`${META}/logLevel`]: 'info' } },
    )
    expect(told.messages.map(({ method }) => method)).toEqual(['notifications/message', undefined])
  })

  it('refuses a tool that needs what the client cannot do', async () => {
    const { status, answer } = await callFixture('test_missing_capability')
    expect([status, answer.error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    ])
  })

  it('confines readers as the default profile does', async () => {
    const reader = { ...agentCaller('reader'), readOnly: true }
    const server = await startFullServer({}, { anonymous: reader })
    onTestFinished(() => server.close())
    const store = { name: 'store_fact', arguments: { entity: 'e', key: 'k', value: 'v' } }
    const { answer } = await askStateless(server, 'tools/call', store)
    expect(answer.error).toMatchObject({
      code: -32601,
      message: expect.stringContaining('read-only'),
    })
    const read = await askStateless(server, 'tools/call', { name: 'query_facts', arguments: {} })
    expect(read.answer.result.content[0].text).toBe('no facts found')
  })
})

describe('input that is required', () => {
  const forms = { elicitation: { form: {} } }
  const yes = { confirm: { action: 'accept', content: { ok: true } } }
  const NAME = 'test_input_required_result_request_state'

  it('is asked for with state that comes back, and only as it was given', async () => {
    const first = (await callFixture(NAME, {}, forms)).answer.result
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { confirm: { method: 'elicitation/create' } },
      requestState: expect.any(String),
    })
    const retry = (requestState: string, name = NAME) =>
      callFixture(name, { inputResponses: yes, requestState }, forms)
    expect((await retry(first.requestState)).answer.result).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'state-ok' }],
    })
    const half = Math.floor(first.requestState.length / 2)
    const other = first.requestState[half] === 'A' ? 'B' : 'A'
    for (const forged of [
      `${first.requestState}x`,
      `${first.requestState.slice(0, half)}${other}${first.requestState.slice(half + 1)}`,
      '',
      'v1.e30.x',
    ]) {
      expect((await retry(forged)).answer.error).toMatchObject({ code: -32602 })
    }
    // Made for another tool.
    const elsewhere = await retry(first.requestState, 'test_input_required_result_tampered_state')
    expect(elsewhere.answer.error).toMatchObject({ code: -32602 })
  })

  it('goes on after a restart with the same key, and not with another', async () => {
    const again = await startFullServer({ conformanceFixtures: true })
    const stranger = await startFullServer({
      conformanceFixtures: true,
      stateKey: new Uint8Array(32).fill(8),
    })
    onTestFinished(async () => {
      await again.close()
      await stranger.close()
    })
    const { requestState } = (await callFixture(NAME, {}, forms)).answer.result
    const params = { name: NAME, arguments: {}, inputResponses: yes, requestState }
    const retry = (server: TestServer) =>
      askStateless(server, 'tools/call', params, { capabilities: forms })
    expect((await retry(again)).answer.result).toMatchObject({ resultType: 'complete' })
    expect((await retry(stranger)).answer.error).toMatchObject({ code: -32602 })
  })

  it('asks the user of a real client before much is forgotten', async () => {
    const server = await startFullServer(
      {},
      { agents: () => parseAgentTokens(undefined, `anna:${TOKEN}`) },
    )
    const said: boolean[] = [false, true]
    const client = new Client(
      { name: 'test', version: '0' },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: { pin: '2026-07-28' } },
      },
    )
    const questions: string[] = []
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params.message)
      return { action: 'accept', content: { forget: said.shift() ?? false } }
    })
    onTestFinished(async () => {
      await client.close()
      await server.close()
    })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
      }),
    )
    const anna = agentCaller('anna')
    for (let index = 0; index < 101; index += 1) {
      await server.services.facts.store(anna, { entity: `old:${index}`, key: 'k', value: 'v' })
    }
    const forget = () =>
      client.callTool({
        name: 'memory_forget',
        arguments: { scope: { type: 'entity_prefix', value: 'old:' }, reason: 'done' },
      })
    expect(await forget()).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('did not agree') }],
    })
    expect(await server.services.facts.entities(anna)).toHaveLength(101)
    expect(await forget()).toMatchObject({ structuredContent: { facts_affected: 101 } })
    expect(await server.services.facts.entities(anna)).toHaveLength(0)
    expect(questions).toEqual([
      expect.stringContaining('Forget 101 facts?'),
      expect.stringContaining('Forget 101 facts?'),
    ])
  })
})

describe('subscriptions/listen', () => {
  it('tells what it was asked to tell, with the id of the subscription', async () => {
    const stream = listen(open, { toolsListChanged: true })
    const first = await stream.message(() => true)
    expect(first.method).toBe('notifications/subscriptions/acknowledged')
    open.server.notifyToolsChanged()
    const changed = await stream.message(({ method }) => method?.includes('list_changed') === true)
    expect(changed).toMatchObject({
      method: 'notifications/tools/list_changed',
      params: { _meta: { [`${META}/subscriptionId`]: expect.anything() } },
    })
    const other = listen(open, { promptsListChanged: true })
    await other.message(() => true)
    open.server.notifyToolsChanged()
    await stream.message(({ method }) => method?.includes('list_changed') === true, 2)
    expect(other.text()).not.toContain('tools/list_changed')
  })

  it('tells of a changed resource only those who see the change', async () => {
    const one = 'a'.repeat(32)
    const two = 'b'.repeat(32)
    const tenants = parseAgentTenants('two:elsewhere')
    const agents = parseAgentTokens(undefined, `one:${one},two:${two}`, tenants)
    const server = await startFullServer({}, { agents: () => agents })
    onTestFinished(() => server.close())
    // In the tenant `default`, which is the home of the first agent alone.
    const write = (value: string) =>
      server.services.facts.store(agentCaller('one'), {
        entity: '__bootstrap__::doc:guide',
        key: 'The guide',
        value,
      })
    await write('First.')
    const streams = [one, two].map((token) =>
      listen(server, { resourceSubscriptions: [URI] }, { Authorization: `Bearer ${token}` }),
    )
    for (const stream of streams) await stream.message(() => true)
    await write('Second.')
    const told = await streams[0]?.message(({ method }) => method?.includes('updated') === true)
    expect(told).toMatchObject({ params: { uri: URI } })
    expect(streams[1]?.text()).not.toContain('updated')
  })

  it('has room for 64 streams of one caller', async () => {
    const streams = Array.from({ length: 64 }, () => listen(open, { toolsListChanged: true }))
    const first = await Promise.all(streams.map((stream) => stream.message(() => true)))
    const refused = first.filter(({ error }) => error !== undefined)
    // Streams of the tests before may still be closing.
    expect(refused.length).toBeLessThanOrEqual(3)
    const { answer } = await askStateless(open, 'subscriptions/listen', {
      notifications: { toolsListChanged: true },
    })
    expect(answer.error).toMatchObject({ message: expect.stringContaining('at most 64 streams') })
  })

  it('ends its streams when the listener closes', async () => {
    const server = await startFullServer()
    const stream = listen(server, { toolsListChanged: true })
    await stream.message(() => true)
    await server.close()
    await stream.ended
  })
})

/** An open `subscriptions/listen` stream. */
function listen(server: TestServer, notifications: object, headers: Record<string, string> = {}) {
  let text = ''
  const request = httpRequest({
    host: '127.0.0.1',
    port: server.port,
    path: '/mcp',
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'subscriptions/listen',
      ...headers,
    },
  })
  request.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => {
    request.on('response', (response) => {
      response.on('error', () => resolve())
      response.on('end', () => resolve())
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
    })
  })
  const params = {
    notifications,
    _meta: { [`${META}/protocolVersion`]: '2026-07-28', [`${META}/clientCapabilities`]: {} },
  }
  request.end(JSON.stringify({ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params }))
  onTestFinished(() => void request.destroy())
  const messages = (): Message[] =>
    text.startsWith('{')
      ? [JSON.parse(text)]
      : readEvents(text.slice(0, text.lastIndexOf('\n\n') + 2)).map(({ data }) => JSON.parse(data))
  return {
    ended,
    text: () => text,
    /** The first message of a kind, or the one of a later number. */
    async message(wanted: (message: Message) => boolean, number = 1): Promise<Message> {
      for (;;) {
        const found = messages().filter(wanted)[number - 1]
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  }
}
