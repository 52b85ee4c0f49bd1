import { emitWithinBudget } from 'crux-retrieval'
import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FactQuery } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const HOUR_MS = 3_600_000
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const annaToo: Caller = { ...agentCaller('anna2'), identity: 'pass-anna', aliases: ['anna'] }
const acme: Caller = { ...agentCaller('anna'), tenant: 'acme' }
const CALLERS = [ANONYMOUS, anna, bert, annaToo, acme]

async function openEmpty() {
  const clock = new ManualClock(NOON)
  const store = await openFactStore({ journal: createMemoryJournal(), clock })
  return { clock, store }
}

describe('queryFacts', () => {
  it('finds a word in value, key or entity, in any letter case', async () => {
    const ask = await withFacts([
      ['entity:deploy', 'k', 'x', 'in entity'],
      ['e', 'deploy-key', 'x', 'in key'],
      ['e', 'k2', 'last\tDEPLOY\nwas fine', 'in value'],
      ['e', 'k3', 'x', 'nowhere'],
    ])
    expect(await ask('dePloY')).toEqual(['in value', 'in key', 'in entity'])
    expect(await ask('zzz\tdeploy')).toEqual(['in value', 'in key', 'in entity'])
    expect(await ask('zzz\n\n deploy ')).toEqual(['in value', 'in key', 'in entity'])
  })

  it('joins the words with OR (RET-11.2-match-or)', async () => {
    const ask = await withFacts([
      ['a', 'k', 'we deploy', 'deploy'],
      ['b', 'k', 'the status', 'status'],
      ['c', 'k', 'neither', 'neither'],
    ])
    expect(await ask('deploy status')).toEqual(['status', 'deploy'])
  })

  it('ranks a newer fact with one hit above an older one with two (RET-11.2-match-no-hitcount)', async () => {
    const ask = await withFacts([
      ['a', 'k', 'deploy status', 'two hits'],
      ['b', 'k', 'deploy only', 'one hit'],
    ])
    expect(await ask('deploy status')).toEqual(['one hit', 'two hits'])
  })

  it('does not stem (RET-11.2-match-no-stem)', async () => {
    const ask = await withFacts([['a', 'k', 'it was deployed', 'deployed']])
    expect(await ask('deploying')).toEqual([])
    expect(await ask('deploy')).toEqual(['deployed'])
  })

  it('cuts words at white space only (RET-11.2-match-whitespace-only)', async () => {
    const ask = await withFacts([['a', 'k', 'deploy status', 'x']])
    expect(await ask('deploy-status')).toEqual([])
    expect(await ask('deploy,status')).toEqual([])
    expect(await ask('deploy\u2003status')).toEqual(['x'])
  })

  it('takes quotes literally (RET-11.2-match-no-phrase)', async () => {
    const ask = await withFacts([
      ['a', 'k', 'blue green deploy', 'plain'],
      ['b', 'k', 'a "blue thing', 'quoted'],
    ])
    expect(await ask('"blue green"')).toEqual(['quoted'])
  })

  it('gives rare and common words the same weight (RET-11.2-match-no-idf)', async () => {
    const ask = await withFacts([
      ['a', 'k', 'rareword', 'rare'],
      ...Array.from({ length: 9 }, (_, i) => [`b${i}`, 'k', 'common', `common ${i}`] as const),
    ])
    expect((await ask('rareword common')).at(-1)).toBe('rare')
  })

  it('knows no synonyms (RET-11.0-no-synonyms)', async () => {
    const ask = await withFacts([['note', 'n', 'release procedure', 'x']])
    expect(await ask('how do we deploy')).toEqual([])
  })

  it("matches a private fact's own name and not its stored form (RET-11.2-match-visible-entity)", async () => {
    const { store } = await openEmpty()
    await store.store(anna, { entity: 'diary', key: 'k', value: 'v', private: true })
    const count = async (query: string) => (await store.query(anna, { query })).matched
    expect(await count('diar')).toBe(1)
    for (const query of ['__agent::', '__agent', 'agent::anna', 'anna', '::', '::diary']) {
      expect(await count(query)).toBe(0)
    }
  })

  it('matches nothing for a blank query and all without one', async () => {
    const ask = await withFacts([['a', 'k', 'v', 'x']])
    expect(await ask('')).toEqual([])
    expect(await ask(' \t\u3000')).toEqual([])
    expect(await ask(undefined)).toEqual(['x'])
  })

  it('leaves out deleted facts in every case (RET-11.2-filter-deleted)', async () => {
    const { store } = await openEmpty()
    const { fact } = await store.store(ANONYMOUS, { entity: 'e', key: 'k', value: 'word' })
    await store.delete(ANONYMOUS, fact.fact_id)
    const page = await store.query(ANONYMOUS, { query: 'word', includeSuperseded: true })
    expect(page.matched).toBe(0)
  })

  it('takes world time as half open (RET-11.2-filter-asof)', async () => {
    const { store } = await openEmpty()
    const { fact } = await store.store(ANONYMOUS, { entity: 'e', key: 'k', value: 'word' })
    await store.setValidity(ANONYMOUS, fact.fact_id, { from: NOON, to: NOON + 1000 })
    const count = async (asOf?: number) =>
      (await store.query(ANONYMOUS, asOf === undefined ? {} : { asOf })).matched
    expect(await Promise.all([NOON - 1, NOON, NOON + 999, NOON + 1000].map(count))).toEqual([
      0, 1, 1, 0,
    ])
    expect(await count()).toBe(1)
    await store.setValidity(ANONYMOUS, fact.fact_id, {})
    expect(await count(NOON - 1)).toBe(1)
  })

  it('hides what a newer value replaced unless asked (RET-11.2-filter-superseded)', async () => {
    const { store } = await openEmpty()
    for (const value of ['one', 'two'])
      await store.store(ANONYMOUS, { entity: 'e', key: 'k', value })
    expect((await store.query(ANONYMOUS, {})).rows.map((row) => row.fact.value)).toEqual(['two'])
    const all = await store.query(ANONYMOUS, { includeSuperseded: true })
    expect(all.rows.map((row) => row.fact.value)).toEqual(['two', 'one'])
  })

  it('shows private facts to their owner only (RET-11.2-filter-visibility)', async () => {
    const { store } = await openEmpty()
    await store.store(anna, { entity: 'e', key: 'k', value: 'word', private: true })
    const counts = CALLERS.map(
      async (caller) => (await store.query(caller, { query: 'word' })).matched,
    )
    expect(await Promise.all(counts)).toEqual([0, 1, 0, 1, 0])
  })

  it('keeps tenants apart (RET-11.2-filter-tenant)', async () => {
    const { store } = await openEmpty()
    await store.store(anna, { entity: 'e', key: 'k', value: 'word' })
    await store.store(acme, { entity: 'e', key: 'k', value: 'word' })
    for (const caller of [anna, acme]) {
      const page = await store.query(caller, { query: 'word' })
      expect(page.rows.map((row) => row.fact.tenant_hash)).toEqual([caller.tenant])
      expect(page.rows[0]?.fact.version).toBe(1)
    }
  })

  it('narrows to a namespace or to one entity (RET-11.2-filter-prefix, RET-11.2-filter-entity)', async () => {
    const { store } = await openEmpty()
    for (const entity of ['execplan:a', 'execplan:ab', 'bench:1', 'xexecplan:a']) {
      await store.store(ANONYMOUS, { entity, key: 'k', value: entity })
    }
    const values = async (query: FactQuery) =>
      (await store.query(ANONYMOUS, query)).rows.map((row) => row.fact.value)
    expect(await values({ entityPrefix: 'execplan:' })).toEqual(['execplan:ab', 'execplan:a'])
    expect(await values({ entity: 'execplan:a' })).toEqual(['execplan:a'])
    expect(await values({ entity: 'execplan:' })).toEqual([])
    expect(await values({ entity: 'execplan:a', entityPrefix: 'bench:' })).toEqual([])
  })

  it('ranks by confidence after decay (RET-11.2-rank-confidence)', async () => {
    const { store, clock } = await openEmpty()
    await store.store(ANONYMOUS, {
      entity: 'e',
      key: 'stale',
      value: 'stale',
      confidence: 0.9,
      horizonClass: 'volatile',
    })
    clock.advance(25 * HOUR_MS)
    await store.store(ANONYMOUS, { entity: 'e', key: 'fresh', value: 'fresh', confidence: 0.5 })
    const { rows } = await store.query(ANONYMOUS, {})
    expect(rows.map((row) => [row.fact.value, row.freshness, row.ageHours])).toEqual([
      ['fresh', 'fresh', 0],
      ['stale', 'stale', 25],
    ])
    expect(rows[1]?.effectiveConfidence).toBe(Math.fround(0.9) / 2)
    expect(rows[1]?.fact.confidence).toBe(Math.fround(0.9))
  })

  it('puts the newer of equals first, also within a millisecond (RET-11.2-rank-tiebreak)', async () => {
    const { store, clock } = await openEmpty()
    for (const value of ['1', '2', '3', '4']) {
      await store.store(ANONYMOUS, { entity: 'e', key: value, value })
      if (value === '2') clock.advance(5)
    }
    const { rows } = await store.query(ANONYMOUS, {})
    expect(rows.map((row) => row.fact.value)).toEqual(['4', '3', '2', '1'])
  })

  it('counts what the floor drops before anything is cut (RET-11.2-floor-count, RET-11.2-floor-before-budget)', async () => {
    const { store } = await openEmpty()
    for (const confidence of [0.9, 0.8, 0.7, 0.6]) {
      await store.store(ANONYMOUS, { entity: 'e', key: `${confidence}`, value: 'v', confidence })
    }
    for (const cut of [{ topK: 1 }, { tokenBudget: 1 }]) {
      const page = await store.query(ANONYMOUS, { minEffectiveConfidence: 0.8, ...cut })
      expect(page.rows.map((row) => row.fact.key)).toEqual(['0.9'])
      expect(page).toMatchObject({ matched: 2, filteredBelowThreshold: 2 })
    }
  })

  it('compares the floor as a 32-bit float', async () => {
    const { store } = await openEmpty()
    await store.store(ANONYMOUS, { entity: 'e', key: 'k', value: 'v', confidence: 0.95 })
    expect((await store.query(ANONYMOUS, { minEffectiveConfidence: 0.95 })).matched).toBe(1)
  })

  it('fills a budget greedily, with at least one row (RET-11.2-stage5-budget, RET-11.9-shape-a)', async () => {
    expect(await taken([30, 30, 30], { tokenBudget: 70 })).toEqual([30, 30])
    expect(await taken([30, 30, 30], { tokenBudget: 1 })).toEqual([30])
    expect(await taken([30, 30, 30], { tokenBudget: 0 })).toEqual([30])
    expect(
      await taken(
        Array.from({ length: 30 }, () => 300),
        { tokenBudget: 1000 },
      ),
    ).toHaveLength(3)
    expect(await taken([500, 80, 80], { tokenBudget: 100 })).toEqual([500])
    expect(await taken([10, 500, 10], { tokenBudget: 100 })).toEqual([10])
    expect(await taken([1, 1, 1, 1], { tokenBudget: 3, topK: 1 })).toEqual([1, 1, 1])
  })

  it('gives ten rows without a budget, or as many as asked (RET-11.2-stage5-topk)', async () => {
    const fifteen = Array.from({ length: 15 }, () => 1)
    expect(await taken(fifteen, {})).toHaveLength(10)
    expect(await taken(fifteen, { topK: 3 })).toHaveLength(3)
    expect(await taken(fifteen, { topK: 0 })).toHaveLength(0)
  })

  it('keeps what does not fit as pointers when asked to', async () => {
    const store = await withTokens(Array.from({ length: 30 }, () => 300))
    const page = await store.query(ANONYMOUS, { tokenBudget: 1000, overflow: 'tiered' })
    expect(page).toMatchObject({ hydrated: 3, matched: 30, totalTokens: 900 })
    expect(page.rows).toHaveLength(5)
  })

  it('answers with a prefix of the whole ranking under any budget (RET-11.0-budget-not-filter)', async () => {
    const few = fc.array(fc.nat(60), { maxLength: 40 })
    // More rows than a ranking window holds.
    const many = fc.array(fc.nat(2), { minLength: 300, maxLength: 600 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(few, many), fc.nat(1500), async (sizes, tokenBudget) => {
        const store = await withTokens(sizes)
        const all = await store.query(ANONYMOUS, { topK: sizes.length })
        expect(all.rows.map((row) => row.fact.tokens)).toEqual(sizes)
        for (const overflow of ['drop', 'tiered'] as const) {
          const page = await store.query(ANONYMOUS, { tokenBudget, overflow })
          const ids = all.rows.map((row) => row.fact.fact_id).slice(0, page.rows.length)
          expect(page.rows.map((row) => row.fact.fact_id)).toEqual(ids)
          expect(page.matched).toBe(sizes.length)
          const { full, emit } = emitWithinBudget(sizes, tokenBudget)
          expect([page.hydrated, ids.length]).toEqual([full, overflow === 'tiered' ? emit : full])
        }
      }),
      { numRuns: 20 },
    )
  })

  it('gives equal answers to equal questions (RET-11.0-deterministic)', async () => {
    const { store } = await openEmpty()
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        store.store(ANONYMOUS, { entity: `e${i % 7}`, key: `${i}`, value: `word ${i}` }),
      ),
    )
    const ask = () => store.query(ANONYMOUS, { query: 'word 7', topK: 30 })
    expect(await ask()).toEqual(await ask())
  })

  it.each([
    [{ minEffectiveConfidence: 1.01 }, 'CONFIDENCE_INVALID'],
    [{ minEffectiveConfidence: -0.1 }, 'CONFIDENCE_INVALID'],
    [{ minEffectiveConfidence: Number.NaN }, 'CONFIDENCE_INVALID'],
    [{ topK: -1 }, 'QUERY_INVALID'],
    [{ topK: 1.5 }, 'QUERY_INVALID'],
    [{ tokenBudget: Number.NaN }, 'QUERY_INVALID'],
    [{ query: '\ud800' }, 'TEXT_INVALID'],
  ])('refuses %j', async (query, code) => {
    const { store } = await openEmpty()
    await expect(store.query(ANONYMOUS, query)).rejects.toMatchObject({ code })
  })

  it('answers nothing for a tenant that was never written', async () => {
    const { store } = await openEmpty()
    expect(await store.query(acme, { query: 'x' })).toEqual({
      rows: [],
      hydrated: 0,
      matched: 0,
      filteredBelowThreshold: 0,
      totalTokens: 0,
      hasMoved: false,
    })
  })

  it('sees either a fact or what replaced it while writes go on', async () => {
    const { store } = await openEmpty()
    for (let i = 0; i < 3000; i++)
      void store.store(ANONYMOUS, { entity: 'e', key: `${i}`, value: 'x' })
    await store.store(ANONYMOUS, { entity: 'hot', key: 'k', value: 'needle 0' })
    const writing = (async () => {
      for (let i = 1; i < 200; i++) {
        await store.store(ANONYMOUS, { entity: 'hot', key: 'k', value: `needle ${i}` })
      }
    })()
    for (let i = 0; i < 50; i++) {
      expect((await store.query(ANONYMOUS, { query: 'needle' })).matched).toBe(1)
      expect((await store.query(ANONYMOUS, { entity: 'hot' })).matched).toBe(1)
    }
    await writing
  })
})

