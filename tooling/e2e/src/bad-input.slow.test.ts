import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createMcpCaller, type McpCaller, textOf } from './mcp.js'
import { recall } from './questions.js'
import { type RawRequest, sendRaw } from './raw.js'
import { createSandbox, type Daemon, type Sandbox } from './sandbox.js'

const MIB = 1024 * 1024
const rpc = (method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
const call = (name: string, args: unknown): string => rpc('tools/call', { name, arguments: args })
const fact = (changes: Record<string, unknown>) => ({
  entity: 'e',
  key: 'k',
  value: 'v',
  ...changes,
})
const loneSurrogate = (json: string): string => json.replace('LONE', '\\ud800')
const invalidUtf8 = (json: string): Uint8Array => {
  const bytes = Buffer.from(json.replace('BYTE', 'ÿ'), 'latin1')
  return bytes
}

let box: Sandbox
let daemon: Daemon
let mcp: McpCaller

beforeAll(async () => {
  box = await createSandbox()
  daemon = await box.startDaemon()
  mcp = createMcpCaller(daemon.mcpUrl)
  await mcp.call('store_fact', fact({ entity: 'witness', value: 'still here' }))
})

afterAll(async () => {
  await mcp.close()
  await box.close()
})

/** The daemon serves both listeners as before, in the same process. */
async function expectAlive(): Promise<void> {
  expect((await fetch(`${daemon.httpUrl}/healthz`)).status).toBe(200)
  expect(await recall(mcp.call, { entity: 'witness' })).toEqual(['still here'])
  expect(daemon.process.exitCode).toBeNull()
}

const errorAnswer = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.number(), z.null()]),
  error: z.looseObject({ code: z.number(), message: z.string().min(5) }),
})

