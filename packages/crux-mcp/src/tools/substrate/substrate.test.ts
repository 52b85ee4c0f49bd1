import { agentCaller } from 'crux-types'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_FEATURES } from '../../features.js'
import { parseAgentTenants, parseAgentTokens } from '../../gates/agent-tokens.js'
import { ingestTexts, startTestServer, type TestServer } from '../../testing/test-server.js'

const token = (agent: string): string => `${agent}-${'0123456789'.repeat(4)}`
const as = (agent: string) => ({ authorization: `Bearer ${token(agent)}` })
const anna = as('anna')

let server: TestServer
beforeEach(async () => {
  server = await startTestServer({
    agents: parseAgentTokens(
      undefined,
      ['anna', 'bert', 'cyd'].map((agent) => `${agent}:${token(agent)}`).join(','),
      parseAgentTenants('cyd:acme'),
    ),
    features: { ...DEFAULT_FEATURES, engrams: true, reuseCheck: true },
  })
})
afterEach(() => server.close())

const AT = '2026-03-01T12:00:00.000+00:00'
const DB1 = { kind: 'host', id: 'db1' }
const DB1_RECORD = {
  ...DB1,
  payload: { cpu: 4 },
  created_at: AT,
  updated_at: AT,
  version: 1,
  deleted: false,
  actor: 'anna',
}
const CALLS = {
  from_kind: 'host',
  from_id: 'web',
  edge_kind: 'calls',
  to_kind: 'host',
  to_id: 'db1',
}

describe('the entity tools', () => {
  it('store, read, list and delete, with the record in both places', async () => {
    const stored = await server.call('entity_upsert', { ...DB1, payload: { cpu: 4 } }, anna)
    expect(stored.text).toBe('upserted entity host/db1 (version=1)')
    expect(stored.structured).toEqual({ entity: DB1_RECORD })
    expect(stored.result.entity).toEqual(DB1_RECORD)

    const found = await server.call('entity_get', DB1, as('bert'))
    expect(found.text).toBe('found host/db1 v1')
    expect(found.result.entity).toEqual(DB1_RECORD)

    await server.call('entity_upsert', { kind: 'a', id: 'z', payload: [1, null] }, anna)
    const listed = await server.call('entity_list', {}, anna)
    expect(listed.text).toBe('listed 2 entities')
    expect(listed.structured.entities.map(({ id }: { id: string }) => id)).toEqual(['z', 'db1'])
    expect(listed.result.entities).toEqual(listed.structured.entities)
    expect(listed.result.count).toBe(2)
    const one = await server.call('entity_list', { kind: 'host', limit: 1 }, anna)
    expect(one.structured).toEqual({ entities: [DB1_RECORD], count: 1 })

    server.clock.advance(1000)
    const deleted = await server.call('entity_delete', DB1, as('bert'))
    expect(deleted.text).toBe('deleted host/db1 v2')
    expect(deleted.result.entity).toEqual({
      ...DB1_RECORD,
      updated_at: '2026-03-01T12:00:01.000+00:00',
      version: 2,
      deleted: true,
      actor: 'bert',
    })
    const gone = await server.call('entity_get', DB1, anna)
    expect([gone.text, gone.structured]).toEqual(['entity host/db1 not found', { entity: null }])
    const kept = await server.call('entity_get', { ...DB1, include_deleted: true }, anna)
    expect(kept.text).toBe('found host/db1 v2')
    const all = await server.call('entity_list', { kind: 'host', include_deleted: true }, anna)
    expect(all.structured.count).toBe(1)

    const history = await server.call('entity_history', DB1, anna)
    expect(history.text).toBe('2 versions for host/db1')
    expect(history.result.versions).toEqual([DB1_RECORD, deleted.structured.entity])
    expect(history.result.count).toBe(2)
  })

  it('word what is missing, and why a write was refused', async () => {
    const error = (tool: string, args: object) => server.callError(tool, args, anna)
    expect(await error('entity_upsert', { kind: 'k', payload: {} })).toEqual({
      code: -32602,
      message: "missing or non-string 'id'",
    })
    expect(await error('entity_get', { kind: 7, id: 'x' })).toEqual({
      code: -32602,
      message: "missing or non-string 'kind'",
    })
    expect(await error('entity_upsert', DB1)).toEqual({
      code: -32602,
      message: "missing 'payload'",
    })
    expect(await error('entity_delete', DB1)).toEqual({
      code: -32603,
      message: 'entity delete failed: entity host/db1 not found',
    })
    const capability = { kind: 'capability', id: 'c', payload: { id: 'c', name: 'n' } }
    expect(await error('entity_upsert', capability)).toEqual({
      code: -32603,
      message:
        "entity upsert failed: kind validation failed: payload validation failed for kind 'capability': missing required field 'system'",
    })
    expect(
      await error('entity_upsert', { ...DB1, payload: 'x'.repeat(1024 * 1024) }),
    ).toMatchObject({ code: -32602, message: expect.stringContaining('1048578 bytes') })
    await server.call('entity_upsert', { kind: 'k', id: 'i', payload: null }, anna)
  })
})

