import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { openFactStore } from '../open-fact-store.js'
import { firstNumber } from './aggregate-facts.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')

async function openEmpty() {
  const clock = new ManualClock(NOON)
  let id = 0
  const store = await openFactStore({
    journal: createMemoryJournal(),
    clock,
    ids: () => (++id * 0x1000).toString(16).padStart(8, '0').padEnd(32, '0'),
  })
  const put = async (entity: string, key: string, value: string, more = {}, by = ANONYMOUS) => {
    clock.advance(1000)
    return (await store.store(by, { entity, key, value, ...more })).fact.fact_id
  }
  return { store, clock, put }
}

describe('aggregateFacts', () => {
  it('counts, adds up and tells values apart, over current facts that are not private', async () => {
    const { store, put } = await openEmpty()
    await put('bill:a', 'sum', 'EUR 1,000.50 paid')
    await put('bill:a', 'tax', '-19 percent')
    await put('bill:b', 'sum', 'EUR 2 paid')
    await put('bill:c', 'sum', 'EUR 2 paid')
    await put('bill:d', 'sum', 'no number')
    await put('bill:e', 'sum', 'EUR 7 old')
    await put('bill:e', 'sum', 'EUR 8')
    await store.delete(ANONYMOUS, await put('bill:f', 'sum', 'EUR 100'))
    await put('bill:g', 'sum', 'EUR 5000', { private: true }, anna)
    await put('decisions::x', 'sum', 'EUR 9000')
    const ask = async (query: Parameters<typeof store.aggregate>[1], by = ANONYMOUS) => {
      const { matched, value } = await store.aggregate(by, query)
      return [matched, value]
    }
    expect(await ask({ op: 'count' })).toEqual([6, 6])
    expect(await ask({ op: 'count' }, anna)).toEqual([6, 6])
    expect(await ask({ op: 'sum_numeric', key: 'sum' })).toEqual([5, 1012.5])
    expect(await ask({ op: 'distinct', key: 'sum' })).toEqual([5, 4])
    expect(await ask({ op: 'sum_numeric', query: 'eur 2 PAID' })).toEqual([2, 4])
    expect(await ask({ op: 'count', query: 'eur paid' })).toEqual([0, 0])
    expect(await ask({ op: 'count', entity: 'bill:a' })).toEqual([2, 2])
    expect(await ask({ op: 'count', entity: 'bill:a', key: 'tax' })).toEqual([1, 1])
    expect(await ask({ op: 'count', key: 'unknown' })).toEqual([0, 0])
    expect(await ask({ op: 'count' }, { ...anna, tenant: 'acme' })).toEqual([0, 0])
  })

  it('looks at facts in the order of their ids until the budget is spent, and says so', async () => {
    const { store, put } = await openEmpty()
    for (let i = 1; i <= 5; i++) await put(`e${i}`, 'k', `${i}`.padEnd(40, '.'))
    expect(await store.aggregate(ANONYMOUS, { op: 'sum_numeric', tokenBudget: 25 })).toEqual({
      op: 'sum_numeric',
      matched: 2,
      value: 3,
      tokensScanned: 20,
      isTruncated: true,
    })
    const least = await store.aggregate(ANONYMOUS, { op: 'count', tokenBudget: 0 })
    expect(least).toMatchObject({ matched: 1, isTruncated: true })
    const all = await store.aggregate(ANONYMOUS, { op: 'count', tokenBudget: 1000 })
    expect(all).toMatchObject({ matched: 5, isTruncated: false })
  })

  it('takes facts that hold at a time', async () => {
    const { store, put } = await openEmpty()
    const id = await put('e', 'k', '1')
    await store.setValidity(ANONYMOUS, id, { from: NOON, to: NOON + 1000 })
    expect((await store.aggregate(ANONYMOUS, { op: 'count', asOf: NOON })).value).toBe(1)
    expect((await store.aggregate(ANONYMOUS, { op: 'count', asOf: NOON + 1000 })).value).toBe(0)
  })

  it('compares the newest version with the first, or with the one of a time', async () => {
    const { store, put } = await openEmpty()
    for (const value of ['10 ms', '12 ms', '20.5 ms']) await put('api', 'latency', value)
    const of = { op: 'temporal_diff', entity: 'api', key: 'latency' } as const
    expect(await store.aggregate(ANONYMOUS, of)).toMatchObject({ matched: 3, value: 10.5 })
    const then = await store.aggregate(ANONYMOUS, { ...of, asOf: NOON + 2500 })
    expect(then.value).toBe(8.5)
    expect((await store.aggregate(ANONYMOUS, { ...of, asOf: NOON })).value).toBeNull()
    await put('api', 'latency', 'unknown')
    expect(await store.aggregate(ANONYMOUS, of)).toMatchObject({ matched: 4, value: null })
    expect(await store.aggregate(ANONYMOUS, { op: 'temporal_diff', key: 'latency' })).toMatchObject(
      {
        matched: 0,
        value: null,
      },
    )
  })

  it('refuses what it does not know', async () => {
    const { store } = await openEmpty()
    const ask = (query: object) => store.aggregate(ANONYMOUS, query as { op: 'count' })
    await expect(ask({ op: 'mean' })).rejects.toMatchObject({ code: 'QUERY_INVALID' })
    await expect(ask({ op: 'count', tokenBudget: -1 })).rejects.toMatchObject({
      code: 'QUERY_INVALID',
    })
  })
})

describe('firstNumber', () => {
  it('reads the first digits, with a sign before them and one dot in them', () => {
    const numbers = ['a-b -5', '1,234.5.6', '+7x', 'none', '- 3', '.5', '12.', '1,2,3']
    expect(numbers.map(firstNumber)).toEqual([-5, 1234.5, 7, undefined, 3, 5, 12, 123])
  })
})

describe('history', () => {
  it('of ten thousand versions is given by the page, and slows nobody down', async () => {
    const { store, put } = await openEmpty()
    await Promise.all(Array.from({ length: 10_000 }, (_, i) => put('log', 'line', `${i + 1}`)))
    const versions: number[] = []
    for (let afterVersion = 0; ; ) {
      const page = await store.history(ANONYMOUS, 'log', 'line', { afterVersion, limit: 3000 })
      if (page.length === 0) break
      expect(page.length).toBeLessThanOrEqual(3000)
      versions.push(...page.map(({ fact }) => fact.version))
      afterVersion = versions.at(-1) ?? 0
    }
    expect(versions).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1))
    expect(await store.history(ANONYMOUS, 'log', 'line', { limit: 0 })).toEqual([])
    const { rows } = await store.query(ANONYMOUS, { query: '9', isCounted: false })
    expect(rows).toEqual([])
    expect((await store.query(ANONYMOUS, { query: '10000' })).rows[0]?.fact.version).toBe(10_000)
  })
})
