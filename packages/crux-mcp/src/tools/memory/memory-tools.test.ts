import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_FEATURES, type Features } from '../../features.js'
import { parseAgentTokens } from '../../gates/agent-tokens.js'
import { CAPABILITY_DENIED, INVALID_PARAMS } from '../../protocol/codes.js'
import { startTestServer, type TestServer } from '../../testing/test-server.js'

const DAY_MS = 86_400_000
/** BLAKE3 of `yes`. */
const YES_HASH = 'blake3:dd108192bc0be9701b94b68fc964de0a799d2a83bba1150e3c501312a4cd11cf'
const AGENTS = ['anna', 'bert']
const token = (agent: string) => `${agent}-${'0123456789'.repeat(4)}`
const as = (agent: string) => ({ Authorization: `Bearer ${token(agent)}` })
const anna = as('anna')
const bert = as('bert')

let server: TestServer
const start = (features: Partial<Features> = {}) =>
  startTestServer({
    agents: parseAgentTokens(undefined, AGENTS.map((name) => `${name}:${token(name)}`).join(',')),
    features: { ...DEFAULT_FEATURES, ...features },
  })
beforeEach(async () => {
  server = await start()
})
afterEach(() => server.close())

const store = async (entity: string, more: object = {}, who = anna): Promise<string> =>
  (await server.call('store_fact', { entity, key: 'k', value: 'v', ...more }, who)).structured
    .fact_id

/** Facts in force side by side, as an import brings them. */
async function inject(facts: readonly object[]): Promise<void> {
  const whole = facts.map((fact) => ({
    entity: 'flag',
    key: 'k',
    source_receipt: null,
    confidence: 0.9,
    stored_at: '2026-03-01T11:00:00Z',
    deleted: false,
    version: 1,
    ...fact,
  }))
  const bytes = Buffer.from(JSON.stringify({ op: 'store_batch', facts: whole }))
  await server.factJournal.append([{ key: 'default/facts/import', bytes }])
}

describe('memory_pin', () => {
  it('marks a fact for the agent that pinned it, and takes the mark away', async () => {
    const id = await store('e')
    const pinned = await server.call('memory_pin', { fact_id: id }, anna)
    expect(pinned.text).toBe(`pinned fact ${id}`)
    expect(pinned.structured).toEqual({ fact_id: id, pinned: true })
    const view = await server.call('memory_view', {}, anna)
    expect(view.text).toBe(`[e] k = v (id=${id}, v1) [pinned]`)
    expect(view.structured.facts[0].pinned).toBe(true)
    expect((await server.call('memory_view', {}, bert)).structured.facts[0].pinned).toBe(false)
    const loose = await server.call('memory_pin', { fact_id: id, pinned: false }, anna)
    expect(loose.text).toBe(`unpinned fact ${id}`)
    expect((await server.call('memory_view', {}, anna)).text).not.toContain('[pinned]')
  })

  it('refuses with the words that clients know', async () => {
    const reserved = await store('__decisions__::x')
    expect(await server.callError('memory_pin', { fact_id: 'f_0' }, anna)).toEqual({
      code: INVALID_PARAMS,
      message: 'fact not found: f_0',
    })
    expect(await server.callError('memory_pin', { fact_id: reserved }, anna)).toEqual({
      code: INVALID_PARAMS,
      message: 'fact is not pinnable through the memory panel',
    })
  })
})