describe('the edge tools', () => {
  it('store, read, list and delete by five names', async () => {
    const id = 'host/web|calls|host/db1'
    const stored = await server.call('edge_upsert', { ...CALLS, payload: { port: 5432 } }, anna)
    expect(stored.text).toBe(`upserted edge ${id} v1`)
    const record = {
      edge_id: id,
      ...CALLS,
      payload: { port: 5432 },
      created_at: AT,
      updated_at: AT,
      version: 1,
      deleted: false,
      actor: 'anna',
    }
    expect(stored.result.edge).toEqual(record)
    const found = await server.call('edge_get', CALLS, anna)
    expect([found.text, found.structured]).toEqual([`found ${id}`, { edge: record }])
    await server.call('edge_upsert', { ...CALLS, to_id: 'db2' }, anna)
    const listed = await server.call('edge_list', { to_id: 'db2', edge_kind: 'calls' }, anna)
    expect(listed.text).toBe('listed 1 edges')
    expect(listed.result.edges).toMatchObject([{ to_id: 'db2', payload: null }])
    expect((await server.call('edge_list', { limit: 1 }, anna)).structured.count).toBe(1)
    const deleted = await server.call('edge_delete', CALLS, anna)
    expect(deleted.text).toBe(`deleted edge ${id} v2`)
    expect(deleted.result.edge).toMatchObject({ deleted: true, version: 2 })
    const gone = await server.call('edge_get', CALLS, anna)
    expect([gone.text, gone.structured]).toEqual(['edge not found', { edge: null }])
    expect((await server.call('edge_list', { include_deleted: true }, anna)).structured.count).toBe(
      2,
    )
  })

  it('word what is missing, and that there is nothing to delete', async () => {
    const { from_id: _, ...rest } = CALLS
    for (const tool of ['edge_upsert', 'edge_get', 'edge_delete']) {
      expect(await server.callError(tool, rest, anna)).toEqual({
        code: -32602,
        message: "missing or non-string 'from_id'",
      })
    }
    expect(await server.callError('edge_delete', CALLS, anna)).toEqual({
      code: -32603,
      message: 'edge delete failed: edge host/web|calls|host/db1 not found',
    })
  })
})

describe('records of another tenant', () => {
  it('are never seen and never touched', async () => {
    await server.call('entity_upsert', { ...DB1, payload: 'V' }, anna)
    await server.call('edge_upsert', { ...CALLS, payload: 'V' }, anna)
    const cyd = as('cyd')
    expect((await server.call('entity_get', { ...DB1, include_deleted: true }, cyd)).text).toBe(
      'entity host/db1 not found',
    )
    expect((await server.call('entity_history', DB1, cyd)).structured.count).toBe(0)
    expect((await server.call('entity_list', {}, cyd)).structured.count).toBe(0)
    expect((await server.call('edge_get', CALLS, cyd)).text).toBe('edge not found')
    expect((await server.call('edge_list', {}, cyd)).structured.count).toBe(0)
    expect((await server.callError('entity_delete', DB1, cyd)).code).toBe(-32603)
    expect((await server.callError('edge_delete', CALLS, cyd)).code).toBe(-32603)
    const theirs = await server.call('entity_upsert', { ...DB1, payload: 'W' }, cyd)
    expect(theirs.structured.entity.version).toBe(1)
    expect((await server.call('entity_get', DB1, anna)).structured.entity.payload).toBe('V')
  })
})

describe('the kind tools', () => {
  it('describe the kinds whose payloads are checked', async () => {
    const listed = await server.call('kind_list', {}, anna)
    expect(listed.text).toBe('2 kinds registered')
    expect(listed.result.kinds).toMatchObject([{ kind: 'capability' }, { kind: 'document' }])
    expect(listed.result.count).toBe(2)
    const found = await server.call('kind_get', { kind: 'capability' }, anna)
    expect(found.text).toBe('kind capability registered')
    expect(found.result.registration).toMatchObject({
      json_schema: { required: ['id', 'name', 'system', 'maturity'] },
    })
    const unknown = await server.call('kind_get', { kind: 'x' }, anna)
    expect([unknown.text, unknown.structured]).toEqual([
      'kind x not registered',
      { registration: null },
    ])
    expect(await server.callError('kind_get', {}, anna)).toEqual({
      code: -32602,
      message: "missing or non-string 'kind'",
    })
  })
})