describe('MCP, sent what it cannot use', () => {
  it.each<[string, string | Uint8Array, number, RegExp?]>([
    ['no JSON', '{"jsonrpc": "2.0", "id": 1,', -32700, /^invalid JSON: /],
    ['nothing', '', -32700],
    ['a batch', `[${rpc('tools/list')}]`, -32700],
    ['a number', '12', -32700],
    ['invalid UTF-8', invalidUtf8(call('store_fact', fact({ value: 'BYTE' }))), -32700],
    ['100,000 open brackets', '['.repeat(100_000), -32700],
    ['a method that is a number', '{"jsonrpc":"2.0","id":7,"method":7}', -32700],
    ['an unknown method', rpc('resources/list'), -32601, /^method not found: resources\/list$/],
    ['a call without a name', rpc('tools/call', {}), -32602, /"name"/],
    ['a call with text as parameters', rpc('tools/call', 'store_fact'), -32602],
    ['a call with a number as name', rpc('tools/call', { name: 5 }), -32602],
    ['an unknown tool', call('no_such_tool', {}), -32601, /no_such_tool/],
    ['arguments that are a list', call('store_fact', [1]), -32602],
    [
      'a missing parameter',
      call('store_fact', { entity: 'e', key: 'k' }),
      -32602,
      /^missing required param: value$/,
    ],
    ['a number as entity', call('store_fact', fact({ entity: 5 })), -32602, /entity/],
    ['NUL in an entity', call('store_fact', fact({ entity: 'a\0b' })), -32602, /entity/],
    ['a line break in a key', call('store_fact', fact({ key: 'a\nb' })), -32602, /key/],
    ['an unpaired surrogate', loneSurrogate(call('store_fact', fact({ value: 'LONE' }))), -32602],
    ['a key over 4 KiB', call('store_fact', fact({ key: 'k'.repeat(4097) })), -32602, /key/],
    [
      'a value over 1 MiB',
      call('store_fact', fact({ value: 'v'.repeat(MIB + 1) })),
      -32602,
      /value/,
    ],
    ['a confidence over 1', call('store_fact', fact({ confidence: 1.5 })), -32602, /confidence/],
    [
      'a confidence that is text',
      call('store_fact', fact({ confidence: 'high' })),
      -32602,
      /confidence/,
    ],
    [
      'an unknown horizon',
      call('store_fact', fact({ horizon_class: 'eon' })),
      -32602,
      /horizon_class/,
    ],
    [
      'unknown supersedes',
      call('store_fact', fact({ supersedes: ['nope'] })),
      -32602,
      /supersedes/,
    ],
    ['private without a name', call('store_fact', fact({ private: true })), -32602, /private/],
    ['the space of an agent', call('store_fact', fact({ entity: '__agent::ann::x' })), -32602],
    ['a time that is none', call('query_facts', { as_of: 'yesterday' }), -32602, /as_of/],
    [
      'a floor over 1',
      call('query_facts', { min_effective_confidence: 2 }),
      -32602,
      /min_effective_confidence/,
    ],
    ['the tenant *', call('query', { tenant_id: '*', query: 'x' }), -32602, /tenant_id/],
    ['an empty tenant', call('query', { tenant_id: '', query: 'x' }), -32602, /tenant_id/],
    ['a tenant with a slash', call('query', { tenant_id: 'a/b', query: 'x' }), -32602, /tenant/],
    [
      'a tenant with spaces',
      call('query_scan', { tenant_id: 'a b', query: 'x' }),
      -32602,
      /tenant/,
    ],
    [
      'a tenant of 129 letters',
      call('query', { tenant_id: 't'.repeat(129), query: 'x' }),
      -32602,
      /tenant/,
    ],
    [
      'handles that are text',
      call('query_expand', { tenant_id: 't', result_ids: '0:0' }),
      -32602,
      /result_ids/,
    ],
    ['an empty session id', call('save_session', { session_id: '', state: {} }), -32602, /session/],
    [
      'a session over 1 MiB',
      call('save_session', { session_id: 's', state: 'x'.repeat(MIB) }),
      -32602,
    ],
  ])('answers %s with an error and lives on', async (_, body, code, message) => {
    const { status, text } = await sendRaw(daemon.mcpUrl, { body })
    expect(status).toBe(200)
    const { error, id } = errorAnswer.parse(JSON.parse(text))
    expect(error.code, error.message).toBe(code)
    expect(id).toBe(code === -32700 ? null : 7)
    if (message !== undefined) expect(error.message).toMatch(message)
    // Neither stack nor path of ours, and no long echo of what was sent.
    expect(error.message).not.toMatch(/node_modules|\/dist\/|\n\s+at /)
    expect(error.message.length).toBeLessThan(600)
    await expectAlive()
  })

  it.each<[string, RawRequest, number]>([
    ['a body over the limit', { body: `"${'x'.repeat(17 * MIB)}"` }, 413],
    ['a foreign Host', { body: rpc('tools/list'), headers: { host: 'evil.example' } }, 403],
    [
      'a foreign Origin',
      { body: rpc('tools/list'), headers: { origin: 'https://evil.example' } },
      403,
    ],
    ['a form', { body: rpc('tools/list'), headers: { 'content-type': 'text/plain' } }, 415],
    ['a bad session id', { body: rpc('tools/list'), headers: { 'mcp-session-id': 'a b' } }, 400],
    ['another method', { method: 'PUT', body: rpc('tools/list') }, 405],
    [
      'headers of 20 KB',
      { body: rpc('tools/list'), headers: { 'x-long': 'x'.repeat(20_000) } },
      431,
    ],
  ])('refuses %s', async (_, request, expected) => {
    expect((await sendRaw(daemon.mcpUrl, request)).status).toBe(expected)
    await expectAlive()
  })

  it('keeps what is allowed: NUL in values, keys of 4 KiB, values of 1 MiB', async () => {
    const key = 'k'.repeat(4096)
    const value = 'v'.repeat(MIB)
    await mcp.call('store_fact', fact({ entity: 'limits', key: 'nul', value: 'a\0b' }))
    await mcp.call('store_fact', fact({ entity: 'limits', key, value }))
    expect(await recall(mcp.call, { entity: 'limits' })).toEqual([value, 'a\0b'])
  })

  it('names arguments that it does not know', async () => {
    const { _meta } = await mcp.call('list_entities', { surprise: 1 })
    expect(_meta).toMatchObject({ crux: { ignored_arguments: ['surprise'] } })
  })

  it('reports each bad handle beside the good ones', async () => {
    const ids = ['x', '1:2:3', '-1:0', '0:0', '999999:0', `${'f'.repeat(32)}:0`]
    const text = textOf(await mcp.call('query_expand', { tenant_id: 't', result_ids: ids }))
    const { meta } = z
      .object({ meta: z.object({ errors: z.array(z.object({ error_kind: z.string() })) }) })
      .parse(JSON.parse(text))
    expect(meta.errors.map(({ error_kind }) => error_kind)).toEqual([
      'invalid_format',
      'invalid_format',
      'invalid_format',
      'evicted',
      'evicted',
      'evicted',
    ])
  })
})

const problem = z.looseObject({ type: z.string(), title: z.string(), status: z.number() })

