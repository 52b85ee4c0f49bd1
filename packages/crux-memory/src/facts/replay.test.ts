import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FactStore } from '../fact-store.js'
import { type FactStoreOptions, openFactStore } from '../open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const acme: Caller = { ...anna, tenant: 'acme' }
const CALLERS = [ANONYMOUS, anna, bert, acme, SYSTEM]
const ENTITIES = ['service', 'execplan:a', '__bootstrap__::doc:x', 'decisions::d', '部署']
const KEYS = ['k', 'l']

async function open(journal: Journal, options: Partial<FactStoreOptions> = {}) {
  const warnings: string[] = []
  const store = await openFactStore({
    journal,
    clock: new ManualClock(NOON),
    onWarning: (message) => warnings.push(message),
    ...options,
  })
  return { store, warnings }
}

/** Everything that any caller can read. */
async function stateOf(store: FactStore) {
  const perCaller = CALLERS.map(async (caller) => ({
    query: await store.query(caller, { includeSuperseded: true, topK: 1000 }),
    words: await store.query(caller, { query: 'a 1 部', topK: 1000 }),
    asOf: await store.query(caller, { asOf: NOON, topK: 1000 }),
    entities: await store.entities(caller),
    view: await store.view(caller, { topK: 1000 }),
    bootstrap: await store.bootstrap(caller, { entityPrefix: '__bootstrap__::' }),
    history: await Promise.all(
      ENTITIES.flatMap((entity) => KEYS.map((key) => store.history(caller, entity, key))),
    ),
  }))
  // How far the index is, is no state.
  const { live, versions } = store.stats()
  return { stats: { live, versions }, perCaller: await Promise.all(perCaller) }
}

const line = (value: unknown) => ({ key: '', bytes: Buffer.from(JSON.stringify(value)) })

/** A journal that holds lines of another program: without keys. */
async function foreign(lines: readonly unknown[]): Promise<Journal> {
  const inner = createMemoryJournal()
  const follow: Journal['follow'] = async (stream, from, apply, signal) => {
    for (const [i, value] of lines.entries()) {
      const bytes = typeof value === 'string' ? Buffer.from(value) : line(value).bytes
      apply({ key: '', bytes }, i + 1)
    }
    return inner.follow(stream, from, apply, signal)
  }
  return { ...inner, follow }
}

const fact = (id: string, more: Record<string, unknown> = {}) => ({
  fact_id: id,
  entity: 'e',
  key: id,
  value: `value of ${id}`,
  source_receipt: null,
  confidence: 1,
  stored_at: '2026-01-15T11:00:00.123456Z',
  tokens: 99,
  deleted: false,
  ...more,
})

