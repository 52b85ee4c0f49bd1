import { blake3 } from '@noble/hashes/blake3.js'
import { activityInputSchema } from 'crux-observe'
import { agentCaller } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_FEATURES } from '../../features.js'
import { ingestTexts, startTestServer, type TestServer } from '../../testing/test-server.js'

const TOKENS = { anna: 'a'.repeat(40), bert: 'b'.repeat(40) }
const credentials = Object.entries(TOKENS).map(([name, token]) => ({
  name,
  tokenHash: Buffer.from(blake3(Buffer.from(token))).toString('hex'),
  caller: agentCaller(name),
}))
const as = (name: keyof typeof TOKENS) => ({ Authorization: `Bearer ${TOKENS[name]}` })
const scope = (value: string) => ({ type: 'entity_prefix', value })

async function open(overrides: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  return startTestServer({ agents: credentials, ...overrides })
}

let server: TestServer
beforeAll(async () => {
  server = await open()
  await put('seed', 'not in any scope')
})
afterAll(() => server.close())

async function put(entity: string, value: string, more: object = {}): Promise<string> {
  const args = { entity, key: 'k', value, ...more }
  return (await server.call('store_fact', args, as('anna'))).structured.fact_id
}

describe('memory_forget_dry_run', () => {
  it('counts everything in scope without a budget, and so does memory_forget (MCP-11.11-C-memory_forget)', async () => {
    for (let i = 0; i < 50; i++) await put(`fifty:${i}`, 'x'.repeat(400))
    const args = { scope: scope('fifty:') }
    const { structured, text } = await server.call('memory_forget_dry_run', args, as('anna'))
    expect(structured.count).toBe(50)
    expect(structured.facts_that_would_be_affected).toHaveLength(50)
    expect(structured).toMatchObject({ scope: args.scope, dry_run: true, confirm_required: false })
    expect(text).toBe(
      'dry-run: 50 facts would be forgotten (entity_prefix:fifty:); see structured `facts_that_would_be_affected`',
    )
    const cut = { ...args, token_budget: 250 }
    expect((await server.call('memory_forget_dry_run', cut, as('anna'))).structured.count).toBe(2)
    const done = await server.call('memory_forget', { ...args, reason: 'test' }, as('anna'))
    expect(done.structured.facts_affected).toBe(50)
    const again = await server.call('memory_forget_dry_run', args, as('anna'))
    expect(again.text).toBe('dry-run: no facts match scope (entity_prefix:fifty:)')
  })

  it('lists copies that forgetting does not reach', async () => {
    const value = 'the combination is four-two-seven'
    await put('copied', value)
    await ingestTexts(server, 'default', [`he wrote: ${value}.`, 'another passage'], 'memo.md')
    const state = { notes: [value] }
    await server.call('save_session', { session_id: 'plan', state }, as('anna'))
    const record = { kind: 'user_prompt', provider: 'claude-code', payload: { text: value } }
    const kept = await server.services.observations.record(agentCaller('anna'), 'work', [record])
    const said = { session_id: 'work', kind: 'answer', text: `I found: ${value}`, private: true }
    const entry = await server.services.activity?.record(
      agentCaller('anna'),
      undefined,
      activityInputSchema.parse(said),
    )
    const { structured } = await server.call(
      'memory_forget_dry_run',
      { scope: scope('copied') },
      as('anna'),
    )
    expect(structured.copies_elsewhere).toEqual({
      documents: [{ corpus: 'docs', doc_id: 'memo.md', chunk_ref: expect.any(String) }],
      sessions: ['plan'],
      observations: [{ session_id: 'work', observation_id: kept[0]?.observationId }],
      activity: [{ session_id: 'work', entry_id: entry?.entry_id }],
    })
    // What is private to others is none of bert's business.
    const his = await server.call('memory_forget_dry_run', { scope: scope('copied') }, as('bert'))
    expect(his.structured.copies_elsewhere).toMatchObject({
      sessions: [],
      observations: [],
      activity: [],
    })
  })

  it('needs no identity, and says what a scope may be', async () => {
    const anonymous = await startTestServer()
    const { structured } = await anonymous.call('memory_forget_dry_run', { scope: scope('x') })
    expect(structured.count).toBe(0)
    await anonymous.close()
    const error = (args: object) => server.callError('memory_forget_dry_run', args, as('anna'))
    expect(await error({})).toEqual({ code: -32602, message: 'missing required param: scope' })
    expect(await error({ scope: { type: 'all', value: 'x' } })).toEqual({
      code: -32602,
      message: 'invalid scope: unknown type "all"',
    })
    expect((await error({ scope: 'x' })).message).toBe(
      'invalid scope: expected an object {type, value}',
    )
  })
})

