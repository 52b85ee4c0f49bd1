import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpCaller } from './http.js'
import { createSandbox } from './sandbox.js'
import { agreedKeys, ToolContract } from './tool-contract.js'
import { openToolSession, type ToolSession } from './tool-session.js'

const ALL_ON = {
  CORECRUXD_FEATURE_ARTEFACTS: '1',
  CORECRUXD_FEATURE_ENGRAM_MCP: '1',
  CORECRUXD_FEATURE_REUSE_CHECK: '1',
  CORECRUXD_FEATURE_MEMORY_ACK: '1',
  CORECRUXD_FEATURE_AUDIT_ENVELOPE: '1',
  CORECRUXD_FEATURE_ACTIVITY_LOG: '1',
  CORECRUXD_SESSION_TOKEN_BUDGET: '1000000',
  CRUX_OUTPUT_HOLDOUT: '0.5',
}
// The others are off unless they are asked for.
const ALL_OFF = {
  CORECRUXD_FEATURE_MEMORY_PANEL: '0',
  CORECRUXD_FEATURE_FRESHNESS: '0',
  CORECRUXD_FEATURE_CONSOLIDATION: '0',
  CORECRUXD_FEATURE_SCOPED_FORGET: '0',
  CORECRUXD_FEATURE_TOOL_TRACES: '0',
}
const DENIED = -32030
const NO_SUCH_METHOD = -32601
const TENANT = 'handbook'
const DB1 = { kind: 'host', id: 'db1' }
const DOOR = { entity: 'door:back', key: 'locked' }
// In the order in which they are reported: what says no comes first.
const CONTRADICTION = [
  [`f_${'0'.repeat(32)}`, 'no'],
  [`f_${'1'.repeat(32)}`, 'yes'],
] as const
const EDGE = {
  from_kind: 'host',
  from_id: 'web',
  edge_kind: 'calls',
  to_kind: 'host',
  to_id: 'db1',
}

const WATCHED = '__agent_session::anna::watched'
const OBSERVED = { session_id: 'watched' }
const OLD_RECORD = {
  observation_id: 'from-another-program',
  session_id: WATCHED,
  tenant: 'default',
  ts: '2026-01-15T12:00:00Z',
  client_ts: '2026-01-15T11:59:59Z',
  provider: 'codex-cli',
  principal: 'anna',
  kind: 'session_start',
  payload: { goal: 'look around' },
}

describe('every tool that is listed, through the SDK client', () => {
  it('answers as its output schema says, and as documented while it is switched off', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const contract = await ToolContract.load()
    expect(contract.declaredKeys).toEqual(await agreedKeys())

    const off = await openToolSession(box, 'anna', ALL_OFF, contract)
    await useSwitchedOff(off)
    await off.end()
    await writeContradiction(box.dataDir)
    await writeLegacyObservation(box.dataDir)

    const on = await openToolSession(box, 'anna', ALL_ON, contract)
    const { tools } = await on.client.listTools()
    await useFacts(on)
    await usePanel(on)
    await useFreshness(on)
    await useConsolidation(on)
    await useAcknowledgement(on)
    await useSubstrate(on)
    await useArtefacts(on)
    await useDocuments(on)
    await useSessions(on)
    await useIdentity(on)
    await useKnowledge(on)
    await useForgetting(on)
    await useObservations(on)
    await useCallRecords(on)
    await useActivity(on)
    await on.end()

    const listed = tools.map(({ name }) => name).sort()
    expect([...on.called].sort()).toEqual(listed)
    expect(Object.keys(contract.declaredKeys).sort()).toEqual(listed)
    // No key is declared that the daemon never writes.
    expect(contract.seenKeys).toEqual(contract.declaredKeys)
  })
})