describe('memory_edit', () => {
  it('puts a corrected version in place, with its receipt and pin', async () => {
    const old = await store('e', { confidence: 0.5 })
    await server.call('memory_pin', { fact_id: old }, anna)
    const args = { fact_id: old, new_value: 'w', reason: 'typo' }
    const edited = await server.call('memory_edit', args, anna)
    const { new_fact } = edited.structured
    expect(edited.text).toBe(`edited fact ${old} → ${new_fact.id} (v2 supersedes ${old})`)
    expect(edited.structured).toEqual({
      old_fact_id: old,
      new_fact: {
        id: expect.stringMatching(/^f_/),
        entity: 'e',
        key: 'k',
        value: 'w',
        version: 2,
        stored_at: '2026-03-01T12:00:00.000+00:00',
        confidence: 0.5,
        pinned: true,
        source_receipt: 'memory_edit:typo',
        actor: null,
      },
      reason: 'typo',
    })
    const recalled = await server.call('query_facts', { entity: 'e' }, anna)
    expect(recalled.structured.rows.map((row: { value: string }) => row.value)).toEqual(['w'])
  })

  it('refuses with the words that clients know', async () => {
    const theirs = await store('e', { private: true }, bert)
    const edit = (fact_id: string) =>
      server.callError('memory_edit', { fact_id, new_value: 'w' }, anna)
    expect(await edit('f_0')).toEqual({ code: INVALID_PARAMS, message: 'fact not found: f_0' })
    expect(await edit(theirs)).toEqual({
      code: INVALID_PARAMS,
      message: 'fact is not editable through the memory panel',
    })
    const missing = await server.callError('memory_edit', { fact_id: 'f_0' }, anna)
    expect(missing.message).toBe('missing required param: new_value')
  })
})

describe('memory_history', () => {
  it('shows every version by names or by id', async () => {
    const first = await store('e', { source_receipt: 'r1' })
    const second = await store('e', { value: 'w' })
    await server.call('delete_fact', { fact_id: second }, anna)
    const history = await server.call('memory_history', { entity: 'e', key: 'k' }, anna)
    expect(history.text.split('\n')).toEqual([
      `v1: k = v (id=${first}, stored_at=2026-03-01 12:00:00 UTC, receipt=r1)`,
      `v2: k = w (id=${second}, stored_at=2026-03-01 12:00:00 UTC, receipt=) [deleted]`,
    ])
    expect(history.structured.versions[1]).toEqual({
      id: second,
      value: 'w',
      version: 2,
      stored_at: '2026-03-01T12:00:00.000+00:00',
      supersedes: first,
      deleted: true,
      source_receipt: null,
    })
    const byId = await server.call('memory_history', { fact_id: first }, bert)
    expect(byId.structured).toEqual(history.structured)
  })

  it('says when there is none, and refuses what it cannot show', async () => {
    const none = await server.call('memory_history', { entity: 'x', key: 'k' }, anna)
    expect(none.text).toBe('no history for entity=x, key=k')
    expect(none.structured).toEqual({ versions: [] })
    expect(await server.callError('memory_history', { entity: 'x' }, anna)).toEqual({
      code: INVALID_PARAMS,
      message: 'memory_history requires either {entity,key} or {fact_id}',
    })
    const reserved = { entity: '__work__::x', key: 'k' }
    expect(await server.callError('memory_history', reserved, anna)).toEqual({
      code: INVALID_PARAMS,
      message: 'memory_history: entity is reserved (not visible through memory panel)',
    })
  })
})

describe('memory_freshness', () => {
  it('lists the oldest facts with their standing and the policy', async () => {
    const id = await store('e', { horizon_class: 'volatile' })
    await store('mine', { private: true })
    server.clock.advance(25 * 3_600_000)
    const report = await server.call('memory_freshness', {}, anna)
    expect(report.text).toBe(`   25h [stale   ] volatile e::k (id=${id})`)
    expect(report.structured).toEqual({
      rows: [
        {
          fact_id: id,
          entity: 'e',
          key: 'k',
          horizon_class: 'volatile',
          freshness: 'stale',
          age_hours: 25,
          stored_at: '2026-03-01T12:00:00.000+00:00',
          reverified_at: null,
        },
      ],
      policy: { volatile_stale_hours: 24, medium_stale_days: 35, stable_stale_days: 365 },
      now: '2026-03-02T13:00:00.000+00:00',
    })
    const none = await server.call('memory_freshness', { entity: 'zzz' }, anna)
    expect(none.text).toBe('no facts in freshness window')
  })
})

