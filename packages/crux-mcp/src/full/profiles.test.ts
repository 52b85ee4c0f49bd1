import { readFileSync } from 'node:fs'
import { agentCaller, SYSTEM } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  askNegotiated,
  askStateless,
  type FullReply,
  readReply,
  startFullServer,
} from '../testing/full-client.js'
import { startTestServer, type TestServer } from '../testing/test-server.js'

const TABLE = new URL('../../../../docs/mcp-profiles.md', import.meta.url)
const FORMS = `${'0'.repeat(32)}.e`

let plain: TestServer
let full: TestServer
beforeAll(async () => {
  const anna = agentCaller('anna')
  plain = await startTestServer({ anonymous: anna })
  full = await startFullServer({ pageSize: 5, conformanceFixtures: true }, { anonymous: anna })
  for (const { services } of [plain, full]) {
    await services.facts.store(SYSTEM, {
      entity: '__bootstrap__::doc:guide',
      key: 'The guide',
      value: 'A guide.',
    })
    for (let index = 0; index < 101; index += 1) {
      await services.facts.store(anna, { entity: `old:${index}`, key: 'k', value: 'v' })
    }
  }
})
afterAll(async () => {
  await plain.close()
  await full.close()
})

const initialize = (server: TestServer, version: unknown, capabilities = {}) =>
  ask(
    server,
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: version, capabilities, clientInfo: { name: 't', version: '0' } },
    }),
    {},
  )
const codes = (...replies: FullReply[]) => replies.map(({ answer }) => answer.error?.code)
const both = (method: string, params?: object, options?: Parameters<typeof askNegotiated>[3]) =>
  Promise.all([plain, full].map((server) => askNegotiated(server, method, params, options)))
const callBoth = (name: string, args: object, more: object = {}) =>
  both('tools/call', { name, arguments: args, ...more })

async function extensionNames(server: TestServer): Promise<string[]> {
  const manifest = {
    id: 'one',
    tools: [{ name: 'ext.one.a', description: 'A.', input_schema: { type: 'object' } }],
  }
  const records = {
    '__extension__::one': { manifest, manifest_hash: 'blake3:0', trust_tier: 'first_party' },
    '__extension_grant__::one::anna': { extension_id: 'one', passport_fpr: 'anna' },
  }
  for (const [entity, record] of Object.entries(records)) {
    const value = JSON.stringify(record)
    await server.services.facts.store(SYSTEM, { entity, key: 'record', value })
  }
  const names: string[] = []
  let cursor: string | undefined
  do {
    const { answer } = await askNegotiated(server, 'tools/list', cursor ? { cursor } : {})
    for (const { name } of answer.result.tools) names.push(name)
    cursor = answer.result.nextCursor
  } while (cursor !== undefined)
  return names.filter((name) => name.startsWith('ext'))
}

