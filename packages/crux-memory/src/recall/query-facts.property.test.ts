import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { effectiveConfidence, freshnessAt, horizonsOf } from '../decay.js'
import type { Fact, HorizonClass } from '../fact.js'
import type { FactQuery } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'
import { ownersOf, visibleEntity } from '../privacy.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const HOUR_MS = 3_600_000
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const annaToo: Caller = { ...agentCaller('anna2'), identity: 'pass-anna', aliases: ['anna'] }
const acme: Caller = { ...agentCaller('anna'), tenant: 'acme' }
const CALLERS = [ANONYMOUS, anna, bert, annaToo, acme]

/** What the store should find, computed from plain fact objects without any index. */
function scan(facts: readonly Fact[], caller: Caller, query: FactQuery, now: number) {
  const owners = ownersOf(caller)
  const terms = query.query
    ?.toLowerCase()
    .split(/\p{White_Space}+/u)
    .filter((term) => term !== '')
  const horizons = horizonsOf()
  const matching = facts
    .map((fact, place) => ({
      fact,
      place,
      entity: visibleEntity(owners, fact.entity, fact.private),
    }))
    .filter(({ fact, entity }) => {
      if (fact.deleted || fact.tenant_hash !== caller.tenant || entity === undefined) return false
      if (fact.superseded_by !== undefined && query.includeSuperseded !== true) return false
      if (query.asOf !== undefined) {
        if (fact.valid_from !== undefined && query.asOf < Date.parse(fact.valid_from)) return false
        if (fact.valid_to !== undefined && query.asOf >= Date.parse(fact.valid_to)) return false
      }
      const names = [fact.entity, entity]
      if (query.entity !== undefined && !names.includes(query.entity)) return false
      const { entityPrefix } = query
      if (entityPrefix !== undefined && !names.some((name) => name.startsWith(entityPrefix))) {
        return false
      }
      if (terms === undefined) return true
      const texts = [fact.value, fact.key, entity].map((text) => text.toLowerCase())
      return terms.some((term) => texts.some((text) => text.includes(term)))
    })
    .map(({ fact, place, entity }) => {
      const freshness = freshnessAt(horizons, fact.horizon_class, Date.parse(fact.stored_at), now)
      const confidence = effectiveConfidence(fact.confidence, freshness)
      return {
        id: fact.fact_id,
        tokens: fact.tokens,
        stored: fact.stored_at,
        place,
        entity,
        confidence,
      }
    })
    .sort(
      (a, b) =>
        b.confidence - a.confidence ||
        Date.parse(b.stored) - Date.parse(a.stored) ||
        b.place - a.place,
    )
  const floor = query.minEffectiveConfidence
  const kept = matching.filter((row) => floor === undefined || row.confidence >= Math.fround(floor))
  let hydrated = Math.min(query.topK ?? 10, kept.length)
  let emitted = hydrated
  if (query.tokenBudget !== undefined) {
    let used = 0
    hydrated = 0
    for (const { tokens } of kept) {
      if (hydrated > 0 && (used >= query.tokenBudget || used + tokens > query.tokenBudget)) break
      used += tokens
      hydrated++
    }
    const pointers = Math.floor(Math.max(query.tokenBudget - used, 0) / 40)
    emitted = query.overflow === 'tiered' ? Math.min(hydrated + pointers, kept.length) : hydrated
  }
  return {
    ids: kept.slice(0, emitted).map((row) => row.id),
    entities: kept.slice(0, emitted).map((row) => row.entity),
    hydrated,
    totalTokens: kept.slice(0, hydrated).reduce((sum, row) => sum + row.tokens, 0),
    matched: kept.length,
    filteredBelowThreshold: matching.length - kept.length,
  }
}

async function openEmpty() {
  const clock = new ManualClock(NOON)
  const store = await openFactStore({ journal: createMemoryJournal(), clock })
  return { clock, store, ids: [] as { caller: Caller; id: string }[] }
}

const piece = fc.oneof(
  fc.constantFrom(
    'Deploy',
    'STATUS',
    'ΟΔΟΣ',
    'straße',
    'İstanbul',
    '部署',
    '状态',
    '😀',
    'ok',
    'e',
    '=',
    '"',
  ),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.constantFrom('deploy', 'status', 'deployed-status', 'a'),
)
const gap = fc.constantFrom(
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '\u2003',
  '\u3000',
  '\u0085',
  '\ufeff',
  '',
  '-',
)
const text = fc
  .array(fc.tuple(piece, gap), { maxLength: 6 })
  .map((parts) => parts.flat().join(''))
  .filter((value) => Buffer.from(value).toString() === value)
