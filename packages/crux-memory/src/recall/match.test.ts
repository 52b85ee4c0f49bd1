import { analyserOf, bm25Idf, bm25LengthNorm, bm25TermFrequency } from 'crux-retrieval'
import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FactQuery, FactStore, PageMark, RankedFact } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const bert = agentCaller('bert')

async function openEmpty() {
  const clock = new ManualClock(NOON)
  const store = await openFactStore({ journal: createMemoryJournal(), clock })
  const put = async (value: string, more: object = {}, caller: Caller = ANONYMOUS) => {
    clock.advance(1000)
    const entity = `e${clock.now()}`
    return (await store.store(caller, { entity, key: 'note', value, ...more })).fact.fact_id
  }
  return { store, clock, put }
}

const values = (rows: readonly RankedFact[]) => rows.map(({ fact }) => fact.value)

/** Terms that say something, whatever the case they are written in. */
const analyse = (text: string) =>
  analyserOf(2)
    .analyse(text.toLowerCase())
    .filter(({ isStop }) => !isStop)

/** Ranked recall worked out from every fact that the caller sees. */
async function plainRanking(store: FactStore, caller: Caller, query: string) {
  const { rows } = await store.query(caller, { topK: 1000 })
  const length = ({ fact }: RankedFact): number =>
    Buffer.byteLength(fact.entity + fact.key + fact.value)
  const words = ({ fact, entity }: RankedFact): string[] =>
    [entity, fact.key, fact.value].flatMap((text) => analyse(text).map(({ term }) => term))
  const mean = rows.reduce((sum, row) => sum + length(row), 0) / rows.length
  const terms = [...new Set(analyse(query).map(({ term }) => term))]
  return rows
    .map((row) => {
      const score = terms.reduce((sum, term) => {
        const held = rows.filter((other) => words(other).includes(term)).length
        const times = words(row).filter((word) => word === term).length
        if (times === 0) return sum
        const norm = bm25LengthNorm(length(row), mean)
        return sum + bm25Idf(rows.length, held) * bm25TermFrequency(times, norm)
      }, 0)
      return { row, isHit: score > 0, score: score * row.effectiveConfidence }
    })
    .filter(({ isHit }) => isHit)
    .sort((a, b) => b.score - a.score || b.row.fact.stored_at.localeCompare(a.row.fact.stored_at))
}

const word = fc.constantFrom(
  'deploy',
  'deployed',
  'Deploying,',
  'cat',
  'cats',
  'Status',
  'x',
  '部署',
)
const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '))

describe('ranked recall', () => {
  it('is BM25 over what the caller sees, times confidence', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            value: text,
            confidence: fc.constantFrom(1, 0.5, 0.25),
            by: fc.constantFrom(ANONYMOUS, anna, bert),
            isPrivate: fc.boolean(),
          }),
          { minLength: 1, maxLength: 20 },
        ),
        text,
        async (facts, query) => {
          const { store, put } = await openEmpty()
          for (const { value, confidence, by, isPrivate } of facts) {
            await put(value, { confidence, private: isPrivate && by !== ANONYMOUS }, by)
          }
          for (const caller of [ANONYMOUS, anna]) {
            const found = await store.query(caller, { query, match: 'ranked', topK: 1000 })
            const expected = await plainRanking(store, caller, query)
            expect(found.rows.map(({ fact }) => fact.fact_id)).toEqual(
              expected.map(({ row }) => row.fact.fact_id),
            )
            for (const [at, row] of found.rows.entries()) {
              expect(row.score).toBeCloseTo(expected[at]?.score ?? -1, 9)
              expect(row.scoreSpace).toBe('bm25_confidence')
            }
            expect(found.matched).toBe(expected.length)
          }
          await store.close()
        },
      ),
      { numRuns: 40 },
    )
  })

  it('finds other forms of a word and not parts of other words, which substrings do', async () => {
    const { store, put } = await openEmpty()
    await put('the service was deployed')
    await put('concatenate the logs')
    const found = async (query: string, match: 'ranked' | 'substring') =>
      values((await store.query(ANONYMOUS, { query, match })).rows)
    expect(await found('deploying', 'ranked')).toEqual(['the service was deployed'])
    expect(await found('deploying', 'substring')).toEqual([])
    expect(await found('cat', 'ranked')).toEqual([])
    expect(await found('cat', 'substring')).toEqual(['concatenate the logs'])
  })

  it('keeps all filters, the floor and its count', async () => {
    const { store, put } = await openEmpty()
    const old = await put('cat one', { entity: 'pets:a' })
    await put('cat two', { entity: 'pets:a' })
    await put('cat three', { entity: 'pets:b', confidence: 0.2 })
    await put('cat four', { entity: 'other' })
    const gone = await put('cat five', { entity: 'pets:c' })
    await store.delete(ANONYMOUS, gone)
    const ask = (query: FactQuery) =>
      store.query(ANONYMOUS, { query: 'cats', match: 'ranked', ...query })
    expect(values((await ask({ entityPrefix: 'pets:' })).rows)).toEqual(['cat two', 'cat three'])
    expect(values((await ask({ entity: 'pets:b' })).rows)).toEqual(['cat three'])
    const floored = await ask({ entityPrefix: 'pets:', minEffectiveConfidence: 0.5 })
    expect(values(floored.rows)).toEqual(['cat two'])
    expect(floored).toMatchObject({ matched: 1, filteredBelowThreshold: 1 })
    const all = await ask({ includeSuperseded: true, entity: 'pets:a' })
    expect(all.rows.map(({ fact }) => fact.fact_id)).toContain(old)
  })

  it('matches nothing without a word that counts, and everything without a query', async () => {
    const { store, put } = await openEmpty()
    await put('a ? b')
    expect((await store.query(ANONYMOUS, { query: '? !', match: 'ranked' })).rows).toEqual([])
    expect((await store.query(ANONYMOUS, { match: 'ranked' })).rows).toHaveLength(1)
  })
})