async function useSwitchedOff(off: ToolSession): Promise<void> {
  const id = { fact_id: 'f' }
  const target = { entity: 'e', key: 'k', canonical_value: 'v', target_fact_ids: ['f'] }
  for (const [tool, args] of [
    ['memory_view', {}],
    ['memory_edit', { ...id, new_value: 'v' }],
    ['memory_pin', id],
    ['memory_history', id],
  ] as const) {
    const { text, structured } = await off.call(tool, args)
    expect(text).toContain(`${tool}: memory panel explicitly disabled`)
    expect(structured).toEqual({})
  }
  for (const [tool, args, flag] of [
    ['memory_freshness', {}, 'FRESHNESS'],
    ['memory_sweep_candidates', {}, 'FRESHNESS'],
    ['memory_set_horizon', { ...id, horizon_class: 'stable' }, 'FRESHNESS'],
    ['memory_reverify', id, 'FRESHNESS'],
    ['memory_contradictions', {}, 'CONSOLIDATION'],
    ['memory_consolidate', target, 'CONSOLIDATION'],
    ['engram_resolve', {}, 'ENGRAM_MCP'],
    ['reuse_check', { tenant_id: TENANT, description: 'a parser' }, 'REUSE_CHECK'],
  ] as const) {
    expect(await off.refusal(tool, args), tool).toMatchObject({
      code: DENIED,
      message: expect.stringContaining(`CORECRUXD_FEATURE_${flag}`),
    })
  }
  const scope = { type: 'entity_prefix', value: 'e' }
  expect(await off.refusal('memory_forget', { scope, reason: 'r' })).toMatchObject({
    code: NO_SUCH_METHOD,
    message: expect.stringContaining('CORECRUXD_FEATURE_SCOPED_FORGET=1'),
  })
  for (const [tool, args] of [
    ['artefact_put', { content_bytes_base64: 'aGk=', mime_type: 'text/plain' }],
    ['artefact_get', { artefact_id: 'art_0' }],
    ['artefact_list', {}],
  ] as const) {
    expect((await off.call(tool, args)).structured).toEqual({
      feature_enabled: false,
      feature_flag: 'CORECRUXD_FEATURE_ARTEFACTS',
      tool,
    })
  }
  for (const tool of ['tool_trace_recent', 'learn']) {
    const { text, structured } = await off.call(tool)
    expect(text).toBe(`${tool}: feature disabled (set CORECRUXD_FEATURE_TOOL_TRACES=1)`)
    expect(structured).toMatchObject({ count: 0, feature_disabled: true })
  }
  const told = await off.call('activity_recent', { session_id: 'plan' })
  expect(told.text).toBe('activity_recent: feature disabled (CORECRUXD_FEATURE_ACTIVITY_LOG off).')
  expect(told.structured).toMatchObject({ feature_enabled: false, rows: [] })
  const savings = await off.call('token_savings')
  expect(savings.structured).toEqual({ holdout_enabled: false })
  const usage = await off.call('session_token_usage')
  expect(usage.structured).not.toHaveProperty('limit')
  const acknowledged = await off.call('memory_acknowledge_use', { turn_id: 't1' })
  expect(acknowledged.structured).toMatchObject({ turn_id: 't1', feature_enabled: false })
}

async function useFacts(on: ToolSession): Promise<void> {
  const first = await on.call('store_fact', { entity: 'host:db1', key: 'port', value: '5432' })
  const second = await on.call('store_fact', { entity: 'host:db1', key: 'port', value: '5433' })
  expect(second.structured).toMatchObject({ entity: 'host:db1', version: 2 })
  const other = await on.call('store_fact', {
    entity: 'host:db1',
    key: 'listens',
    value: 'on port 5433',
    supersedes: [second.get('fact_id')],
  })
  expect(other.structured.superseded_fact_ids).toEqual([second.get('fact_id')])
  const found = await on.call('query_facts', { query: 'listens', token_budget: 500 })
  expect(found.structured.rows).toMatchObject([{ fact_id: other.get('fact_id') }])
  const ranked = await on.call('query_facts', { query: 'listening ports', match: 'ranked' })
  expect(ranked.structured.rows).toMatchObject([{ score_space: 'bm25_confidence' }])
  const legacy = await on.call('query_facts', { query: 'listens', contract: 'legacy' })
  expect(legacy.structured).not.toHaveProperty('crc_v1')
  expect((await on.call('list_entities')).text).toContain('host:db1')
  const history = await on.call('fact_history', { entity: 'host:db1', key: 'port' })
  expect(history.text.split('\n')).toHaveLength(2)
  const gone = await on.call('delete_fact', { fact_id: first.get('fact_id') })
  expect(gone.text).toBe(`deleted fact ${first.get('fact_id')}`)
}