/** A store with facts of (entity, key, value, name), oldest first; ask gives the names of what is found. */
async function withFacts(facts: readonly (readonly [string, string, string, string])[]) {
  const { store, clock } = await openEmpty()
  const names = new Map<string, string>()
  for (const [entity, key, value, name] of facts) {
    clock.advance(1)
    names.set((await store.store(ANONYMOUS, { entity, key, value })).fact.fact_id, name)
  }
  return async (query: string | undefined) => {
    const { rows } = await store.query(ANONYMOUS, query === undefined ? {} : { query })
    return rows.map((row) => names.get(row.fact.fact_id))
  }
}

/** A store with a fact of each size in tokens, the first ranked best. */
async function withTokens(sizes: readonly number[]) {
  const { store } = await openEmpty()
  await Promise.all(
    [...sizes.entries()]
      .reverse()
      .map(([i, tokens]) =>
        store.store(ANONYMOUS, { entity: 'e', key: `${i}`, value: 'x'.repeat(tokens * 4) }),
      ),
  )
  return store
}

async function taken(sizes: readonly number[], query: FactQuery): Promise<number[]> {
  const page = await (await withTokens(sizes)).query(ANONYMOUS, query)
  const tokens = page.rows.map((row) => row.fact.tokens)
  expect(page.totalTokens).toBe(tokens.reduce((sum, each) => sum + each, 0))
  return tokens
}
