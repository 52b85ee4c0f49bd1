import { request as httpRequest } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { SYSTEM } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from '../gates/agent-tokens.js'
import { ask, askNegotiated, readEvents, startFullServer } from '../testing/full-client.js'
import type { TestServer } from '../testing/test-server.js'
import { tools } from '../tools/registry.js'

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

const initialize = (protocolVersion: unknown, capabilities: object = {}) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo: { name: 'test', version: '0' } },
  })

async function connect(server: TestServer, capabilities: object): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' }, { capabilities })
  const transport = new StreamableHTTPClientTransport(new URL(server.url))
  onTestFinished(() => client.close())
  // The class is the interface it says it implements, but for optional members that may be undefined.
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

describe('initialize', () => {
  it.each(['2025-03-26', '2025-06-18', '2025-11-25'])('agrees on %s', async (version) => {
    const { answer } = await ask(open, initialize(version), {})
    expect(answer.result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: 'crux', version: '1.2.3' },
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
      instructions: expect.any(String),
      _welcome: expect.any(Object),
    })
  })

  it('offers its newest to whoever asks for an unknown one, whatever the header', async () => {
    for (const [version, header] of [
      ['1999-01-01', undefined],
      ['2027-01-01', '2027-01-01'],
      ['2026-07-28', undefined],
      ['x', '2025-06-18'],
    ] as const) {
      const headers = header === undefined ? {} : { 'MCP-Protocol-Version': header }
      const { status, answer } = await ask(open, initialize(version), headers)
      expect([status, answer.result.protocolVersion]).toEqual([200, '2025-11-25'])
    }
  })

  it('gives the default handshake to whoever asks for that revision, or for none', async () => {
    const plain = await startFullServer()
    onTestFinished(() => plain.close())
    for (const version of ['2024-11-05', undefined, 7]) {
      const { answer, headers } = await ask(plain, initialize(version), {})
      expect(answer.result.protocolVersion).toBe('2024-11-05')
      expect(answer.result.capabilities).toEqual({ tools: { listChanged: true } })
      expect(headers['mcp-session-id']).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  it('puts into the session id what the client can be asked, and keeps one that is given', async () => {
    const able = { elicitation: {}, sampling: {} }
    const minted = await ask(open, initialize('2025-11-25', able), {})
    expect(minted.headers['mcp-session-id']).toMatch(/^[0-9a-f]{32}\.es$/)
    const given = await ask(open, initialize('2025-11-25', able), { 'Mcp-Session-Id': 'mine' })
    expect(given.headers['mcp-session-id']).toBe('mine')
  })
})

describe('methods of negotiated revisions', () => {
  it('answer without a handshake before: nothing hangs on a session', async () => {
    const { answer } = await askNegotiated(open, 'tools/list')
    const names = answer.result.tools.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(tools.map(({ name }) => name)))
    expect((await askNegotiated(open, 'ping')).answer.result).toEqual({})
  })

  it('lists tools with hints and the form of their answers', async () => {
    const plain = await startFullServer({ outputSchemas: false })
    onTestFinished(() => plain.close())
    const listOf = async (server: TestServer) =>
      (await askNegotiated(server, 'tools/list')).answer.result.tools as {
        name: string
        annotations: object
        outputSchema?: object
        _meta: object
      }[]
    const find = async (server: TestServer, name: string) =>
      (await listOf(server)).find((tool) => tool.name === name)
    expect(await find(open, 'query_facts')).toMatchObject({
      annotations: { readOnlyHint: true, openWorldHint: false },
      outputSchema: { type: 'object', properties: { rows: {}, message: { type: 'string' } } },
      _meta: { crux: {} },
    })
    expect(await find(open, 'delete_fact')).toMatchObject({
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    })
    expect((await listOf(plain)).some((tool) => 'outputSchema' in tool)).toBe(false)
  })

  it('keeps answers to the form that is listed, sentences included', async () => {
    const client = await connect(open, {})
    await client.listTools()
    const none = await client.callTool({ name: 'query_facts', arguments: { entity: 'nobody' } })
    expect(none.structuredContent).toMatchObject({ rows: [] })
    await client.callTool({ name: 'store_fact', arguments: { entity: 'e', key: 'k', value: 'v' } })
    const legacy = await client.callTool({
      name: 'query_facts',
      arguments: { entity: 'e', contract: 'legacy' },
    })
    expect(legacy.structuredContent).toMatchObject({ rows: [{ value: 'v' }] })
    const empty = await client.callTool({
      name: 'query',
      arguments: { tenant_id: 't', query: 'x' },
    })
    expect(empty.structuredContent).toBeDefined()
  })

  it('refuses what the default profile refuses, with its words', async () => {
    const { answer, status } = await askNegotiated(open, 'tools/call', { name: 'nope' })
    expect([status, answer.error]).toEqual([200, { code: -32601, message: 'unknown tool: nope' }])
    const wrong = await askNegotiated(open, 'tools/call', { name: 'store_fact', arguments: {} })
    expect(wrong.answer.error).toMatchObject({
      code: -32602,
      message: 'missing required param: entity',
    })
    expect((await askNegotiated(open, 'tasks/list')).answer.error).toMatchObject({ code: -32601 })
  })

  it('reads resources, listed and by template, and names the one that does not exist', async () => {
    const uri = 'crux://bootstrap/doc/guide'
    const listed = await askNegotiated(open, 'resources/list')
    expect(listed.answer.result.resources).toContainEqual({
      uri,
      name: 'doc/guide',
      title: 'The guide',
      description: 'doc: The guide',
      mimeType: 'text/markdown',
    })
    const templates = await askNegotiated(open, 'resources/templates/list')
    expect(templates.answer.result.resourceTemplates).toContainEqual(
      expect.objectContaining({ uriTemplate: 'crux://bootstrap/{topic}/{name}' }),
    )
    const read = await askNegotiated(open, 'resources/read', { uri })
    expect(read.answer.result.contents).toEqual([
      { uri, mimeType: 'text/markdown', text: expect.stringMatching(/^# The guide\n\nA guide/) },
    ])
    for (const missing of [
      'crux://bootstrap/doc/none',
      'crux://bootstrap/%',
      'file:///etc/passwd',
    ]) {
      const { answer } = await askNegotiated(open, 'resources/read', { uri: missing })
      expect(answer.error).toMatchObject({ data: { uri: missing } })
    }
  })

  it('completes arguments of prompts and templates from what is stored', async () => {
    const complete = async (ref: object, name: string, value: string, known = {}) =>
      (
        await askNegotiated(open, 'completion/complete', {
          ref,
          argument: { name, value },
          context: { arguments: known },
        })
      ).answer.result.completion
    await open.call('store_fact', { entity: 'harbour', key: 'k', value: 'v' })
    await open.call('save_session', { session_id: 'voyage', state: {} })
    const template = { type: 'ref/resource', uri: 'crux://bootstrap/{topic}/{name}' }
    const of = (name: string) => ({ type: 'ref/prompt', name })
    expect(await complete(template, 'topic', 'd')).toMatchObject({ values: ['doc'] })
    expect(await complete(template, 'name', 'gui', { topic: 'doc' })).toEqual({
      values: ['guide'],
      total: 1,
      hasMore: false,
    })
    expect(await complete(of('recall_before_work'), 'entity', 'harb')).toMatchObject({
      values: ['harbour'],
    })
    expect(await complete(of('hand_off'), 'session_id', 'voy')).toMatchObject({
      values: ['voyage'],
    })
  })

  it('gives prompts, and says which argument is missing', async () => {
    const got = await askNegotiated(open, 'prompts/get', {
      name: 'recall_before_work',
      arguments: { task: 'paint the boat', entity: 'boat' },
    })
    const { text } = got.answer.result.messages[0].content
    expect(text).toContain('Task: paint the boat')
    expect(text).toContain('"boat"')
    const missing = await askNegotiated(open, 'prompts/get', { name: 'hand_off' })
    expect(missing.answer.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('to'),
    })
  })

  it('names in its prompts only tools that exist', async () => {
    const known = new Set(tools.map(({ name }) => name))
    const { answer } = await askNegotiated(open, 'prompts/list')
    for (const { name } of answer.result.prompts) {
      if (name.startsWith('test_')) continue
      const args = { task: 't', entity: 'e', to: 'x', session_id: 's' }
      const got = await askNegotiated(open, 'prompts/get', { name, arguments: args })
      const words = got.answer.result.messages[0].content.text.match(/\b[a-z]+_[a-z_]+\b/g) ?? []
      const parameters = ['token_budget', 'session_id']
      expect(
        words.filter((word: string) => !known.has(word) && !parameters.includes(word)),
      ).toEqual([])
    }
  })

  it('pages long lists, each entry once, and refuses cursors of another list', async () => {
    const server = await startFullServer({ pageSize: 10 })
    onTestFinished(() => server.close())
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { answer } = await askNegotiated(server, 'tools/list', cursor ? { cursor } : {})
      names.push(...answer.result.tools.map(({ name }: { name: string }) => name))
      expect(answer.result.tools.length).toBeLessThanOrEqual(10)
      cursor = answer.result.nextCursor
      const other = await askNegotiated(server, 'resources/list', cursor ? { cursor } : {})
      if (cursor) expect(other.answer.error).toMatchObject({ code: -32602 })
    } while (cursor !== undefined)
    expect(names).toEqual(tools.map(({ name }) => name))
  })

  it('answers 400 to what is no message, and 202 to notifications and stray answers', async () => {
    const headers = { 'MCP-Protocol-Version': '2025-06-18' }
    for (const body of ['[]', '{"jsonrpc":"2.0","id":{},"method":"ping"}', '{"id":1}', '7']) {
      const { status, answer } = await ask(open, body, headers)
      expect([status, answer.error?.code]).toEqual([400, -32600])
    }
    for (const body of [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}',
      `{"jsonrpc":"2.0","id":"${'0'.repeat(32)}:0","result":{}}`,
    ]) {
      expect((await ask(open, body, headers)).status).toBe(202)
    }
  })

  it('answers -32602 to parameters of the wrong form, and says which', async () => {
    const wrong = [
      ['tools/call', { name: 7 }, /name/],
      ['tools/list', { cursor: 7 }, /cursor: .*expected string/],
      ['resources/read', {}, /uri: .*expected string/],
      ['resources/subscribe', { uri: [] }, /uri: .*expected string/],
      ['prompts/get', { name: 'hand_off', arguments: { to: 1 } }, /arguments\.to: .*string/],
      ['completion/complete', { ref: {}, argument: { name: 'a', value: '' } }, /ref\.type/],
      ['logging/setLevel', { level: 'loud' }, /level: .*"debug"/],
    ] as const
    for (const [method, params, message] of wrong) {
      const { status, answer } = await askNegotiated(open, method, params)
      expect([method, status, answer.error.code]).toEqual([method, 200, -32602])
      expect(answer.error.message).toMatch(message)
    }
  })

  it('answers 400 with the revisions it speaks to a header with another', async () => {
    const { status, answer } = await askNegotiated(open, 'ping', {}, { version: '2099-01-01' })
    expect(status).toBe(400)
    expect(answer).toMatchObject({
      id: 1,
      error: {
        data: {
          requested: '2099-01-01',
          supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
        },
      },
    })
    const headers = { Accept: 'text/event-stream', 'MCP-Protocol-Version': '2099-01-01' }
    const stream = await open.send({ method: 'GET', headers })
    expect([stream.status, stream.json?.error?.code]).toEqual([400, -32022])
  })
})