async function usePanel(on: ToolSession): Promise<void> {
  const stored = await on.call('store_fact', { entity: 'team:ops', key: 'lead', value: 'Ada' })
  const edited = await on.call('memory_edit', {
    fact_id: stored.get('fact_id'),
    new_value: 'Grace',
    reason: 'she took over',
  })
  expect(edited.structured).toMatchObject({ new_fact: { value: 'Grace', version: 2 } })
  const viewed = await on.call('memory_view', { entity: 'team:ops', key: 'lead' })
  expect(viewed.structured).toMatchObject({ facts: [{ value: 'Grace' }, { value: 'Ada' }] })
  const history = await on.call('memory_history', { fact_id: stored.get('fact_id') })
  expect(history.structured.versions).toMatchObject([{ value: 'Ada' }, { value: 'Grace' }])
  const pin = { fact_id: stored.get('fact_id') }
  expect((await on.call('memory_pin', pin)).structured).toEqual({ ...pin, pinned: true })
  const unpinned = await on.call('memory_pin', { ...pin, pinned: false })
  expect(unpinned.structured).toEqual({ ...pin, pinned: false })
}

async function useFreshness(on: ToolSession): Promise<void> {
  const stored = await on.call('store_fact', { entity: 'price:tea', key: 'eur', value: '3' })
  const id = { fact_id: stored.get('fact_id') }
  const set = await on.call('memory_set_horizon', { ...id, horizon_class: 'volatile' })
  expect(set.structured).toEqual({ ...id, horizon_class: 'volatile', ok: true })
  const fresh = await on.call('memory_freshness', { entity: 'price:tea' })
  expect(fresh.structured.rows).toMatchObject([{ horizon_class: 'volatile' }])
  expect((await on.call('memory_reverify', id)).structured).toMatchObject(id)
  expect((await on.call('memory_sweep_candidates')).structured).toMatchObject({ dry_run: true })
}

async function useConsolidation(on: ToolSession): Promise<void> {
  const ids = CONTRADICTION.map(([id]) => id)
  const found = await on.call('memory_contradictions')
  expect(found.structured).toMatchObject({ count: 1, candidates: [{ ...DOOR, fact_ids: ids }] })
  const done = await on.call('memory_consolidate', {
    ...DOOR,
    canonical_value: 'only at night',
    target_fact_ids: ids,
    consolidation_id: 'lock-1',
    protected_confidence_floor: 2,
  })
  expect(done.structured.receipt).toMatchObject({ consolidation_id: 'lock-1' })
  const recalled = await on.call('query_facts', { entity: DOOR.entity })
  expect(recalled.structured.rows).toMatchObject([{ value: 'only at night' }])
  expect((await on.call('memory_contradictions')).structured.count).toBe(0)
}

/**
 * Append two facts that are in force under one name, as journals of earlier daemons may hold them.
 * No daemon may run.
 */
async function writeContradiction(dataDir: string): Promise<void> {
  const facts = CONTRADICTION.map(([fact_id, value], index) => ({
    ...DOOR,
    fact_id,
    value,
    source_receipt: null,
    confidence: 0.9,
    stored_at: '2026-03-01T11:00:00Z',
    deleted: false,
    version: index + 1,
  }))
  const line = JSON.stringify({ op: 'store_batch', facts })
  await appendFile(join(dataDir, 'facts.jsonl'), `${line}\n`)
}