describe('memory_sweep_candidates', () => {
  it('says what may go and why, and changes nothing', async () => {
    const old = await store('e')
    const id = await store('e', { value: 'w' })
    const sweep = await server.call('memory_sweep_candidates', {}, anna)
    expect(sweep.text).toBe(`superseded: e::k (id=${old}, age_hours=0)`)
    expect(sweep.structured).toEqual({
      rows: [
        {
          fact_id: old,
          entity: 'e',
          key: 'k',
          reason: 'superseded',
          freshness: 'fresh',
          horizon_class: 'none',
          age_hours: 0,
          superseded_by: id,
          stored_at: '2026-03-01T12:00:00.000+00:00',
        },
      ],
      dry_run: true,
      now: '2026-03-01T12:00:00.000+00:00',
    })
    await server.call('delete_fact', { fact_id: old }, anna)
    const none = await server.call('memory_sweep_candidates', {}, anna)
    expect(none.text).toBe('no sweep candidates (nothing stale, superseded, or ephemeral)')
  })
})

describe('memory_set_horizon and memory_reverify', () => {
  it('change how fresh a fact is', async () => {
    const id = await store('e')
    const set = { fact_id: id, horizon_class: 'volatile' }
    const changed = await server.call('memory_set_horizon', set, bert)
    expect(changed.text).toBe(`set horizon_class=volatile on fact ${id}`)
    expect(changed.structured).toEqual({ ...set, ok: true })
    server.clock.advance(2 * DAY_MS)
    const freshness = async () =>
      (await server.call('memory_freshness', {}, anna)).structured.rows[0].freshness
    expect(await freshness()).toBe('stale')
    const verified = await server.call('memory_reverify', { fact_id: id }, bert)
    const { receipt_id } = verified.structured
    expect(verified.structured).toEqual({
      fact_id: id,
      receipt_id: expect.stringMatching(/^rev_[0-9a-f]{32}$/),
      receipt_class: 'Reverify',
      reverified_at: '2026-03-03T12:00:00.000+00:00',
    })
    expect(verified.text).toBe(
      `re-verified fact ${id} at 2026-03-03T12:00:00.000+00:00 (receipt ${receipt_id}, class=Reverify)`,
    )
    expect(await freshness()).toBe('fresh')
  })

  it('refuse with the words that clients know', async () => {
    const mine = await store('m', { private: true })
    const horizon = (fact_id: string, horizon_class: string) => ({ fact_id, horizon_class })
    const unknown = await server.call('memory_set_horizon', horizon('f_0', 'none'), anna)
    expect([unknown.text, unknown.result.isError]).toEqual(['fact not found: f_0', false])
    const unverified = await server.call('memory_reverify', { fact_id: 'f_0' }, anna)
    expect([unverified.text, unverified.result.isError]).toEqual(['fact not found: f_0', false])
    expect(await server.callError('memory_set_horizon', horizon(mine, 'none'), anna)).toEqual({
      code: CAPABILITY_DENIED,
      message: `cannot set horizon on reserved-prefix fact ${mine}`,
    })
    expect(await server.callError('memory_reverify', { fact_id: mine }, anna)).toEqual({
      code: CAPABILITY_DENIED,
      message: `cannot reverify reserved-prefix fact ${mine}`,
    })
    expect(await server.callError('memory_set_horizon', horizon(mine, 'weekly'), anna)).toEqual({
      code: INVALID_PARAMS,
      message: 'invalid horizon_class: weekly',
    })
  })
})

describe('memory_contradictions', () => {
  it('lists facts in force that say yes and no, or says that there are none', async () => {
    const none = await server.call('memory_contradictions', {}, anna)
    expect(none.text).toBe(
      'no contradiction candidates (no active opposite-polarity facts sharing entity+key)',
    )
    expect(none.structured).toEqual({ candidates: [], count: 0, limit: 50, dry_run: true })
    await inject([
      { fact_id: 'f_1', value: 'yes' },
      { fact_id: 'f_2', value: 'no' },
    ])
    const found = await server.call('memory_contradictions', { limit: 9999 }, anna)
    expect(found.text).toMatch(/^1 contradiction candidate\(s\) detected; /)
    expect(found.structured).toEqual({
      candidates: [
        {
          entity: 'flag',
          key: 'k',
          reason: 'opposite_polarity_same_entity_key',
          polarity_a: 'negative',
          polarity_b: 'positive',
          fact_ids: ['f_2', 'f_1'],
          values: ['no', 'yes'],
        },
      ],
      count: 1,
      limit: 500,
      dry_run: true,
    })
  })
})