describe('streams of negotiated revisions', () => {
  it('asks the client on the stream of its own request, and takes the answer from another', async () => {
    const client = await connect(open, { elicitation: {}, sampling: {} })
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: 'accept',
      content: { username: 'anna', email: 'a@example.org' },
    }))
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'forty-two' },
    }))
    const asked = await client.callTool({ name: 'test_elicitation', arguments: { message: 'm' } })
    expect(JSON.stringify(asked.content)).toContain('anna')
    const sampled = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'p' } })
    expect(JSON.stringify(sampled.content)).toContain('forty-two')
  })

  it('does not ask a client that never said it can be asked', async () => {
    const { answer } = await askNegotiated(open, 'tools/call', {
      name: 'test_elicitation',
      arguments: { message: 'm' },
    })
    expect(answer.result ?? answer.error).toMatchObject(
      answer.result === undefined ? { code: expect.any(Number) } : { isError: true },
    )
  })

  it("does not take another caller's answer to a question", async () => {
    const one = 'a'.repeat(32)
    const two = 'b'.repeat(32)
    const server = await startFullServer(
      { conformanceFixtures: true },
      { agents: () => parseAgentTokens(undefined, `one:${one},two:${two}`) },
    )
    onTestFinished(() => server.close())
    const asked = openCall(server, 'test_elicitation', { message: 'm' }, one)
    const { id } = JSON.parse((await asked.event(({ data }) => data.includes('elicit'))).data)
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'decline' } })
    const post = (token: string) =>
      ask(server, answer, {
        'MCP-Protocol-Version': '2025-11-25',
        Authorization: `Bearer ${token}`,
      })
    await post(two)
    expect(asked.text()).not.toContain('action=')
    await post(one)
    expect((await asked.event(({ data }) => data.includes('"result"'))).data).toContain(
      'action=decline',
    )
  })

  it('goes on after a lost connection from the last event, for its caller only', async () => {
    const call = openCall(open, 'test_tool_with_progress', {}, undefined, { progressToken: 'p' })
    const first = await call.event(({ data }) => data.includes('notifications/progress'))
    call.cut()
    const resume = (lastEventId: string) =>
      open.send({
        method: 'GET',
        headers: {
          Accept: 'text/event-stream',
          'MCP-Protocol-Version': '2025-11-25',
          'Last-Event-ID': lastEventId,
        },
      })
    const rest = readEvents((await resume(first.id ?? '')).text)
    expect(rest.map(({ data }) => JSON.parse(data))).toEqual([
      expect.objectContaining({ params: expect.objectContaining({ progress: 50 }) }),
      expect.objectContaining({ params: expect.objectContaining({ progress: 100 }) }),
      expect.objectContaining({ id: 1, result: expect.anything() }),
    ])
    // And once more, after the end.
    expect(readEvents((await resume(first.id ?? '')).text)).toEqual(rest)
  })

  it('tells the log to who asked for it, from the level on', async () => {
    const session = { 'Mcp-Session-Id': 'log-session' }
    const call = () => askNegotiated(open, 'tools/call', LOGGING, { headers: session })
    const LOGGING = { name: 'test_tool_with_logging', arguments: {} }
    expect((await call()).messages).toHaveLength(1)
    await askNegotiated(open, 'logging/setLevel', { level: 'info' }, { headers: session })
    expect((await call()).messages.map(({ method }) => method)).toEqual([
      'notifications/message',
      'notifications/message',
      'notifications/message',
      undefined,
    ])
    await askNegotiated(open, 'logging/setLevel', { level: 'error' }, { headers: session })
    expect((await call()).messages).toHaveLength(1)
    const other = await askNegotiated(open, 'tools/call', LOGGING)
    expect(other.messages).toHaveLength(1)
  })

  it('cancels a call that its client waits for no more', async () => {
    const server = await startFullServer()
    onTestFinished(() => server.close())
    let signal: AbortSignal | undefined
    const { documents } = server.services
    documents.search = (_caller, _query, given) => {
      signal = given?.signal
      return new Promise(() => undefined)
    }
    const headers = { 'Mcp-Session-Id': 'tells-the-log' }
    await askNegotiated(server, 'logging/setLevel', { level: 'debug' }, { headers })
    const call = askNegotiated(
      server,
      'tools/call',
      { name: 'query', arguments: { tenant_id: 't', query: 'x' } },
      { id: 'long', headers },
    )
    while (signal === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    const cancel = { requestId: 'long', reason: 'changed my mind' }
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: cancel }
    await ask(server, JSON.stringify(body), { 'MCP-Protocol-Version': '2025-11-25', ...headers })
    expect((await call).status).toBe(202)
    expect(signal.aborted).toBe(true)
    // Neither does it count as a fault of ours that nobody hears how the call ended.
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(server.logged.filter(({ level }) => level === 'warn')).toEqual([])
  })

  it('tells a session of changes to resources that it subscribed to', async () => {
    const server = await startFullServer()
    onTestFinished(() => server.close())
    await storeGuide(server, 'First.')
    const client = await connect(server, {})
    const uri = 'crux://bootstrap/doc/guide'
    const told = new Promise((resolve) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
        resolve(params.uri),
      )
    })
    await client.subscribeResource({ uri })
    let version = 1
    // The client opens its stream on its own, some time after the handshake.
    const change = setInterval(() => {
      version += 1
      void storeGuide(server, `Version ${version}.`)
    }, 50)
    expect(await told).toBe(uri)
    clearInterval(change)
    await client.unsubscribeResource({ uri })
  })
})

/** A tool call whose stream is looked at while it is open. */
function openCall(
  server: TestServer,
  name: string,
  args: object,
  token?: string,
  meta: object = {},
) {
  let text = ''
  const request = httpRequest({
    host: '127.0.0.1',
    port: server.port,
    path: '/mcp',
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
      'Mcp-Session-Id': `${'0'.repeat(32)}.e`,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
  })
  request.on('error', () => undefined)
  request.on('response', (response) => {
    response.on('error', () => undefined)
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  })
  const params = { name, arguments: args, _meta: meta }
  request.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
  return {
    text: () => text,
    cut: () => request.destroy(),
    async event(wanted: (event: ReturnType<typeof readEvents>[number]) => boolean) {
      for (;;) {
        const found = readEvents(text.slice(0, text.lastIndexOf('\n\n') + 2)).find(wanted)
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  }
}