const name = fc.oneof(
  fc.constantFrom(
    'execplan:a',
    'execplan:b',
    'service',
    'Service:API',
    'decisions::x',
    '__ops::y',
    'agent',
  ),
  text.map((value) => value.replace(/\p{Cc}/gu, '')),
)

const stored = fc.record({
  caller: fc.constantFrom(...CALLERS),
  entity: name,
  key: fc.oneof(fc.constantFrom('k', 'Key', 'agent'), name),
  value: text,
  confidence: fc.constantFrom(1, 0.95, 0.9, 0.5, 0.45, 0),
  isPrivate: fc.boolean(),
  horizonClass: fc.constantFrom<HorizonClass>('volatile', 'none', 'medium'),
  afterHours: fc.constantFrom(0, 0, 1, 25),
  next: fc.constantFrom('nothing', 'nothing', 'delete', 'validity', 'retire'),
})
const asked = fc.record(
  {
    query: fc.oneof(text, piece, fc.constantFrom('', ' ', '__agent::', 'agent', 'a', 'e')),
    entity: fc.oneof(name, fc.constant('__agent::anna::service')),
    entityPrefix: fc.constantFrom(
      '',
      'execplan:',
      'ser',
      '__agent::',
      '__agent::anna::',
      'Ser',
      'e',
    ),
    topK: fc.nat(5),
    tokenBudget: fc.constantFrom(0, 1, 3, 10, 50, 100, 1000),
    overflow: fc.constantFrom('drop' as const, 'tiered' as const),
    minEffectiveConfidence: fc.constantFrom(0, 0.45, 0.5, 0.95, 1),
    includeSuperseded: fc.boolean(),
    asOf: fc.constantFrom(NOON - HOUR_MS, NOON, NOON + HOUR_MS),
  },
  { requiredKeys: [] },
)

