import { ANONYMOUS } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DEFAULT_FEATURES } from './features.js'
import { startMcpServer } from './server.js'
import { startTestServer, type TestServer } from './testing/test-server.js'

let open: TestServer
beforeAll(async () => {
  open = await startTestServer({ maxBodyBytes: 64 * 1024 })
})
afterAll(async () => {
  await open.close()
})

const body = (method: string, more: object = { id: 1 }) =>
  JSON.stringify({ jsonrpc: '2.0', method, ...more })

describe('routes', () => {
  it('answers JSON-RPC 2.0 to POST /mcp, with the id of the request (MCP-11.1-route-post)', async () => {
    for (const id of [7, 'seven', 0, '', { odd: true }]) {
      const reply = await open.send({ body: body('initialize', { id }) })
      expect(reply.status).toBe(200)
      expect(reply.headers['content-type']).toBe('application/json')
      expect(reply.json).toMatchObject({ jsonrpc: '2.0', id, result: {} })
    }
  })

  it('answers who it is to a plain GET (MCP-11.1-route-get-blob)', async () => {
    const reply = await open.send({ method: 'GET', headers: { Accept: 'application/json' } })
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({
      protocolVersion: '2024-11-05',
      serverInfo: { name: 'crux', version: '1.2.3' },
    })
  })

  it('has no other path and no other method', async () => {
    for (const path of ['/', '/mcp/', '/mcpx', '/v1/facts', '/.well-known/agent-card']) {
      const reply = await open.send({ path, body: body('initialize') })
      expect([reply.status, reply.text]).toEqual([404, ''])
    }
    const reply = await open.send({ method: 'DELETE' })
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, POST'])
  })

  it('has no OAuth metadata while no resource is configured (MCP-11.1-route-oauth)', async () => {
    const path = '/.well-known/oauth-protected-resource'
    expect(await open.send({ method: 'GET', path })).toMatchObject({ status: 404, text: '' })
  })

  it('answers 503 with Retry-After until it is ready', async () => {
    let isReady = false
    const server = await startTestServer({ isReady: () => isReady })
    onTestFinished(() => server.close())
    const early = await server.send({ body: body('initialize') })
    expect([early.status, early.headers['retry-after']]).toEqual([503, '1'])
    isReady = true
    expect((await server.send({ body: body('initialize') })).status).toBe(200)
  })
})

describe('handshake', () => {
  it('speaks 2024-11-05 whatever the client asks for (MCP-11.2-protocol-version)', async () => {
    for (const params of [undefined, { protocolVersion: '2025-06-18' }]) {
      const { result } = await open.rpc('initialize', params)
      expect(result?.protocolVersion).toBe('2024-11-05')
    }
  })

  it('names itself crux, with the version of the product (MCP-11.2-server-info)', async () => {
    const { result } = await open.rpc('initialize')
    expect(result?.serverInfo).toEqual({ name: 'crux', version: '1.2.3' })
  })

  it('offers tools and nothing else (MCP-11.2-capabilities)', async () => {
    const { result } = await open.rpc('initialize')
    expect(result?.capabilities).toEqual({ tools: { listChanged: true } })
  })

  it('welcomes with a hint, first steps and documentation (MCP-11.2-welcome)', async () => {
    const { result } = await open.rpc('initialize')
    expect(result?._welcome).toEqual({
      hint: expect.any(String),
      quickstart: [
        expect.stringMatching(/^get_bootstrap\("patterns"\)/),
        expect.stringMatching(/^sync_status\(\)/),
        expect.stringMatching(/^update_status\(\)/),
        expect.stringMatching(/^store_fact\(entity, key, value\)/),
        expect.stringMatching(/^query_facts\(query\)/),
      ],
      docs: 'https://github.com/CueCrux/Crux/blob/main/docs/agent-guide.md',
    })
  })
})