describe('memory_forget', () => {
  it('answers beside content and in structuredContent, on raw HTTP', async () => {
    await put('raw', 'value')
    const { result, structured, text } = await server.call(
      'memory_forget',
      { scope: scope('raw'), reason: 'asked' },
      as('anna'),
    )
    for (const [name, value] of Object.entries(structured)) expect(result[name]).toEqual(value)
    expect(structured).toMatchObject({
      forget_receipt_id: expect.stringMatching(/^r_forget_[0-9a-f]{16}$/),
      facts_affected: 1,
      recovery_window_seconds: 604_800,
      recovery_window_ends_at: '2026-03-08T12:00:00.000+00:00',
      scope: scope('raw'),
      passport_id: 'anna',
    })
    const body = Buffer.from(structured.receipt_body_cbor_hex, 'hex')
    expect(Buffer.from(blake3(body)).toString('hex')).toBe(structured.receipt_body_hash_hex)
    expect(text).toBe(
      `forget receipt ${structured.forget_receipt_id} emitted: 1 facts soft-deleted (scope=entity_prefix:raw); recovery window ends 2026-03-08T12:00:00.000+00:00`,
    )
    const history = await server.call('fact_history', { entity: 'raw', key: 'k' }, as('anna'))
    expect(history.text).toContain(' = [forgotten] (')
    const found = await server.call('query_facts', { query: 'value', entity: 'raw' }, as('anna'))
    expect(found.text).toBe('no facts found')
  })

  it('forgets the own private facts, and nobody else’s', async () => {
    await put('diary', 'mine', { private: true })
    const args = { scope: { type: 'passport_id', value: 'anna' }, reason: 'r' }
    const his = await server.call('memory_forget', args, as('bert'))
    expect(his.structured.facts_affected).toBe(0)
    const hers = await server.call('memory_forget', args, as('anna'))
    expect(hers.structured.facts_affected).toBe(1)
  })

  it('keeps pinned facts unless told otherwise', async () => {
    const id = await put('pinned', 'v')
    await server.call('memory_pin', { fact_id: id }, as('anna'))
    const args = { scope: scope('pinned'), reason: 'r' }
    const kept = await server.call('memory_forget', args, as('anna'))
    expect(kept.structured.facts_affected).toBe(0)
    const gone = await server.call('memory_forget', { ...args, include_pinned: true }, as('anna'))
    expect(gone.structured.facts_affected).toBe(1)
    expect(gone.crux).toBeUndefined()
  })

  it('wants a large scope confirmed, for the very set that was shown', async () => {
    for (let i = 0; i < 101; i++) await put(`many:${i}`, 'v')
    const args = { scope: scope('many:'), reason: 'r' }
    const missing = await server.callError('memory_forget', args, as('anna'))
    expect(missing.code).toBe(-32602)
    expect(missing.message).toContain('the scope matches 101 facts, more than 100 facts')
    const dry = await server.call('memory_forget_dry_run', { scope: args.scope }, as('anna'))
    await put('many:more', 'v')
    const confirmed = { ...args, confirm: dry.structured.confirm }
    const stale = await server.callError('memory_forget', confirmed, as('anna'))
    expect(stale.message).toContain('the scope now matches 102 facts; nothing was forgotten')
    const fresh = await server.call('memory_forget_dry_run', { scope: args.scope }, as('anna'))
    const done = await server.call(
      'memory_forget',
      { ...args, confirm: fresh.structured.confirm },
      as('anna'),
    )
    expect(done.structured.facts_affected).toBe(102)
  })

  it('is refused by legal holds with a code of its own', async () => {
    await put('held', 'v')
    const { hold } = await server.services.facts.legalHolds.place(
      { ...agentCaller('op'), kind: 'http' },
      { tenantId: 'default', entityPrefixes: ['held'], reason: 'case' },
    )
    const args = { scope: scope('held'), reason: 'r' }
    expect(await server.callError('memory_forget', args, as('anna'))).toEqual({
      code: -32044,
      message: 'memory_forget refused: 1 active legal hold(s) cover the requested facts',
    })
    const { structured } = await server.call(
      'memory_forget_dry_run',
      { scope: args.scope },
      as('anna'),
    )
    expect(structured.active_legal_holds).toEqual([hold.hold_id])
  })

  it('checks the switch, then who asks, then scope, then reason', async () => {
    const off = await open({ features: { ...DEFAULT_FEATURES, scopedForget: false } })
    expect(await off.callError('memory_forget', {}, as('anna'))).toEqual({
      code: -32601,
      message: 'memory_forget is disabled (set CORECRUXD_FEATURE_SCOPED_FORGET=1 to enable)',
    })
    const dry = await off.call('memory_forget_dry_run', { scope: scope('x') }, as('anna'))
    expect(dry.structured.count).toBe(0)
    await off.close()
    const anonymous = await startTestServer()
    expect(await anonymous.callError('memory_forget', {})).toMatchObject({
      code: -32602,
      message: 'memory_forget requires an authenticated agent identity (passport)',
    })
    await anonymous.close()
    const message = async (args: object) =>
      (await server.callError('memory_forget', args, as('anna'))).message
    expect(await message({ reason: 'r' })).toBe('missing required param: scope')
    const reason = 'memory_forget requires a non-empty `reason`'
    expect(await message({ scope: scope('x') })).toBe(reason)
    expect(await message({ scope: scope('x'), reason: ' ' })).toBe(reason)
  })
})