describe('hybrid recall', () => {
  it('sums reciprocal ranks of both ways', async () => {
    const { store, put } = await openEmpty()
    await put('cat cat cat', { confidence: 0.5 })
    await put('concatenate')
    await put('a cat in a very long sentence about something else entirely')
    await put('dogs')
    const ask = (match: 'substring' | 'ranked' | 'hybrid') =>
      store.query(ANONYMOUS, { query: 'cats cat', match, topK: 100 })
    const ranks = [await ask('substring'), await ask('ranked')].map(({ rows }) =>
      rows.map(({ fact }) => fact.fact_id),
    )
    const score = (id: string): number =>
      ranks.reduce((sum, ids) => sum + (ids.includes(id) ? 1 / (61 + ids.indexOf(id)) : 0), 0)
    const found = await ask('hybrid')
    expect(found.matched).toBe(3)
    for (const row of found.rows) {
      expect(row.score).toBeCloseTo(score(row.fact.fact_id), 12)
      expect(row.scoreSpace).toBe('reciprocal_rank')
    }
    const scores = found.rows.map((row) => row.score ?? 0)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
  })
})

describe('pages', () => {
  it('give each fact once, in the order of one answer, whatever is stored in between', async () => {
    const { store, put, clock } = await openEmpty()
    for (let i = 0; i < 60; i++) {
      await put(`cat number ${i}`, { confidence: (i % 5) / 5 + 0.1, horizonClass: 'volatile' })
    }
    for (const match of ['substring', 'ranked', 'hybrid'] as const) {
      for (const cut of [
        { topK: 7 },
        { tokenBudget: 40 },
        { tokenBudget: 30, topK: 3, isCapped: true },
      ]) {
        const query: FactQuery = { query: 'cat', match, ...cut }
        const whole = await store.query(ANONYMOUS, { query: 'cat', match, topK: 1000 })
        const ids: string[] = []
        let after: PageMark | undefined
        let pages = 0
        do {
          const page: Awaited<ReturnType<FactStore['query']>> = await store.query(ANONYMOUS, {
            ...query,
            ...(after && { after }),
          })
          ids.push(...page.rows.map(({ fact }) => fact.fact_id))
          after = page.next
          if (pages++ === 0) {
            await put('cat that came later')
            clock.advance(30 * 3_600_000)
          }
          expect(page.matched).toBeGreaterThanOrEqual(page.rows.length)
        } while (after !== undefined)
        const expected = whole.rows.map(({ fact }) => fact.fact_id)
        expect(ids).toEqual('isCapped' in cut ? expected.slice(0, ids.length) : expected)
        clock.set(NOON + 100_000_000 + pages)
      }
    }
  })

  it('has no next page when everything was given', async () => {
    const { store, put } = await openEmpty()
    for (let i = 0; i < 3; i++) await put(`cat ${i}`)
    const page = await store.query(ANONYMOUS, { query: 'cat', topK: 3 })
    expect(page.next).toBeUndefined()
    expect((await store.query(ANONYMOUS, { query: 'cat', topK: 2 })).next).toBeDefined()
  })
})