describe('get_gaps', () => {
  const gap = (value: string, agent = 'anna', entity = '__ops__::coverage:billing') =>
    server.call('store_fact', { entity, key: value, value: `nobody knows ${value}` }, as(agent))

  it('gives recorded gaps, newest first among equals, and their tokens', async () => {
    const none = await server.call('get_gaps', {}, anna)
    expect([none.text, none.structured]).toEqual([
      'no knowledge gaps recorded',
      { total_tokens: 0 },
    ])
    await gap('refunds')
    server.clock.advance(1000)
    await gap('invoices')
    const all = await server.call('get_gaps', {}, as('bert'))
    expect(all.text).toBe(
      '[__ops__::coverage:billing] invoices = nobody knows invoices\n[__ops__::coverage:billing] refunds = nobody knows refunds',
    )
    expect(all.structured.total_tokens).toBe(6 + 5)
    expect((await server.call('get_gaps', { query: 'REFUND' }, anna)).text).toBe(
      '[__ops__::coverage:billing] refunds = nobody knows refunds',
    )
    expect((await server.call('get_gaps', { query: 'zzz' }, anna)).text).toBe(
      "no gaps matching 'zzz'",
    )
  })

  it('gives at most 50, and nothing of another tenant or of other records', async () => {
    for (let i = 0; i < 55; i++) await gap(`n${i}`)
    await gap('theirs', 'cyd')
    await gap('other', 'anna', '__ops__::audit')
    await server.services.facts.store(agentCaller('anna'), {
      entity: '__ops__::coverage:mine',
      key: 'k',
      value: 'private',
      private: true,
    })
    const { text } = await server.call('get_gaps', {}, anna)
    expect(text.split('\n')).toHaveLength(50)
    for (const hidden of ['theirs', 'other', 'private']) expect(text).not.toContain(hidden)
    expect((await server.call('get_gaps', {}, as('cyd'))).text).toBe(
      '[__ops__::coverage:billing] theirs = nobody knows theirs',
    )
  })

  it('has nothing to do with what searches miss (RET-11.4-get-gaps-separate)', async () => {
    await ingestTexts(server, 'default', ['a passage about ferries'])
    await gap('refunds')
    const before = await server.call('get_gaps', {}, anna)
    const args = { tenant_id: 'default', query: 'ferries xylophone' }
    const found = await server.call('query', args, anna)
    expect(found.structured.coverage.missing_tokens).toEqual(['xylophone'])
    await server.call('query_scan', args, anna)
    await server.call('query_facts', { query: 'xylophone' }, anna)
    expect(await server.call('get_gaps', {}, anna)).toEqual(before)
  })
})

describe('engram_resolve', () => {
  it('describes what there is, then gives content by name', async () => {
    const manifest = await server.call('engram_resolve', { model_id: 'x-mini' }, anna)
    expect(manifest.envelope).toEqual(manifest.structured)
    expect(manifest.text).toContain('\n  "schema": "crux.mcp.engram_manifest.v1"')
    expect(manifest.structured).toMatchObject({
      capability_class: 'fast',
      engram_manifest: { tenant_id: 'local', capability_class: 'fast' },
    })
    const { engrams } = manifest.structured.engram_manifest
    expect(engrams).toHaveLength(4)
    const names = engrams.map(
      ({ name, version }: { name: string; version: string }) => `${name}@${version}`,
    )
    const resolved = await server.call('engram_resolve', { names, tenant_id: 't' }, anna)
    expect(resolved.structured).toMatchObject({
      schema: 'crux.mcp.engrams.resolve.v1',
      capability_class: 'capable',
      engram_set_hash: { schema: 'crux.local.engram_set_hash.v1', count: 4 },
    })
    expect(
      resolved.structured.engrams.map(({ prompt_hash }: { prompt_hash: string }) => prompt_hash),
    ).toEqual(engrams.map(({ prompt_hash }: { prompt_hash: string }) => prompt_hash))
    const one = await server.call('engram_resolve', { intent_bucket: 'investigation' }, anna)
    expect(one.structured.engram_manifest.engrams).toHaveLength(1)
  })

  it('refuses too many names, and names that are not to be had', async () => {
    const names = Array.from({ length: 21 }, () => 'code-minimalism@v1')
    expect(await server.callError('engram_resolve', { names }, anna)).toEqual({
      code: -32602,
      message: 'names must contain at most 20 name@version entries',
    })
    await server.call('engram_resolve', { names: names.slice(1) }, anna)
    expect(
      await server.callError('engram_resolve', { names: ['a', 'code-minimalism@v2'] }, anna),
    ).toEqual({
      code: -32602,
      message: 'capability_class_mismatch_or_missing: a, code-minimalism@v2',
    })
  })
})

