import { ANONYMOUS } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from './gates/agent-tokens.js'
import { startMcpServer } from './server.js'
import { startTestServer, type TestServer } from './testing/test-server.js'

const ONE = '1'.repeat(32)
const TWO = '2'.repeat(32)
const agents = parseAgentTokens(undefined, `one:${ONE},two:${TWO}`)

let open: TestServer
let guarded: TestServer
beforeAll(async () => {
  open = await startTestServer({ maxBodyBytes: 64 * 1024 })
  guarded = await startTestServer({ agents, maxBodyBytes: 64 * 1024 })
})
afterAll(async () => {
  await open.close()
  await guarded.close()
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

describe('gates', () => {
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

  it('serves anonymous callers while no token is registered (MCP-11.1-agent-tokens-unset)', async () => {
    expect((await open.send({ body: body('tools/list') })).status).toBe(200)
    const wrong = await open.send({ body: body('tools/list'), headers: bearer('unknown') })
    expect(wrong.status).toBe(200)
  })

  it('answers 401 without a registered token (MCP-11.5-gate-auth, MCP-11.8-auth-401)', async () => {
    for (const headers of [{}, bearer('wrong'), { Authorization: ONE }, bearer(`${ONE}x`)]) {
      for (const method of ['POST', 'GET']) {
        const reply = await guarded.send({
          method,
          headers,
          ...(method === 'POST' ? { body: body('tools/list') } : {}),
        })
        expect(reply.status).toBe(401)
        expect(reply.headers['www-authenticate']).toBeUndefined()
        expect(reply.json).toEqual({
          error: 'unauthorized',
          hint: 'set Authorization: Bearer <CRUX_AGENT_TOKEN>',
        })
      }
    }
    const served = await guarded.send({ headers: bearer(ONE), body: body('tools/list') })
    expect(served.status).toBe(200)
  })

  it('keeps agents apart by their token', async () => {
    const secret = { entity: 'diary', key: 'k', value: 'mine', private: true }
    await guarded.call('store_fact', secret, bearer(ONE))
    const mine = await guarded.call('query_facts', { entity: 'diary' }, bearer(ONE))
    expect(mine.structured.rows).toHaveLength(1)
    const theirs = await guarded.call('query_facts', { entity: 'diary' }, bearer(TWO))
    expect(theirs.text).toBe('no facts found')
  })

  it('takes session ids of 1 to 128 characters of a small set (MCP-11.1-session-header, MCP-11.5-gate-session)', async () => {
    const withId = (id: string | string[]) =>
      open.send({ headers: { 'Mcp-Session-Id': id }, body: body('tools/list') })
    for (const id of ['a', 'x'.repeat(128), 'A-b_c.d:e', '  trimmed  ']) {
      const reply = await withId(id)
      expect([reply.status, reply.headers['mcp-session-id']]).toEqual([200, id.trim()])
    }
    for (const id of ['x'.repeat(129), 'a b', 'a/b', '', 'é', ['a', 'b']]) {
      const reply = await withId(id)
      expect(reply.status).toBe(400)
      expect(reply.json).toEqual({
        error: 'invalid_mcp_session_id',
        hint: 'Mcp-Session-Id must be 1..=128 ASCII chars from [A-Za-z0-9._:-]',
      })
    }
  })

  it('mints a session id for a handshake without one, and for nothing else (MCP-11.1-session-mint)', async () => {
    const first = await open.send({ body: body('initialize') })
    const second = await open.send({ body: body('initialize') })
    expect(first.headers['mcp-session-id']).toMatch(/^[0-9a-f]{32}$/)
    expect(second.headers['mcp-session-id']).not.toBe(first.headers['mcp-session-id'])
    const list = await open.send({ body: body('tools/list') })
    expect(list.headers['mcp-session-id']).toBeUndefined()
    const kept = { 'Mcp-Session-Id': 'kept' }
    for (const text of [body('initialize'), body('foo', {}), '{']) {
      const reply = await open.send({ headers: kept, body: text })
      expect(reply.headers['mcp-session-id']).toBe('kept')
    }
  })

  it('makes the earlier gate win over the later (MCP-11.5-gate-order)', async () => {
    // Faults in the order of the gates, each with what it alone is answered.
    const names = ['source', 'auth', 'session', 'parse', 'noId'] as const
    type Fault = { readonly headers?: Record<string, string>; readonly body?: string }
    const faults: Record<(typeof names)[number], Fault> = {
      source: { headers: { Host: 'evil.example' } },
      auth: { headers: { Authorization: 'Bearer wrong' } },
      session: { headers: { 'Mcp-Session-Id': 'not ok' } },
      parse: { body: '{' },
      noId: { body: body('tools/list', {}) },
    }
    const answers: Record<keyof typeof faults, string> = {
      source: '403 host_not_allowed',
      auth: '401 unauthorized',
      session: '400 invalid_mcp_session_id',
      parse: '200 -32700',
      noId: '202 ',
    }
    for (const [index, first] of names.entries()) {
      for (const second of names.slice(index)) {
        const { status, json, text } = await guarded.send({
          body: faults[first].body ?? faults[second].body ?? body('tools/list'),
          headers: { ...bearer(ONE), ...faults[second].headers, ...faults[first].headers },
        })
        const said = text === '' ? '' : json?.error
        const word = typeof said === 'object' ? said.code : said
        expect(`${status} ${word}`, `${first} before ${second}`).toBe(answers[first])
      }
    }
  })

  it('refuses foreign Host and Origin before anything else, and other content types', async () => {
    for (const headers of [{ Host: 'evil.example' }, { Origin: 'https://evil.example' }]) {
      for (const method of ['GET', 'POST']) {
        const broken = method === 'POST' ? { body: '{' } : {}
        expect((await guarded.send({ method, headers, ...broken })).status).toBe(403)
      }
    }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expect(await open.send({ headers: form, body: body('tools/list') })).toMatchObject({
      status: 415,
      json: { error: 'unsupported_media_type' },
    })
  })

  it('answers 413 to a body over the limit, declared or not, and goes on', async () => {
    const large = 'x'.repeat(64 * 1024 + 1)
    expect((await open.send({ body: large })).status).toBe(413)
    const chunked = await open.send({ headers: { 'Transfer-Encoding': 'chunked' }, body: large })
    expect(chunked).toMatchObject({ status: 413, json: { error: 'body_too_large' } })
    expect((await open.send({ body: body('tools/list') })).status).toBe(200)
  })

  it('lets read-only callers use what reads (MCP-11.5-gate-oauth, MCP-11.4-oauth-allowlist)', async () => {
    const server = await startTestServer({
      anonymous: { ...ANONYMOUS, kind: 'oauth', readOnly: true },
    })
    onTestFinished(() => server.close())
    const refusal = (name: string) => ({
      code: -32601,
      message: `'${name}' is not available to read-only OAuth callers (mcp:read scope)`,
    })
    const fact = { entity: 'e', key: 'k', value: 'v' }
    expect(await server.callError('store_fact', fact)).toEqual(refusal('store_fact'))
    expect(await server.callError('memory_view')).toEqual(refusal('memory_view'))
    expect((await server.rpc('prompts/list')).error).toEqual(refusal('prompts/list'))
    expect((await server.call('query_facts', { query: 'x' })).text).toBe('no facts found')
    for (const method of ['ping', 'resources/list', 'resources/read', 'resources/templates/list']) {
      const { error } = await server.rpc(method)
      expect(error?.message).toBe(`method not found: ${method}`)
    }
    // Without an id, that gate comes first.
    const noId = body('tools/call', { params: { name: 'store_fact', arguments: fact } })
    expect((await server.send({ body: noId })).status).toBe(202)
  })
})

describe('startMcpServer', () => {
  it('reports a port in use, with what to set', async () => {
    const attempt = startMcpServer({
      host: '127.0.0.1',
      port: open.port,
      services: open.services,
      version: '1.2.3',
      agents: [],
      anonymous: ANONYMOUS,
      allowedHosts: [],
      allowedOrigins: [],
      maxBodyBytes: 1000,
      isReady: () => true,
      features: { memoryPanel: true },
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