describe('memory_consolidate', () => {
  const ask = (target_fact_ids: readonly string[], more: object = {}) => ({
    entity: 'flag',
    key: 'k',
    canonical_value: 'yes',
    target_fact_ids,
    ...more,
  })

  it('replaces facts by one and gives a receipt', async () => {
    await inject([
      { fact_id: 'f_1', value: 'yes' },
      { fact_id: 'f_2', value: 'no' },
    ])
    const done = await server.call('memory_consolidate', ask(['f_1', 'f_2']), anna)
    const { receipt } = done.structured
    expect(done.structured).toEqual({
      status: 'consolidated',
      receipt: {
        consolidation_id: expect.stringMatching(/^mcp-[0-9a-f]{32}$/),
        canonical_fact_id: expect.stringMatching(/^f_[0-9a-f]{32}$/),
        canonical_hash: YES_HASH,
        superseded_fact_ids: ['f_1', 'f_2'],
        source_fact_ids: ['f_1', 'f_2'],
      },
    })
    expect(done.text).toBe(
      `consolidated 2 target(s) into canonical fact ${receipt.canonical_fact_id} (receipt ${receipt.consolidation_id}); history preserved`,
    )
    const again = await server.call('memory_contradictions', {}, anna)
    expect(again.structured.count).toBe(0)
  })

  it('refuses slips as such and protected facts as denied, and changes nothing', async () => {
    const sure = await store('flag')
    const refusals: [object, number, string][] = [
      [ask([]), INVALID_PARAMS, 'target_fact_ids must be a non-empty array'],
      [
        { ...ask([]), target_fact_ids: 'f_1' },
        INVALID_PARAMS,
        'target_fact_ids must be a non-empty array',
      ],
      [ask(['f_0']), INVALID_PARAMS, 'target fact not found: f_0'],
      [
        ask([sure]),
        CAPABILITY_DENIED,
        `target fact confidence is protected: ${sure} confidence=1.000`,
      ],
      [
        ask([sure], { protected_fact_ids: [sure] }),
        CAPABILITY_DENIED,
        `target fact is protected by caller: ${sure}`,
      ],
    ]
    for (const [args, code, message] of refusals) {
      expect(await server.callError('memory_consolidate', args, anna)).toEqual({ code, message })
    }
    const recalled = await server.call('query_facts', { entity: 'flag' }, anna)
    expect(recalled.structured.rows[0].fact_id).toBe(sure)
    const raised = ask([sure], { protected_confidence_floor: 1.01, horizon_class: 'weekly' })
    const done = await server.call('memory_consolidate', raised, anna)
    expect(done.crux.warning).toContain("horizon_class 'weekly' is not known and was ignored")
  })
})