describe('reuse_check', () => {
  const capability = (id: string, more: object) =>
    server.call(
      'entity_upsert',
      {
        kind: 'capability',
        id,
        payload: { id, name: id, system: 'billing', maturity: 'built', ...more },
      },
      anna,
    )
  const check = (description: string, more = {}) =>
    server.call('reuse_check', { tenant_id: 'docs', description, ...more }, anna)

  it('finds passages and capabilities that are about the same thing', async () => {
    await ingestTexts(server, 'docs', ['Invoices are rendered as PDF.', 'Ferries leave at noon.'])
    await capability('pdf-export', {
      description: 'Renders invoices',
      files: ['src/invoice/render.ts'],
    })
    await capability('invoice-list', {})
    await capability('unrelated', {})
    const found = await check('Render an invoice as a PDF: render it')
    expect(found.envelope).toEqual(found.structured)
    expect(found.structured).toMatchObject({
      schema: 'crux.mcp.reuse_check.v1',
      verdict: 'reuse-candidate-found',
      capability_candidates: [
        {
          id: 'pdf-export',
          name: 'pdf-export',
          system: 'billing',
          maturity: 'built',
          files: ['src/invoice/render.ts'],
          overlap_terms: 3,
        },
        { id: 'invoice-list', files: [], overlap_terms: 1 },
      ],
    })
    const [best] = found.structured.retrieval_candidates
    expect(Object.keys(best)).toEqual(['result_id', 'rank', 'score', 'doc_length_tokens'])
    const read = await server.call(
      'query_expand',
      { tenant_id: 'docs', result_ids: [best.result_id] },
      anna,
    )
    expect(read.envelope.content[0].text).toContain('Invoices')
    const limited = await check('render invoice pdf', { limit: 1, min_score: 1000 })
    expect(limited.structured.capability_candidates).toHaveLength(1)
    expect(limited.structured.retrieval_candidates).toEqual([])
  })

  it('says when it found nothing, and when that proves nothing', async () => {
    const empty = await check('an engine for ferries')
    expect(empty.structured).toMatchObject({
      verdict: 'nothing-found',
      retrieval_candidates: [],
      capability_candidates: [],
      guidance: expect.stringContaining('proves nothing'),
    })
    await ingestTexts(server, 'docs', ['Invoices are rendered as PDF.'])
    const none = await check('zeppelins of it')
    expect(none.structured.verdict).toBe('nothing-found')
    expect(none.structured.guidance).not.toContain('proves nothing')
  })

  it('asks for one tenant, and for capabilities looks at its own alone', async () => {
    expect(await server.callError('reuse_check', { description: 'x' }, anna)).toEqual({
      code: -32602,
      message: 'missing required param: tenant_id',
    })
    for (const tenant_id of ['', '*']) {
      expect(
        await server.callError('reuse_check', { tenant_id, description: 'x' }, anna),
      ).toMatchObject({ code: -32602 })
    }
    await capability('pdf-export', {})
    const args = { tenant_id: 'acme', description: 'export of a pdf' }
    const found = await server.call('reuse_check', args, as('cyd'))
    expect(found.structured.capability_candidates).toEqual([])
  })
})

describe('switched off', () => {
  it('engram_resolve and reuse_check are refused with the way to switch them on', async () => {
    const off = await startTestServer()
    expect(await off.callError('engram_resolve', { names: 7 })).toEqual({
      code: -32030,
      message:
        'engram MCP surface disabled (set CORECRUXD_FEATURE_ENGRAM_MCP=1 to enable; it is off by default)',
    })
    expect(await off.callError('reuse_check')).toEqual({
      code: -32030,
      message:
        'reuse_check disabled (set CORECRUXD_FEATURE_REUSE_CHECK=1 to enable; it is off by default)',
    })
    await off.close()
  })
})