async function useAcknowledgement(on: ToolSession): Promise<void> {
  const stored = await on.call('store_fact', { entity: 'used:it', key: 'k', value: 'v' })
  const args = { turn_id: 'turn-7', fact_ids: [stored.get('fact_id'), 'none'], intent: 'decision' }
  const said = await on.call('memory_acknowledge_use', args)
  expect(said.structured).toMatchObject({ filtered_count: 1, not_found_count: 1 })
  const whole = await on.raw('memory_acknowledge_use', args)
  expect(whole.receipt_ref).toBe('mu_anna_turn-7')
}

async function useSubstrate(on: ToolSession): Promise<void> {
  await on.call('entity_upsert', { ...DB1, payload: { cpu: 4 } })
  await on.call('edge_upsert', { ...EDGE, payload: { port: 5432 } })
  for (const [tool, args, beside] of [
    ['entity_upsert', { ...DB1, payload: { cpu: 8 } }, ['entity']],
    ['entity_get', DB1, ['entity']],
    ['entity_list', { kind: 'host' }, ['entities', 'count']],
    ['entity_history', DB1, ['versions', 'count']],
    ['edge_upsert', { ...EDGE, payload: { port: 5433 } }, ['edge']],
    ['edge_get', EDGE, ['edge']],
    ['edge_list', { to_id: 'db1' }, ['edges', 'count']],
    ['kind_list', {}, ['kinds', 'count']],
    ['kind_get', { kind: 'capability' }, ['registration']],
    ['edge_delete', EDGE, ['edge']],
    ['entity_delete', DB1, ['entity']],
  ] as const) {
    const { structuredContent, ...whole } = await on.raw(tool, args)
    const repeated = Object.fromEntries(beside.map((key) => [key, whole[key]]))
    expect(repeated, tool).toEqual(structuredContent)
    expect(JSON.stringify(repeated), tool).toMatch(/db1|document|capability/)
  }
  for (const tool of ['entity_get', 'entity_history', 'entity_list', 'kind_list', 'edge_list']) {
    await on.call(tool, tool === 'entity_get' || tool === 'entity_history' ? DB1 : {})
  }
  expect((await on.call('kind_get', { kind: 'document' })).text).toBe('kind document registered')
  expect((await on.call('edge_get', EDGE)).structured).toEqual({ edge: null })
  await on.call('edge_upsert', EDGE)
  expect((await on.call('edge_delete', EDGE)).structured.edge).toMatchObject({ deleted: true })
  await on.call('entity_upsert', { ...DB1, payload: null })
  expect((await on.call('entity_delete', DB1)).structured.entity).toMatchObject({ deleted: true })
}

async function useArtefacts(on: ToolSession): Promise<void> {
  const content = Buffer.from('a long result').toString('base64')
  const put = await on.call('artefact_put', {
    content_bytes_base64: content,
    mime_type: 'text/plain',
    tool_origin: 'grep',
  })
  const got = await on.call('artefact_get', { artefact_id: put.get('artefact_id') })
  expect(got.structured).toEqual({ ...put.structured, content_base64: content })
  const listed = await on.call('artefact_list', { scope: 'grep' })
  expect(listed.structured).toMatchObject({ count: 1, artefacts: [put.structured] })
}

