import { ANONYMOUS } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from './gates/agent-tokens.js'
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

describe('gates', () => {
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

  it('serves anonymous callers while no token is registered (MCP-11.1-agent-tokens-unset)', async () => {
    expect((await open.send({ body: body('tools/list') })).status).toBe(200)
    const wrong = await open.send({ body: body('tools/list'), headers: bearer('unknown') })
    expect(wrong.status).toBe(200)
  })

  it('answers 500 when a gate throws, and goes on', async () => {
    let isBroken = false
    const server = await startTestServer({
      agents: () => {
        if (isBroken) throw new Error('the list of agents cannot be read')
        return agents
      },
    })
    onTestFinished(() => server.close())
    const ask = () => server.send({ body: body('tools/list'), headers: bearer(ONE) })
    isBroken = true
    const reply = await ask()
    expect([reply.status, reply.json]).toEqual([
      500,
      { error: 'internal', hint: 'the log says why' },
    ])
    expect(server.logged).toMatchObject([{ level: 'warn', message: 'an MCP request failed' }])
    isBroken = false
    expect((await ask()).status).toBe(200)
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
          fix: expect.stringContaining('corecruxctl start --agent <client>'),
        })
      }
    }
    const served = await guarded.send({ headers: bearer(ONE), body: body('tools/list') })
    expect(served.status).toBe(200)
  })

  it.each([
    ['store_fact', { entity: 'e', key: 'k', value: 'v', private: true }, -32602],
    ['memory_acknowledge_use', { turn_id: 't' }, -32602],
    ['memory_edit', { fact_id: 'f', value: 'v' }, -32602],
    ['memory_pin', { fact_id: 'f' }, -32602],
    ['memory_forget', { scope: { fact_ids: ['f'] }, reason: 'r' }, -32602],
    ['memory_set_horizon', { fact_id: 'f', horizon_class: 'stable' }, -32030],
  ])('says how an agent gets a name when %s needs one', async (name, args, code) => {
    const { error } = await open.rpc('tools/call', { name, arguments: args })
    expect(error).toMatchObject({
      code,
      data: {
        requires_agent_identity: true,
        fix: expect.stringContaining('corecruxctl start --agent <client>'),
      },
    })
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

  it('lets a client choose a narrower surface by the address, and says which there are', async () => {
    for (const query of ['?surface=minimal', '?surface=dynamic&x=1', '?x=1']) {
      const { json } = await open.send({ path: `/mcp${query}`, body: body('tools/list') })
      const listed = JSON.stringify(json).length
      const all = JSON.stringify(await open.rpc('tools/list')).length
      if (query.includes('surface')) expect(listed).toBeLessThan(all)
      else expect(listed).toBe(all)
    }
    for (const method of ['GET', 'POST']) {
      const reply = await open.send({
        method,
        path: '/mcp?surface=everything',
        ...(method === 'POST' ? { body: body('tools/list') } : {}),
      })
      expect(reply).toMatchObject({
        status: 400,
        json: { error: 'invalid_surface', hint: expect.stringContaining('minimal, dynamic') },
      })
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