describe('replay', () => {
  it('gives the same state from the whole journal and from a snapshot with what follows it', async () => {
    const write = fc.record({
      kind: fc.constant('store' as const),
      who: fc.nat(CALLERS.length - 1),
      entity: fc.constantFrom(...ENTITIES),
      key: fc.constantFrom(...KEYS),
      value: fc.constantFrom('a', 'b 1', '部署 a', ''),
      confidence: fc.constantFrom(1, 0.95, 0.5),
      isPrivate: fc.boolean(),
      retires: fc.option(fc.nat(30), { nil: undefined }),
    })
    const change = fc.record({
      kind: fc.constant('change' as const),
      isDelete: fc.boolean(),
      which: fc.nat(30),
    })
    const other = fc.constantFrom({ kind: 'snapshot' as const }, { kind: 'restart' as const })
    const commands = fc.array(
      fc.oneof(
        { arbitrary: write, weight: 6 },
        { arbitrary: change, weight: 2 },
        { arbitrary: other, weight: 1 },
      ),
      { maxLength: 25 },
    )
    await fc.assert(
      fc.asyncProperty(commands, async (steps) => {
        const journal = createMemoryJournal()
        const withoutSnapshot: Journal = { ...journal, loadSnapshot: async () => undefined }
        let { store } = await open(journal)
        const ids: { caller: Caller; id: string }[] = []
        for (const step of steps) {
          if (step.kind === 'snapshot') {
            await store.snapshot()
          } else if (step.kind === 'restart') {
            await store.close()
            store = (await open(journal)).store
          } else if (step.kind === 'store') {
            const caller = CALLERS[step.who] ?? anna
            const target = ids[step.retires ?? -1]
            const supersedes = target !== undefined && target.caller === caller ? [target.id] : []
            const stored = await store
              .store(caller, {
                entity: step.entity,
                key: step.key,
                value: step.value,
                confidence: step.confidence,
                private: step.isPrivate && caller.identity !== null,
                supersedes,
              })
              .catch(() => undefined)
            if (stored !== undefined) ids.push({ caller, id: stored.fact.fact_id })
          } else {
            const target = ids[step.which]
            if (target === undefined) continue
            if (step.isDelete) await store.delete(target.caller, target.id)
            else
              await store.setValidity(target.caller, target.id, {
                from: NOON,
                to: NOON + step.which,
              })
          }
        }
        const live = await stateOf(store)
        const replayed = await open(withoutSnapshot)
        const restored = await open(journal)
        expect(await stateOf(replayed.store)).toEqual(live)
        expect(await stateOf(restored.store)).toEqual(live)
        expect([...replayed.warnings, ...restored.warnings]).toEqual([])
        // And writing goes on alike.
        const next = await restored.store.store(anna, {
          entity: 'service',
          key: 'k',
          value: 'next',
        })
        const history = await restored.store.history(anna, 'service', 'k')
        // Versions of the private fact of the same name are counted by themselves, and may be more.
        const shared = history.filter(({ fact }) => fact.entity === 'service')
        expect(shared.at(-1)?.fact.fact_id).toBe(next.fact.fact_id)
      }),
      { numRuns: 60 },
    )
  })

  it('takes a snapshot while writes go on', async () => {
    const journal = createMemoryJournal()
    const { store } = await open(journal)
    for (let i = 0; i < 2000; i++)
      void store.store(anna, { entity: 'e', key: `${i}`, value: 'one' })
    await store.store(anna, { entity: 'e', key: 'last', value: 'one' })
    const taking = store.snapshot()
    const { rows } = await store.query(anna, { entity: 'e', topK: 2001 })
    for (const [i, { fact: each }] of rows.entries()) {
      if (i % 3 === 0) void store.delete(anna, each.fact_id)
      else if (i % 3 === 1) void store.store(anna, { entity: 'e', key: each.key, value: 'two' })
    }
    await taking
    await store.store(anna, { entity: 'f', key: 'last', value: 'one' })
    await store.delete(anna, rows[0]?.fact.fact_id ?? '')
    const restored = await open(journal)
    expect(await stateOf(restored.store)).toEqual(await stateOf(store))
    expect(restored.warnings).toEqual([])
  })

  it('reads every kind of line that other programs wrote', async () => {
    const journal = await foreign([
      { op: 'store', fact: fact('f_a') },
      { op: 'store_batch', facts: [fact('f_b'), fact('f_c', { tenant_hash: ' ' })] },
      { op: 'supersede', fact_id: 'f_a', by_fact_id: 'f_b', superseded_at: '2026-01-15T11:00:00Z' },
      { op: 'supersede', fact_id: 'f_c', by_fact_id: 'f_b', superseded_at: '2026-01-15T11:00:00Z' },
      { op: 'clear_supersede', fact_id: 'f_c', cleared_at: '2026-01-15T11:00:00Z' },
      {
        op: 'set_validity',
        fact_id: 'f_b',
        valid_to: '2026-01-15T11:30:00Z',
        set_at: '2026-01-15T11:00:00Z',
      },
      {
        op: 'consolidate',
        canonical: fact('f_d'),
        superseded_fact_ids: ['f_b'],
        consolidated_at: '2026-01-15T11:00:00Z',
      },
      {
        op: 'consolidate',
        canonical: fact('f_e'),
        superseded_fact_ids: ['f_c'],
        consolidated_at: '2026-01-15T11:00:00Z',
      },
      {
        op: 'consolidate_undo',
        canonical_fact_id: 'f_e',
        restored_fact_ids: ['f_c'],
        undone_at: '2026-01-15T11:00:00Z',
      },
      { op: 'delete', fact_id: 'f_d', deleted_at: '2026-01-15T11:00:00Z' },
    ])
    const { store, warnings } = await open(journal)
    expect(warnings).toEqual([])
    const ids = async (more: object) =>
      (await store.query(ANONYMOUS, more)).rows.map((row) => row.fact.fact_id)
    expect(await ids({})).toEqual(['f_c'])
    expect(await ids({ includeSuperseded: true })).toEqual(['f_c', 'f_b', 'f_a'])
    expect(await ids({ includeSuperseded: true, asOf: NOON })).toEqual(['f_c', 'f_a'])
    const kept = (await store.get(ANONYMOUS, 'f_a'))?.fact
    expect(kept).toMatchObject({
      stored_at: '2026-01-15T11:00:00.123456Z',
      tokens: 3,
      superseded_by: 'f_b',
      version: 1,
    })
    // The chain goes on, without a key to compare with at first.
    const stored = await store.store(ANONYMOUS, { entity: 'e', key: 'f_c', value: 'newer' })
    expect(stored.fact).toMatchObject({ version: 2, supersedes: 'f_c' })
    await store.store(ANONYMOUS, { entity: 'e', key: 'f_c', value: 'newest' })
    expect((await store.history(ANONYMOUS, 'e', 'f_c')).map((row) => row.fact.version)).toEqual([
      1, 2, 3,
    ])
  })

  it('takes facts that retire each other in a circle for retired, all of them', async () => {
    const ids = ['f_a', 'f_b', 'f_c']
    const journal = await foreign([
      ...ids.map((id) => ({ op: 'store', fact: fact(id, { key: id }) })),
      ...ids.map((id, i) => ({ op: 'supersede', fact_id: id, by_fact_id: ids[(i + 1) % 3] })),
    ])
    const { store, warnings } = await open(journal)
    expect(warnings).toEqual([])
    expect((await store.query(ANONYMOUS, {})).rows).toEqual([])
    const all = await store.query(ANONYMOUS, { includeSuperseded: true })
    expect(all.rows.map((row) => row.fact.superseded_by).sort()).toEqual(ids)
  })

  it('skips what it cannot read, says so without quoting it, and goes on', async () => {
    const journal = await foreign([
      '{"op":"store","fact":{"value":"secret words"',
      { op: 'store', fact: { ...fact('f_a'), confidence: 'secret words' } },
      { op: 'replace_latest', fact: fact('f_b') },
      { op: 'delete', fact_id: 'f_nowhere', deleted_at: '2026-01-15T11:00:00Z' },
      { op: 'store', fact: fact('f_c') },
      { op: 'store', fact: fact('f_c', { value: 'secret words' }) },
    ])
    const { store, warnings } = await open(journal)
    expect(store.stats()).toMatchObject({ live: 1, versions: 1 })
    expect((await store.get(ANONYMOUS, 'f_c'))?.fact.value).toBe('value of f_c')
    expect(warnings).toHaveLength(5)
    expect(warnings.join()).not.toContain('secret')
  })

  it('applies the privacy policy to what it reads, and only to that', async () => {
    const journal = createMemoryJournal()
    const shared = { privacy: { alwaysPrivate: [], share: ['decisions::'] } }
    const first = await open(journal, shared)
    await first.store.store(anna, { entity: 'decisions::x', key: 'k', value: 'v' })
    await first.store.snapshot()
    const count = async (options: Partial<FactStoreOptions>) => {
      const { store } = await open(journal, options)
      return (await store.query(anna, {})).matched
    }
    expect(await count(shared)).toBe(1)
    expect(await count({})).toBe(0)
    // A snapshot taken under the other policy does not make that stick.
    await (await open(journal, {})).store.snapshot()
    expect(await count(shared)).toBe(1)
  })
})