async function useDocuments(on: ToolSession): Promise<void> {
  const http = createHttpCaller(on.daemon.httpUrl)
  await http.ingest(TENANT, [
    { docId: 'pumps.md', text: 'The pump primes itself before it starts to draw water.' },
    { docId: 'valves.md', text: 'A valve that leaks is replaced, never glued.' },
  ])
  await http.close()
  const asked = { tenant_id: TENANT, query: 'pump water' }
  const found = await on.call('query', asked)
  expect(found.structured.results).toMatchObject([{ rank: 1 }])
  const scanned = await on.call('query_scan', { ...asked, token_budget: 200 })
  const [hit] = Array.isArray(scanned.structured.scan) ? scanned.structured.scan : []
  const ids = [String(hit?.result_id), '9:9']
  const read = await on.call('query_expand', { tenant_id: TENANT, result_ids: ids })
  expect(read.text).toContain('primes itself')
  expect(read.structured.errors).toMatchObject([{ result_id: '9:9', error_kind: 'evicted' }])
  for (const [tool, args] of [
    ['query', asked],
    ['query_scan', asked],
    ['query_expand', { tenant_id: TENANT, result_ids: ids }],
  ] as const) {
    const legacy = await on.call(tool, { ...args, contract: 'legacy' })
    on.contract.checkLegacy(tool, JSON.parse(legacy.text))
  }
  const reuse = await on.call('reuse_check', { tenant_id: TENANT, description: 'a water pump' })
  expect(reuse.structured.verdict).toBe('reuse-candidate-found')
}

async function useSessions(on: ToolSession): Promise<void> {
  const id = { session_id: 'plan' }
  await on.call('save_session', { ...id, state: { step: 3 } })
  expect((await on.call('get_session', id)).structured).toMatchObject({ state: { step: 3 } })
  expect((await on.call('list_sessions')).text).toContain('plan')
}

async function useIdentity(on: ToolSession): Promise<void> {
  expect((await on.call('get_agent_identity')).text).toBe('anna')
  expect((await on.call('cuecrux_session', { intent: 'document_ingest' })).text).toContain(
    on.daemon.mcpUrl,
  )
}

async function useKnowledge(on: ToolSession): Promise<void> {
  const guide = await on.call('get_bootstrap', { topic: 'tool-output', token_budget: 400 })
  expect(guide.structured.returned).toBeGreaterThan(0)
  await on.call('store_fact', { entity: '__ops__::coverage', key: 'tides', value: 'no table' })
  expect((await on.call('get_gaps', { query: 'tides' })).text).toContain('no table')
  const manifest = await on.call('engram_resolve')
  const { engrams } = manifest.structured.engram_manifest as {
    engrams: { name: string; version: string }[] // held against the schema by the call
  }
  const names = engrams.slice(0, 1).map(({ name, version }) => `${name}@${version}`)
  expect(names).toHaveLength(1)
  const resolved = await on.call('engram_resolve', { names })
  expect(resolved.structured.engram_set_hash).toMatchObject({ count: 1 })
}

async function useForgetting(on: ToolSession): Promise<void> {
  for (const [entity, tell] of [
    ['lost:one', 'sdk'],
    ['lost:two', 'raw'],
  ] as const) {
    await on.call('store_fact', { entity, key: 'k', value: `to be forgotten by ${tell}` })
    const scope = { type: 'entity_prefix', value: entity }
    const dry = await on.call('memory_forget_dry_run', { scope })
    expect(dry.structured).toMatchObject({ count: 1, dry_run: true, scope })
    const args = { scope, reason: 'asked to', confirm: dry.get('confirm') }
    if (tell === 'sdk') {
      expect((await on.call('memory_forget', args)).structured.facts_affected).toBe(1)
    } else {
      const {
        content: _content,
        structuredContent,
        ...beside
      } = await on.raw('memory_forget', args)
      expect(beside).toMatchObject(structuredContent as object)
      expect(beside.forget_receipt_id).toMatch(/^r_forget_[0-9a-f]{16}$/)
    }
    expect((await on.call('query_facts', { entity })).text).toBe('no facts found')
    const again = await on.refusal('memory_forget', { scope, reason: 7 })
    expect(again).toMatchObject({ code: -32602 })
  }
}

/** Put a record in place that was written before there were chains. */
async function writeLegacyObservation(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'observations')
  await mkdir(folder)
  const file = join(folder, '__agent_session__anna__watched.jsonl')
  await writeFile(file, `${JSON.stringify(OLD_RECORD)}\n`)
}