describe('methods', () => {
  it('takes four methods and refuses all others (MCP-11.3-four-methods)', async () => {
    expect(await open.rpc('initialize')).toHaveProperty('result')
    expect(await open.rpc('notifications/initialized')).toHaveProperty('result')
    expect(await open.rpc('tools/list')).toHaveProperty('result.tools')
    expect(await open.rpc('tools/call', { name: 'list_entities' })).toHaveProperty('result.content')
    expect(await open.rpc('tools')).toHaveProperty('error.code', -32601)
  })

  it('answers null to notifications/initialized with an id (MCP-11.3-initialized)', async () => {
    const reply = await open.send({ body: body('notifications/initialized') })
    expect(reply.text).toBe('{"jsonrpc":"2.0","id":1,"result":null}')
  })

  it('logs and refuses an unknown method (MCP-11.3-unknown-method)', async () => {
    const { error } = await open.rpc('foo/bar')
    expect(error).toEqual({ code: -32601, message: 'method not found: foo/bar' })
    expect(open.logged).toContainEqual({
      level: 'warn',
      fields: { method: 'foo/bar' },
      message: 'method not found',
    })
  })

  it('answers 202 without a body to what has no id, and does not run it (MCP-11.3-notification-202, MCP-11.3-no-null-shape, MCP-11.5-gate-noid)', async () => {
    const fact = { entity: 'unseen', key: 'k', value: 'v' }
    const notifications = [
      body('notifications/initialized', {}),
      body('tools/list', {}),
      body('foo', {}),
      body('initialize', { id: null }),
      body('tools/call', { params: { name: 'store_fact', arguments: fact } }),
    ]
    for (const text of notifications) {
      expect(await open.send({ body: text })).toMatchObject({ status: 202, text: '' })
    }
    expect((await open.call('query_facts', { entity: 'unseen' })).text).toBe('no facts found')
  })

  it.each([
    'resources/list',
    'resources/read',
    'resources/templates/list',
    'prompts/list',
    'prompts/get',
    'completion/complete',
    'logging/setLevel',
    'roots/list',
    'ping',
  ])(
    'has no %s, and says so within a 200 (MCP-11.4-not-implemented, MCP-11.4-unsupported-message, MCP-11.4-unsupported-200, MCP-11.4-no-data)',
    async (method) => {
      const reply = await open.send({ body: body(method) })
      expect(reply.status).toBe(200)
      expect(reply.json).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32601, message: `method not found: ${method}` },
      })
    },
  )
})