describe('memory_acknowledge_use', () => {
  it('counts what a turn used, and says it beside content too', async () => {
    await server.close()
    server = await start({ memoryAck: true })
    const id = await store('e')
    const mine = await store('m', { private: true })
    const theirs = await store('t', { private: true }, bert)
    server.clock.advance(2 * DAY_MS)
    const args = { turn_id: 't1', fact_ids: [id, mine, theirs, 'f_0', 7] }
    const said = await server.call('memory_acknowledge_use', args, anna)
    expect(said.structured).toEqual({
      turn_id: 't1',
      intent: 'answer',
      feature_enabled: true,
      receipt_ref: 'mu_anna_t1',
      memories_used: [{ fact_id: id, topic: 'e', age_days: 2 }],
      filtered_count: 1,
      redacted_count: 1,
      not_found_count: 1,
      not_visible_count: 1,
    })
    expect(said.result).toMatchObject(said.structured)
    expect(said.text).toBe(
      'acknowledged 1 memories for turn t1 (intent=answer, actor=anna, receipt_ref=mu_anna_t1, redacted=1, not_found=1, not_visible=1)',
    )
  })

  it('says that it is off, after it looked at what it was asked', async () => {
    const off = await server.call('memory_acknowledge_use', { turn_id: 't1' }, anna)
    expect(off.text).toBe(
      'memory_acknowledge_use: feature disabled (CORECRUXD_FEATURE_MEMORY_ACK off). Turn t1 not recorded. Set the flag at deploy time to enable.',
    )
    const answer = {
      turn_id: 't1',
      feature_enabled: false,
      memories_used: [],
      filtered_count: 0,
    }
    expect(off.structured).toEqual(answer)
    expect(off.result).toMatchObject(answer)
    expect(await server.callError('memory_acknowledge_use', {}, anna)).toEqual({
      code: INVALID_PARAMS,
      message: 'turn_id is required (opaque per-host turn identifier)',
    })
    const wrong = { turn_id: 't1', fact_ids: 'f_1' }
    expect(await server.callError('memory_acknowledge_use', wrong, anna)).toEqual({
      code: INVALID_PARAMS,
      message: 'fact_ids must be an array of strings',
    })
  })
})

describe('callers without a name', () => {
  it('look, and change nothing', async () => {
    await server.close()
    server = await startTestServer()
    const fact = { fact_id: 'f_0' }
    const refusals: [string, object, number, string][] = [
      [
        'memory_edit',
        { ...fact, new_value: 'w' },
        INVALID_PARAMS,
        'memory_edit requires an authenticated agent identity',
      ],
      ['memory_pin', fact, INVALID_PARAMS, 'memory_pin requires an authenticated agent identity'],
      [
        'memory_acknowledge_use',
        {},
        INVALID_PARAMS,
        'memory_acknowledge_use requires an authenticated agent identity (passport). Set CRUX_AGENT_TOKEN or CRUX_AGENT_TOKENS and pass a Bearer header.',
      ],
      ...['memory_set_horizon', 'memory_reverify', 'memory_consolidate'].map(
        (tool): [string, object, number, string] => [
          tool,
          fact,
          CAPABILITY_DENIED,
          `${tool} requires an authenticated passport (anonymous calls rejected)`,
        ],
      ),
    ]
    for (const [tool, args, code, message] of refusals) {
      expect(await server.callError(tool, args)).toMatchObject({ code, message })
    }
    for (const tool of ['memory_view', 'memory_freshness', 'memory_contradictions']) {
      expect((await server.call(tool)).result.isError).not.toBe(true)
    }
  })
})

describe('what is switched off', () => {
  it('says so in the way of its group, whatever it was asked', async () => {
    await server.close()
    server = await start({ memoryPanel: false, freshness: false, consolidation: false })
    for (const tool of ['memory_view', 'memory_edit', 'memory_pin', 'memory_history']) {
      const off = await server.call(tool, {}, anna)
      expect(off.text).toBe(
        `${tool}: memory panel explicitly disabled (unset CORECRUXD_FEATURE_MEMORY_PANEL to re-enable; it is on by default)`,
      )
      expect(off.result.isError).toBe(false)
      expect(off.structured).toBeUndefined()
    }
    const denied = {
      FRESHNESS: [
        'memory_freshness',
        'memory_sweep_candidates',
        'memory_set_horizon',
        'memory_reverify',
      ],
      CONSOLIDATION: ['memory_contradictions', 'memory_consolidate'],
    }
    for (const [flag, tools] of Object.entries(denied)) {
      for (const tool of tools) {
        expect(await server.callError(tool, {}, anna)).toEqual({
          code: CAPABILITY_DENIED,
          message: `${flag.toLowerCase()} feature explicitly disabled (unset CORECRUXD_FEATURE_${flag} to re-enable; it is on by default)`,
        })
      }
    }
  })
})