describe('queryFacts against a plain scan', () => {
  it('equals a plain scan (RET-11.0-or-substring, RET-11.2-filter-order, RET-11.2-match-rule)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stored, { maxLength: 25 }),
        fc.array(fc.record({ caller: fc.constantFrom(...CALLERS), query: asked }), {
          minLength: 8,
          maxLength: 8,
        }),
        async (inputs, questions) => {
          const { store, clock, ids } = await openEmpty()
          const seen = new Map<string, Fact>()
          for (const input of inputs) {
            clock.advance(input.afterHours * HOUR_MS)
            const { caller, entity, key, value, confidence, horizonClass } = input
            const isPrivate = input.isPrivate && caller.identity !== null
            const result = await store.store(caller, {
              entity,
              key,
              value,
              confidence,
              horizonClass,
              private: isPrivate,
            })
            const id = result.fact.fact_id
            // The oracle keeps its own copy and applies every change to it by the documented rules.
            seen.set(id, { ...result.fact })
            const previous = result.fact.supersedes
            if (previous !== undefined) patch(seen, previous, { superseded_by: id })
            ids.push({ caller, id })
            const isSeen =
              visibleEntity(ownersOf(caller), result.fact.entity, result.fact.private) !== undefined
            if (input.next === 'delete') {
              expect(await store.delete(caller, id)).toBe(isSeen)
              if (isSeen) patch(seen, id, { deleted: true })
            } else if (input.next === 'validity') {
              expect(await store.setValidity(caller, id, { from: NOON, to: NOON + HOUR_MS })).toBe(
                isSeen,
              )
              if (isSeen) {
                patch(seen, id, {
                  valid_from: new Date(NOON).toISOString(),
                  valid_to: new Date(NOON + HOUR_MS).toISOString(),
                })
              }
            } else if (input.next === 'retire') {
              const target = ids.find(({ caller: by }) => by === caller)?.id ?? id
              const retiring = store.store(caller, {
                entity: 'retiring',
                key: id,
                value: '',
                supersedes: [target],
              })
              const before = seen.get(target)
              const isVisible =
                before !== undefined &&
                !before.deleted &&
                visibleEntity(ownersOf(caller), before.entity, before.private) !== undefined
              if (isVisible) {
                const { fact } = await retiring
                seen.set(fact.fact_id, { ...fact })
                patch(seen, target, { superseded_by: fact.fact_id })
              } else {
                await expect(retiring).rejects.toMatchObject({ code: 'SUPERSEDES_INVALID' })
              }
            }
          }
          for (const { caller, query } of questions) {
            const {
              entities,
              ids: expectedIds,
              ...numbers
            } = scan([...seen.values()], caller, query, clock.now())
            const page = await store.query(caller, query)
            expect(page).toMatchObject(numbers)
            expect(page.rows.map((row) => row.fact.fact_id)).toEqual(expectedIds)
            expect(page.rows.map((row) => row.entity)).toEqual(entities)
            const quick = await store.query(caller, { ...query, isCounted: false })
            expect(quick.rows).toEqual(page.rows)
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  it('equals a plain scan also where many rows share an entity', async () => {
    const { store, clock } = await openEmpty()
    const facts: Fact[] = []
    for (let i = 0; i < 300; i++) {
      clock.advance(1)
      const { fact } = await store.store(ANONYMOUS, {
        entity: i % 3 === 0 ? 'log:a' : 'log:b',
        key: `k${i}`,
        value: `entry ${i} ${i % 7 === 0 ? 'Übung' : 'rest'}`,
        confidence: (i % 5) / 5,
      })
      facts.push(fact)
    }
    for (const query of ['übung', '17', 'b', 'k29 nowhere', 'log:a']) {
      for (const scope of [
        { entity: 'log:b' },
        { entityPrefix: 'log:' },
        { entityPrefix: 'log:a' },
      ]) {
        const expected = scan(facts, ANONYMOUS, { query, topK: 40, ...scope }, clock.now())
        const page = await store.query(ANONYMOUS, { query, topK: 40, ...scope })
        expect(page.rows.map((row) => row.fact.fact_id)).toEqual(expected.ids)
        expect(page.matched).toBe(expected.matched)
        const few = { query, topK: 2, ...scope }
        const { rows } = await store.query(ANONYMOUS, few)
        expect((await store.query(ANONYMOUS, { ...few, isCounted: false })).rows).toEqual(rows)
      }
    }
  })

  it('prefers the newer of two equal facts of different entities, counted or not', async () => {
    const { store } = await openEmpty()
    await store.store(ANONYMOUS, { entity: 'log:a', key: 'k', value: 'older' })
    await store.store(ANONYMOUS, { entity: 'log:b', key: 'k', value: 'newer' })
    for (const isCounted of [true, false]) {
      const query = { entityPrefix: 'log:', topK: 1, isCounted }
      const { rows } = await store.query(ANONYMOUS, query)
      expect(rows.map(({ fact }) => fact.value)).toEqual(['newer'])
    }
  })

  it('gives the same rows without counting, over many blocks of rows', async () => {
    const { store, clock } = await openEmpty()
    const stores = Array.from({ length: 6000 }, (_, i) => {
      if (i % 100 === 0) clock.advance(HOUR_MS)
      return store.store(i % 9 === 0 ? anna : ANONYMOUS, {
        entity: `e${i % 50}`,
        key: `k${i}`,
        value: `row ${i}`,
        // The best facts are old, and some of them have gone stale.
        confidence: i < 1500 ? 0.9 : (i % 7) / 10,
        horizonClass: i % 3 === 0 ? 'volatile' : 'none',
        private: i % 9 === 0,
      })
    })
    await Promise.all(stores)
    for (const caller of [ANONYMOUS, anna]) {
      for (const query of [undefined, 'row', '77', 'e7 12', 'nowhere']) {
        for (const topK of [0, 1, 10, 400, 7000]) {
          const asked = { topK, ...(query !== undefined && { query }) }
          const whole = await store.query(caller, asked)
          const quick = await store.query(caller, { ...asked, isCounted: false })
          expect(quick.rows).toEqual(whole.rows)
          expect(quick.matched).toBeLessThanOrEqual(whole.matched)
          expect(quick.next).toBeUndefined()
        }
      }
    }
  })

  it('equals a plain scan while the index is far behind', async () => {
    const { store, clock } = await openEmpty()
    const stores = Array.from({ length: 2500 }, (_, i) =>
      store.store(i % 5 === 0 ? anna : ANONYMOUS, {
        entity: `Entity${i % 40}`,
        key: `k${i}`,
        value: `Wörter ${i}`,
        private: i % 5 === 0,
      }),
    )
    const facts = (await Promise.all(stores)).map(({ fact }) => fact)
    for (const query of ['WÖRT', '99', 'entity3 k7', 'agent']) {
      for (const caller of [anna, bert]) {
        const expected = scan(facts, caller, { query, topK: 500 }, clock.now())
        const page = await store.query(caller, { query, topK: 500 })
        expect(page.rows.map((row) => row.fact.fact_id)).toEqual(expected.ids)
        expect(page.matched).toBe(expected.matched)
      }
    }
  })
})

function patch(facts: Map<string, Fact>, id: string, change: Partial<Fact>): void {
  const fact = facts.get(id)
  if (fact !== undefined) facts.set(id, { ...fact, ...change })
}