/** Call every tool over observations, as anna, over records that were reported by HTTP. */
async function useObservations(on: ToolSession): Promise<void> {
  const http = createHttpCaller(on.daemon.httpUrl)
  const ids: string[] = []
  for (const kind of ['user_prompt', 'tool_use']) {
    const record = { kind, provider: 'claude-code', payload: { kind } }
    const { status, text } = await http.request(
      'POST',
      `/v1/sessions/${WATCHED}/observations`,
      record,
    )
    expect(status, text).toBe(201)
    ids.push(JSON.parse(text).observation_id)
  }
  await http.close()
  const [, last] = ids
  const first = await on.call('list_observations', { ...OBSERVED, limit: 1 })
  expect(first.structured).toEqual({
    ...OBSERVED,
    count: 1,
    observations: [OLD_RECORD],
    has_more: true,
  })
  const rest = await on.call('list_observations', { ...OBSERVED, after: OLD_RECORD.observation_id })
  expect(rest.structured).toMatchObject({
    count: 2,
    observations: [
      { seq: 0, principal: '__anon__' },
      { seq: 1, observation_id: last },
    ],
  })
  const old = { ...OBSERVED, observation_id: OLD_RECORD.observation_id }
  expect((await on.call('get_observation', old)).structured).toEqual(OLD_RECORD)
  const record = { ...OBSERVED, observation_id: last }
  expect((await on.call('get_observation', record)).structured).toMatchObject({ seq: 1 })
  expect((await on.call('verify_observation', record)).structured).toMatchObject({
    ok: true,
    chain: { file: { status: 'ok', legacy_prefix_len: 1, chained_len: 2 } },
  })
  expect((await on.call('verify_observation', old)).structured).toMatchObject({
    ok: false,
    reason: 'record has no receipt field',
    chain: { record: { status: 'legacy' } },
  })
}

async function useCallRecords(on: ToolSession): Promise<void> {
  for (let i = 0; i < 3; i++) await on.call('query_facts', { query: 'tides', turn_id: 't9' })
  const traces = await on.call('tool_trace_recent', { turn_id: 't9' })
  const signature = 'query_facts(query="tides",turn_id="t9")'
  expect(traces.structured).toMatchObject({
    count: 3,
    traces: [
      {
        tool: 'query_facts',
        predicted_effects: [{ kind: 'fact_read', entity: '', key: '' }],
        outcome: 'ok',
        signature,
      },
      {},
      {},
    ],
  })
  const learned = await on.call('learn')
  expect(learned.structured).toMatchObject({ propose_only: true })
  expect(learned.text).toContain(signature)
  const savings = await on.call('token_savings')
  expect(savings.structured).toMatchObject({ holdout_enabled: true, holdout_fraction: 0.5 })
  const before = await on.call('session_token_usage', { token_budget: 500 })
  const after = await on.call('session_token_usage')
  expect(after.structured).toMatchObject({ passport: 'anna', limit: 1_000_000 })
  expect(after.structured.calls).toBe(Number(before.structured.calls) + 1)
  expect(after.structured.declared_budget_in).toBe(
    Number(before.structured.declared_budget_in) + 500,
  )
}

async function useActivity(on: ToolSession): Promise<void> {
  const http = createHttpCaller(on.daemon.httpUrl)
  for (const text of ['is the pump on?', 'x'.repeat(1_900)]) {
    const entry = { session_id: 'plan', turn_id: 't1', kind: 'question', text }
    expect((await http.request('POST', '/v1/activity', entry)).status).toBe(201)
  }
  await http.close()
  const cut = await on.call('activity_recent', { session_id: 'plan', token_budget: 1 })
  expect(cut.structured).toMatchObject({ returned: 1, truncated: true, rows: [{ seq: 1 }] })
  const {
    content: _content,
    structuredContent,
    ...beside
  } = await on.raw('activity_recent', {
    session: 'plan',
    kinds: 'question',
  })
  expect(beside).toMatchObject(structuredContent as object)
  expect(beside).toMatchObject({
    feature_enabled: true,
    rows: [{}, { turn_id: 't1', kind: 'question', preview: 'is the pump on?' }],
  })
}