describe('HTTP, sent what it cannot use', () => {
  const ingest = (
    changes: Record<string, unknown>,
    document: Record<string, unknown> = {},
  ): RawRequest => ({
    body: JSON.stringify({
      tenant_id: 't',
      corpus_id: 'c',
      documents: [{ doc_id: 'd', chunks: [{ chunk_id: 'c1', text: 'words' }], ...document }],
      ...changes,
    }),
  })
  const put = (changes: Record<string, unknown>): RawRequest => ({
    method: 'PUT',
    body: JSON.stringify(fact(changes)),
  })
  const FACTS = '/v1/facts'
  const INGEST = '/v1/local/ingest'
  const SEARCH = '/v1/query/text-search'
  const EXPAND = '/v1/query/text-search/expand'
  const post = (body: unknown): RawRequest => ({ body: JSON.stringify(body) })

  it.each<[string, string, RawRequest, number]>([
    ['no JSON', FACTS, { method: 'PUT', body: '{' }, 400],
    ['nothing', FACTS, { method: 'PUT', body: '' }, 400],
    ['a list', FACTS, { method: 'PUT', body: '[]' }, 400],
    [
      'invalid UTF-8',
      FACTS,
      { method: 'PUT', body: invalidUtf8(JSON.stringify(fact({ value: 'BYTE' }))) },
      400,
    ],
    ['100,000 open brackets', FACTS, { method: 'PUT', body: '['.repeat(100_000) }, 400],
    ['a missing value', FACTS, { method: 'PUT', body: '{"entity":"e","key":"k"}' }, 400],
    ['a number as key', FACTS, put({ key: 3 }), 400],
    ['NUL in an entity', FACTS, put({ entity: 'a\0' }), 400],
    [
      'an unpaired surrogate',
      FACTS,
      { method: 'PUT', body: loneSurrogate(JSON.stringify(fact({ value: 'LONE' }))) },
      400,
    ],
    ['a key over 4 KiB', FACTS, put({ key: 'k'.repeat(4097) }), 400],
    ['a value over 1 MiB', FACTS, put({ value: 'v'.repeat(MIB + 1) }), 400],
    ['a confidence below 0', FACTS, put({ confidence: -1 }), 400],
    ['private over HTTP', FACTS, put({ private: true }), 400],
    ['a reserved entity', FACTS, put({ entity: '__bootstrap__::doc:x' }), 403],
    ['a floor over 1', `${FACTS}?min_effective_confidence=2`, { method: 'GET' }, 400],
    ['a time that is none', `${FACTS}?as_of=soon`, { method: 'GET' }, 400],
    ['an unknown fact', `${FACTS}/nope`, { method: 'GET' }, 404],
    ['a blank question', SEARCH, post({ tenant_id: 't', query: ' ' }), 400],
    ['a malformed tenant', SEARCH, post({ tenant_id: 'a/b', query: 'x' }), 400],
    ['no handles', EXPAND, post({ tenant_id: 't', result_ids: [] }), 400],
    ['an ingest without documents', INGEST, post({ tenant_id: 't', corpus_id: 'c' }), 400],
    ['an ingest into a malformed tenant', INGEST, ingest({ tenant_id: '../x' }), 400],
    ['a chunk without text', INGEST, ingest({}, { chunks: [{ chunk_id: 'c1' }] }), 400],
    [
      'a chunk id over 128 bytes',
      INGEST,
      ingest({}, { chunks: [{ chunk_id: 'c'.repeat(129), text: 'x' }] }),
      400,
    ],
    [
      'a document twice',
      INGEST,
      ingest({
        documents: ['d', 'd'].map((doc_id) => ({ doc_id, chunks: [{ chunk_id: 'c', text: 'x' }] })),
      }),
      400,
    ],
    ['a document id with NUL', INGEST, ingest({}, { doc_id: 'a\0b' }), 400],
    ['an unknown route', '/v1/nothing', { method: 'GET' }, 404],
    ['another method', SEARCH, { method: 'DELETE' }, 405],
    [
      'a form',
      FACTS,
      {
        method: 'PUT',
        body: 'a=b',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      415,
    ],
    ['a body over the limit', FACTS, put({ value: 'v'.repeat(17 * MIB) }), 413],
    ['an ingest over its limit', INGEST, ingest({}, { title: 'x'.repeat(65 * MIB) }), 413],
    ['a foreign Host', FACTS, { method: 'GET', headers: { host: 'evil.example' } }, 403],
    [
      'a foreign Origin',
      FACTS,
      { method: 'GET', headers: { origin: 'https://evil.example' } },
      403,
    ],
  ])('answers %s on %s with a problem and lives on', async (_, path, request, expected) => {
    const { status, headers, text } = await sendRaw(`${daemon.httpUrl}${path}`, request)
    expect(status, text.slice(0, 300)).toBe(expected)
    expect(headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(problem.parse(JSON.parse(text)).status).toBe(expected)
    expect(text).not.toMatch(/node_modules|\/dist\/|\\n\s+at /)
    expect(text.length).toBeLessThan(2000)
    await expectAlive()
  })

  it('takes 4,096 documents and refuses one more', async () => {
    const many = (count: number) =>
      ingest({
        documents: Array.from({ length: count }, (_, n) => ({
          doc_id: `d${n}`,
          chunks: [{ chunk_id: 'c', text: `page ${n}` }],
        })),
      })
    const refused = await sendRaw(`${daemon.httpUrl}${INGEST}`, many(4097))
    expect([400, 413, 422]).toContain(refused.status)
    expect(refused.text).toMatch(/4,?096/)
    expect((await sendRaw(`${daemon.httpUrl}${INGEST}`, many(4096))).status).toBe(202)
    await expectAlive()
  })
})