describe('errors', () => {
  it('is -32700 for a body that is no request, with id null (MCP-11.5-code-parse, MCP-11.5-unparseable-200)', async () => {
    const bodies = [
      '',
      '{',
      'null',
      '"text"',
      '[]',
      `[${body('initialize')}]`,
      '{"method":"tools/list","id":1}',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":2,"id":1,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"method":5}',
      '{"jsonrpc":"2.0","id":1,"method":"\u0000"} x',
      '['.repeat(30_000),
    ]
    for (const text of bodies) {
      const reply = await open.send({ body: text })
      expect(reply.status).toBe(200)
      expect(reply.json).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32700, message: expect.stringMatching(/^invalid JSON: ./) },
      })
    }
  })

  it('does not echo secrets of a broken body', async () => {
    const secret = 'sk-abcdefghijklmnopqrstuvwxyz012345'
    for (const text of [`{"a": Bearer ${secret}}`, `Bearer ${secret}`, `{"token":"${secret}"`]) {
      const reply = await open.send({ body: text })
      expect(reply.json?.error?.code).toBe(-32700)
      expect(reply.text).not.toContain(secret)
      expect(reply.text).not.toContain('sk-')
    }
  })

  it('is -32700 for a body that is not UTF-8', async () => {
    const broken = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ])
    const reply = await open.send({ body: broken })
    expect(reply.json?.error).toEqual({
      code: -32700,
      message: 'invalid JSON: the body is not valid UTF-8',
    })
  })

  it('is -32602 for arguments that are missing or wrong (MCP-11.5-code-params)', async () => {
    const { error } = await open.rpc('tools/call', {})
    expect(error).toEqual({ code: -32602, message: 'tools/call requires a "name" parameter' })
    expect(await open.rpc('tools/call')).toMatchObject({ error: { code: -32602 } })
    expect(await open.callError('query', { query: 'x' })).toEqual({
      code: -32602,
      message: 'missing required param: tenant_id',
    })
    expect(await open.callError('query', { tenant_id: 5, query: 'x' })).toEqual({
      code: -32602,
      message: 'tenant_id: expected string, got number',
    })
    expect(await open.callError('query', [1])).toEqual({
      code: -32602,
      message: 'arguments: expected object, got array',
    })
    expect(await open.callError('store_fact', { entity: null, key: 'k', value: 'v' })).toEqual({
      code: -32602,
      message: 'missing required param: entity',
    })
    expect(await open.callError('query_facts', { top_k: 1.5 })).toEqual({
      code: -32602,
      message: 'top_k: expected integer, got number',
    })
    expect(await open.callError('query_facts', { top_k: -1 })).toEqual({
      code: -32602,
      message: 'top_k: expected an integer of 0 or more',
    })
    expect(
      await open.callError('query_expand', { tenant_id: 't', result_ids: ['0:0', 7] }),
    ).toEqual({ code: -32602, message: 'result_ids[1]: expected string, got number' })
  })

  it('is -32602 for unpaired surrogates anywhere in the arguments', async () => {
    const calls = [
      '{"name":"store_fact","arguments":{"entity":"e","key":"k","value":"\\ud800"}}',
      '{"name":"store_fact","arguments":{"entity":"e","key":"k","value":"v","x":{"\\udc00":1}}}',
      '{"name":"save_session","arguments":{"session_id":"s","state":{"a":["\\uD83D"]}}}',
    ]
    for (const params of calls) {
      const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
      const reply = await open.send({ body: text })
      expect(reply.json?.error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('surrogate'),
      })
    }
  })

  it('is -32601 for unknown methods and tools (MCP-11.5-code-method)', async () => {
    expect(await open.rpc('nope')).toMatchObject({ error: { code: -32601 } })
    expect(await open.callError('no_such_tool')).toEqual({
      code: -32601,
      message: 'unknown tool: no_such_tool',
    })
    expect(open.counted.calls).toContainEqual(['unknown', 'error'])
  })

  it('is -32603 when the journal refuses a write, without a word about why (MCP-11.5-code-internal)', async () => {
    const server = await startTestServer()
    onTestFinished(() => server.close())
    await server.factJournal.close()
    const args = { entity: 'e', key: 'k', value: 'v' }
    expect(await server.callError('store_fact', args)).toEqual({
      code: -32603,
      message: 'fact journal append failed',
    })
    expect(server.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'tool call failed on this side' }),
    )
    expect((await server.call('query_facts', { entity: 'e' })).text).toBe('no facts found')
  })

  it('is -32603 when a handler throws or hangs, and the next call works', async () => {
    const server = await startTestServer({ callTimeLimitMs: 50 })
    onTestFinished(() => server.close())
    const sessions = server.services.sessions
    sessions.list = () => new Promise(() => undefined)
    sessions.get = () => {
      throw new TypeError('cannot open /secret/path')
    }
    expect(await server.callError('list_sessions')).toEqual({
      code: -32603,
      message: 'list_sessions did not answer within 0.05 s; ask for less or try again',
    })
    expect(await server.callError('get_session', { session_id: 's' })).toEqual({
      code: -32603,
      message: 'get_session failed on the server; its log says why',
    })
    expect((await server.call('list_entities')).text).toBe('no entities found')
  })

  it('accepts unknown arguments and names them', async () => {
    const answer = await open.call('list_entities', { colour: 'red', contract: 'legacy' })
    expect(answer.crux).toEqual({ ignored_arguments: ['colour', 'contract'] })
    const facts = await open.call('query_facts', { contract: 'off', colour: 1, entity: 'x' })
    expect(facts.crux).toEqual({ ignored_arguments: ['colour'] })
  })
})

describe('startMcpServer', () => {
  it('reports a port in use, with what to set', async () => {
    const attempt = startMcpServer({
      host: '127.0.0.1',
      port: open.port,
      services: open.services,
      version: '1.2.3',
      agents: () => [],
      anonymous: ANONYMOUS,
      allowedHosts: [],
      allowedOrigins: [],
      maxBodyBytes: 1000,
      isReady: () => true,
      features: DEFAULT_FEATURES,
      log: { warn: () => undefined, info: () => undefined },
    })
    await expect(attempt).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
      data: { reason: 'EADDRINUSE', port: open.port },
      message: expect.stringContaining('CORECRUXD_MCP_PORT'),
    })
  })

  it('lets calls in flight finish when it closes, also when closed twice', async () => {
    const server = await startTestServer()
    const { sessions } = server.services
    let proceed = (): void => undefined
    let entered = (): void => undefined
    const isEntered = new Promise<void>((resolve) => {
      entered = resolve
    })
    const list = sessions.list.bind(sessions)
    sessions.list = async (caller) => {
      entered()
      await new Promise<void>((resolve) => {
        proceed = resolve
      })
      return list(caller)
    }
    const answer = server.call('list_sessions')
    await isEntered
    const closing = Promise.all([server.server.close(), server.server.close()])
    proceed()
    expect((await answer).text).toBe('no sessions')
    await closing
    await expect(server.rpc('tools/list')).rejects.toThrow()
  })
})