/** For each row of the table: what holds it, on a listener of either profile. */
const ROWS: Readonly<Record<string, () => Promise<void>>> = {
  '`initialize` for 2024-11-05 or none': async () => {
    for (const version of ['2024-11-05', undefined]) {
      const [one, two] = await Promise.all([initialize(plain, version), initialize(full, version)])
      expect(two?.answer).toEqual(one?.answer)
    }
  },
  '`initialize` for 2025-03-26 to 2025-11-25': async () => {
    for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      const one = (await initialize(plain, version)).answer.result
      expect([one.protocolVersion, Object.keys(one.capabilities)]).toEqual([
        '2024-11-05',
        ['tools'],
      ])
      const two = (await initialize(full, version)).answer.result
      expect(two).toMatchObject({ protocolVersion: version, instructions: expect.any(String) })
      expect(Object.keys(two.capabilities).sort()).toEqual(
        ['completions', 'logging', 'prompts', 'resources', 'tools'].sort(),
      )
    }
  },
  '`initialize` for any other revision': async () => {
    for (const version of ['2099-01-01', '2026-07-28', 'x']) {
      const [one, two] = [await initialize(plain, version), await initialize(full, version)]
      expect(one.answer.result.protocolVersion).toBe('2024-11-05')
      expect(two.answer.result.protocolVersion).toBe('2025-11-25')
    }
  },
  'session id of `initialize`': async () => {
    const able = { elicitation: {}, sampling: {}, roots: {} }
    const idOf = async (server: TestServer, capabilities: object) =>
      (await initialize(server, '2025-11-25', capabilities)).headers['mcp-session-id']
    expect(await idOf(plain, able)).toMatch(/^[0-9a-f]{32}$/)
    expect(await idOf(full, able)).toMatch(/^[0-9a-f]{32}\.esr$/)
    expect(await idOf(full, {})).toMatch(/^[0-9a-f]{32}$/)
  },
  'header with a revision that does not exist': async () => {
    const [one, two] = await both('tools/list', {}, { version: '2099-01-01' })
    expect([one?.status, one?.answer.error]).toEqual([200, undefined])
    expect([two?.status, two?.answer.error.data.supported.length]).toEqual([400, 5])
  },
  '`ping`': async () => {
    const [one, two] = await both('ping')
    expect([one?.answer.error.code, two?.answer.result]).toEqual([-32601, {}])
    const three = await askStateless(full, 'ping')
    expect([three.status, three.answer.error.code]).toEqual([404, -32601])
  },
  '`resources/list`, `resources/read`, `resources/templates/list`': async () => {
    const uri = 'crux://bootstrap/doc/guide'
    const [one, two] = await both('resources/read', { uri })
    expect(one?.answer.error.code).toBe(-32601)
    expect(two?.answer.result.contents[0].text).toContain('A guide.')
    for (const method of ['resources/list', 'resources/templates/list']) {
      expect(JSON.stringify((await askNegotiated(full, method)).answer)).toContain(
        'crux://bootstrap/',
      )
      expect(codes(await askNegotiated(plain, method))).toEqual([-32601])
    }
  },
  '`resources/subscribe`': async () => {
    const [one, two] = await both('resources/subscribe', { uri: 'crux://bootstrap/doc/guide' })
    expect([one?.answer.error.code, two?.answer.result]).toEqual([-32601, {}])
  },
  '`prompts/list`, `prompts/get`': async () => {
    const [one, two] = await both('prompts/get', { name: 'hand_off', arguments: { to: 'bert' } })
    expect(one?.answer.error.code).toBe(-32601)
    expect(two?.answer.result.messages).toHaveLength(1)
    const names: string[] = []
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const { answer } = await askNegotiated(full, 'prompts/list', cursor ? { cursor } : {})
      names.push(...answer.result.prompts.map(({ name }: { name: string }) => name))
      cursor = answer.result.nextCursor
    }
    expect(names.filter((name) => !name.startsWith('test_'))).toEqual([
      'recall_before_work',
      'end_of_session_summary',
      'hand_off',
    ])
  },
  '`completion/complete`': async () => {
    const [one, two] = await both('completion/complete', {
      ref: { type: 'ref/prompt', name: 'recall_before_work' },
      argument: { name: 'entity', value: 'old:7' },
    })
    expect(one?.answer.error.code).toBe(-32601)
    expect(two?.answer.result.completion.values).toContain('old:77')
  },
  '`logging/setLevel`': async () => {
    const headers = { 'Mcp-Session-Id': 'walk' }
    const before = await askNegotiated(full, 'tools/call', { name: 'list_entities' }, { headers })
    expect(before.messages).toHaveLength(1)
    const [one, two] = await both('logging/setLevel', { level: 'debug' }, { headers })
    expect([one?.answer.error.code, two?.answer.result]).toEqual([-32601, {}])
    const after = await askNegotiated(full, 'tools/call', { name: 'list_entities' }, { headers })
    expect(after.messages[0]).toMatchObject({ params: { level: 'debug', logger: 'crux' } })
  },
  '`annotations` of tools': async () => {
    const [one, two] = await Promise.all([allTools(plain), allTools(full)])
    expect(one.some((tool) => 'annotations' in tool)).toBe(false)
    const real = two.filter(({ name }) => one.some((tool) => tool.name === name))
    expect(real.map(({ name }) => name)).toEqual(one.map(({ name }) => name))
    for (const { annotations } of real) expect(annotations).toMatchObject({ openWorldHint: false })
  },
  '`outputSchema` of tools': async () => {
    const off = await startFullServer({ outputSchemas: false })
    const [one, two, three] = await Promise.all([plain, full, off].map(allTools))
    await off.close()
    const count = (list: readonly object[] = []) =>
      list.filter((tool) => 'outputSchema' in tool).length
    expect([count(one), count(three)]).toEqual([0, 0])
    expect(count(two)).toBeGreaterThan(20)
  },
  'an answer that is one sentence': async () => {
    const args = { tenant_id: 'never-written', query: 'x' }
    const [one, two] = await callBoth('query', args)
    expect(one?.answer.result).not.toHaveProperty('structuredContent')
    expect(two?.answer.result.structuredContent.message).toBe(one?.answer.result.content[0].text)
  },
  'lists with `cursor`': async () => {
    const [one, two] = await both('tools/list')
    expect(one?.answer.result).not.toHaveProperty('nextCursor')
    expect(two?.answer.result).toMatchObject({ nextCursor: expect.any(String) })
    const again = await askNegotiated(full, 'tools/list', { cursor: two?.answer.result.nextCursor })
    expect(again.answer.result.tools).toHaveLength(5)
  },
  'tools of extensions': async () => {
    const own = await Promise.all([plain, full].map(extensionNames))
    expect(own).toEqual([['ext.one.a'], ['ext_one_a']])
    // Without the header, a client of the full profile gets the default list.
    const { result } = await full.rpc('tools/list')
    expect(JSON.stringify(result)).toContain('"ext.one.a"')
  },
  '`_meta.progressToken`': async () => {
    // What tools that count their steps tell is held by progress.test.ts.
    const slow = async (server: TestServer) => {
      const { sessions } = server.services
      const list = sessions.list.bind(sessions)
      sessions.list = async (caller) => {
        await new Promise((resolve) => setTimeout(resolve, 1500))
        return list(caller)
      }
      const params = { name: 'list_sessions', arguments: {}, _meta: { progressToken: 'p' } }
      const reply = await askNegotiated(server, 'tools/call', params)
      sessions.list = list
      return reply.messages
    }
    expect((await slow(plain)).length).toBe(1)
    expect((await slow(full))[0]).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1 },
    })
  },
  '`notifications/cancelled`': async () => {
    // That the call ends is held by negotiated.test.ts.
    const body = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
    for (const server of [plain, full]) {
      expect((await ask(server, body, { 'MCP-Protocol-Version': '2025-11-25' })).status).toBe(202)
    }
  },
  'an answer of the client': async () => {
    // That the call goes on is held by negotiated.test.ts.
    const body = '{"jsonrpc":"2.0","id":"q","result":{}}'
    const headers = { 'MCP-Protocol-Version': '2025-11-25' }
    expect(codes(await ask(plain, body, headers))).toEqual([-32700])
    expect((await ask(full, body, headers)).status).toBe(202)
  },
  '`memory_forget` of much without `confirm`': async () => {
    const args = { scope: { type: 'entity_prefix', value: 'old:' }, reason: 'r' }
    const params = { name: 'memory_forget', arguments: args }
    const refused = await askNegotiated(plain, 'tools/call', params, {
      headers: { 'Mcp-Session-Id': FORMS },
    })
    expect(codes(refused, await askNegotiated(full, 'tools/call', params))).toEqual([
      -32602, -32602,
    ])
    const asked = await askStateless(full, 'tools/call', params, {
      capabilities: { elicitation: {} },
    })
    expect(asked.answer.result.inputRequests.forget.params.message).toContain('101 facts')
  },
  '`Last-Event-ID` on GET': async () => {
    const params = { name: 'test_tool_with_progress', _meta: { progressToken: 'p' } }
    const { events } = await askNegotiated(full, 'tools/call', params)
    const rest = readReply(
      await full.send({
        method: 'GET',
        headers: {
          Accept: 'text/event-stream',
          'MCP-Protocol-Version': '2025-11-25',
          'Last-Event-ID': events.at(-2)?.id ?? '',
        },
      }),
    )
    expect(rest.events).toEqual(events.slice(-1))
  },
  'a body that is no message': async () => {
    const [one, two] = await Promise.all(
      [plain, full].map((server) => ask(server, '{}', { 'MCP-Protocol-Version': '2025-11-25' })),
    )
    expect([one?.status, one?.answer.error.code]).toEqual([200, -32700])
    expect([two?.status, two?.answer.error.code]).toEqual([400, -32600])
  },
  'an array of messages': async () => {
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    const of = async (server: TestServer, version: string, body = `[${list}]`) => {
      const reply = await ask(server, body, { 'MCP-Protocol-Version': version })
      const { result, error } = [reply.answer].flat()[0] ?? {}
      return [reply.status, result === undefined ? error.code : 'a result']
    }
    expect(await of(plain, '2025-03-26')).toEqual([200, -32700])
    expect(await of(full, '2025-03-26')).toEqual([200, 'a result'])
    const many = `[${Array(33).fill(list).join()}]`
    expect(await of(full, '2025-03-26', many)).toEqual([400, -32600])
    expect(await of(full, '2024-11-05')).toEqual([200, -32700])
    for (const version of ['2025-06-18', '2025-11-25', '2026-07-28']) {
      expect(await of(full, version)).toEqual([400, -32600])
    }
  },
  '`server/discover`': async () => {
    const [one, two] = await Promise.all(
      [plain, full].map((server) => askStateless(server, 'server/discover')),
    )
    expect(one?.answer.error.code).toBe(-32601)
    expect(two?.answer.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      cacheScope: 'public',
    })
  },
  'header 2026-07-28': async () => {
    const [one, two] = await Promise.all(
      [plain, full].map((server) => askStateless(server, 'tools/list')),
    )
    expect(one?.answer.result).not.toHaveProperty('resultType')
    expect(two?.answer.result).toMatchObject({
      resultType: 'complete',
      ttlMs: expect.any(Number),
      cacheScope: 'private',
    })
    const mismatch = await askStateless(full, 'tools/list', {}, { headers: { 'Mcp-Method': 'x' } })
    expect([mismatch.status, ...codes(mismatch)]).toEqual([400, -32020])
    const bare = await ask(full, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/list',
    })
    expect([bare.status, ...codes(bare)]).toEqual([400, -32602])
  },
  'a question to the user, stateless': async () => {
    const { answer } = await askStateless(
      full,
      'tools/call',
      { name: 'test_input_required_result_request_state', arguments: {} },
      { capabilities: { elicitation: {} } },
    )
    expect(answer.result).toMatchObject({
      resultType: 'input_required',
      requestState: expect.any(String),
    })
  },
  '`subscriptions/listen`': async () => {
    // What it tells is held by stateless.test.ts.
    const one = await askStateless(plain, 'subscriptions/listen', { notifications: {} })
    expect(codes(one)).toEqual([-32601])
    const two = await askStateless(full, 'subscriptions/listen', {})
    expect(codes(two)).toEqual([-32602])
  },
  'GET with header 2026-07-28': async () => {
    const headers = { Accept: 'application/json', 'MCP-Protocol-Version': '2026-07-28' }
    const [one, two] = await Promise.all(
      [plain, full].map((server) => server.send({ method: 'GET', headers })),
    )
    expect([one?.status, two?.status]).toEqual([200, 405])
  },
}

async function allTools(server: TestServer) {
  const found: { name: string; annotations?: object }[] = []
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const { answer } = await askNegotiated(server, 'tools/list', cursor ? { cursor } : {})
    found.push(...answer.result.tools)
    cursor = answer.result.nextCursor
  }
  return found
}

describe('docs/mcp-profiles.md', () => {
  const section = readFileSync(TABLE, 'utf8').split('## Differences')[1]?.split('\n## ')[0] ?? ''
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|')[1]?.trim() ?? '')

  it('tabulates what is held here, no more and no less', () => {
    expect([...rows].sort()).toEqual(Object.keys(ROWS).sort())
  })

  it.each(rows)('holds for %s', async (row) => {
    await ROWS[row]?.()
  })
})
