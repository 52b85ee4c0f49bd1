import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { beforeEach, describe, expect, it } from 'vitest'
import type { FactStore } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const acme = agentCaller('anna', { tenant: 'acme', tenants: ['acme'] })

let journal: Journal
let clock: ManualClock
let store: FactStore
const open = () => openFactStore({ journal, clock })

beforeEach(async () => {
  journal = createMemoryJournal()
  clock = new ManualClock(NOON)
  store = await open()
})

const put = async (entity: string, more: object = {}, caller: Caller = anna) =>
  (await store.store(caller, { entity, key: 'k', value: 'v', ...more })).fact.fact_id

const entitiesOf = (page: { rows: readonly { entity: string }[] }) =>
  page.rows.map(({ entity }) => entity)

describe('oldest', () => {
  it('lists the oldest first, superseded ones included, private and reserved ones not', async () => {
    await put('a')
    clock.advance(1000)
    await put('b')
    await put('b2', { private: true })
    await put('__ops::x')
    await put('__bootstrap__::doc:x')
    clock.advance(1000)
    await put('a', { value: 'again' })
    const page = await store.freshness.oldest(anna, { topK: 10 })
    expect(entitiesOf(page)).toEqual(['a', 'b', 'a'])
    expect(page.matched).toBe(3)
    expect(entitiesOf(await store.freshness.oldest(anna, { topK: 2 }))).toEqual(['a', 'b'])
    expect(entitiesOf(await store.freshness.oldest(anna, { topK: 10, entity: 'b' }))).toEqual(['b'])
    expect(entitiesOf(await store.freshness.oldest(anna, { topK: 10, key: 'z' }))).toEqual([])
    expect(entitiesOf(await store.freshness.oldest(anna, { topK: 10, entity: 'b2' }))).toEqual([])
    expect(entitiesOf(await store.freshness.oldest(acme, { topK: 10 }))).toEqual([])
  })

  it('gives facts of the same time in the order in which they came', async () => {
    for (const entity of ['x', 'm', 'b']) await put(entity)
    expect(entitiesOf(await store.freshness.oldest(anna, { topK: 2 }))).toEqual(['x', 'm'])
  })
})

describe('sweepCandidates', () => {
  it('names what is stale, superseded or both, and changes nothing', async () => {
    await put('stale', { horizonClass: 'volatile' })
    await put('both', { horizonClass: 'volatile' })
    await put('fresh', { horizonClass: 'medium' })
    clock.advance(24 * HOUR_MS + 1)
    await put('both', { value: 'again', horizonClass: 'volatile' })
    await put('twice')
    await put('twice', { value: 'again' })
    const page = await store.freshness.sweepCandidates(anna, { topK: 10 })
    expect(page.rows.map(({ entity, reason }) => [entity, reason])).toEqual([
      ['stale', 'stale'],
      ['both', 'stale+superseded'],
      ['twice', 'superseded'],
    ])
    expect(page.matched).toBe(3)
    expect((await store.query(anna, { topK: 10 })).matched).toBe(4)
  })
})

describe('setHorizon', () => {
  it('changes how fast a fact goes stale, for good', async () => {
    const id = await put('a')
    clock.advance(36 * DAY_MS)
    expect(await store.freshness.setHorizon(bert, id, 'medium')).toBe(true)
    for (const each of [store, await open()]) {
      const found = await each.get(anna, id)
      expect(found).toMatchObject({ freshness: 'stale', effectiveConfidence: 0.5 })
      expect(found?.fact).toMatchObject({ horizon_class: 'medium', value: 'v', version: 1 })
    }
    await store.snapshot()
    await store.freshness.setHorizon(anna, id, 'stable')
    expect((await (await open()).get(anna, id))?.freshness).toBe('fresh')
  })

  it('keeps every other flag of the fact', async () => {
    const id = await put('__bootstrap__::doc:x', {}, SYSTEM)
    await expect(store.freshness.setHorizon(anna, id, 'none')).resolves.toBe(false)
    const shared = await put('a', { horizonClass: 'none' })
    for (const next of ['volatile', 'medium', 'stable', 'none'] as const) {
      await store.freshness.setHorizon(anna, shared, next)
      expect((await store.get(anna, shared))?.fact).toMatchObject({
        horizon_class: next,
        deleted: false,
        private: false,
      })
    }
  })

  it('refuses private and reserved facts, and finds no others', async () => {
    const mine = await put('m', { private: true })
    await expect(store.freshness.setHorizon(anna, mine, 'stable')).rejects.toMatchObject({
      code: 'FACT_RESERVED',
    })
    await expect(store.freshness.reverify(anna, mine)).rejects.toMatchObject({
      code: 'FACT_RESERVED',
    })
    // Somebody else's is not admitted to exist.
    expect(await store.freshness.setHorizon(bert, mine, 'stable')).toBe(false)
    expect(await store.freshness.reverify(bert, mine)).toBeUndefined()
    expect(await store.freshness.setHorizon(anna, 'f_0', 'stable')).toBe(false)
    const readOnly = { ...anna, readOnly: true }
    await expect(store.freshness.setHorizon(readOnly, mine, 'none')).rejects.toMatchObject({
      code: 'READ_ONLY_CALLER',
    })
  })
})

describe('reverify', () => {
  it('starts the age of a fact anew, for good, and keeps a receipt in the same append', async () => {
    const id = await put('a', { horizonClass: 'volatile' })
    clock.advance(48 * HOUR_MS)
    const before = store.stats().versions
    const done = await store.freshness.reverify(bert, id)
    expect(done).toEqual({
      receiptId: expect.stringMatching(/^rev_[0-9a-f]{32}$/),
      reverifiedAt: NOON + 48 * HOUR_MS,
    })
    expect(store.stats().versions).toBe(before + 1)
    for (const each of [store, await open()]) {
      const found = await each.get(anna, id)
      expect(found).toMatchObject({ freshness: 'fresh', ageHours: 0 })
      expect(found?.fact.reverified_at).toBe('2026-01-17T12:00:00.000Z')
      expect(found?.fact.stored_at).toBe('2026-01-15T12:00:00.000Z')
    }
    expect(await store.entities(anna)).toEqual(['a'])
  })
})

describe('recall counts', () => {
  it('stretch the horizon of what is recalled, when they count, until a restart', async () => {
    store = await openFactStore({ journal, clock, countRecalls: true })
    const id = await put('a', { horizonClass: 'volatile' })
    const recall = async () => (await store.query(anna, { topK: 1 })).rows[0]?.freshness
    for (let i = 0; i < 3; i++) await recall()
    // 24 h * (1 + 0.25 * ln 4)
    const end = Math.trunc(24 * HOUR_MS * (1 + 0.25 * Math.log(4)))
    clock.set(NOON + end)
    expect(await recall()).toBe('fresh')
    expect((await store.freshness.oldest(anna, { topK: 1 })).rows[0]?.freshness).toBe('stale')
    expect((await store.freshness.sweepCandidates(anna, { topK: 9 })).matched).toBe(1)
    store = await openFactStore({ journal, clock, countRecalls: true })
    expect(await recall()).toBe('stale')
    expect((await store.get(anna, id))?.fact.access_count).toBeUndefined()
  })

  it('do not count by default', async () => {
    await put('a', { horizonClass: 'volatile' })
    for (let i = 0; i < 20; i++) await store.query(anna, {})
    clock.advance(24 * HOUR_MS + 1)
    expect((await store.query(anna, {})).rows[0]?.freshness).toBe('stale')
  })
})

describe('collectEphemeral', () => {
  it('deletes receipts and bindings of the daemon after 30 days, never the newest binding', async () => {
    const id = await put('a')
    await store.freshness.reverify(anna, id)
    const bind = (key: string) =>
      store.store(SYSTEM, { entity: '__session_binding__::s1', key, value: 'x' })
    await bind('1')
    await bind('2')
    await store.store(acme, { entity: '__session_binding__::s2', key: '1', value: 'x' })
    clock.advance(30 * DAY_MS)
    expect(await store.freshness.collectEphemeral()).toBe(0)
    clock.advance(1)
    const live = store.stats().live
    expect(await store.freshness.collectEphemeral()).toBe(2)
    expect(store.stats().live).toBe(live - 2)
    expect(await store.freshness.collectEphemeral()).toBe(0)
    expect((await open()).stats().live).toBe(live - 2)
    expect((await store.query(ANONYMOUS, {})).matched).toBe(1)
  })
})
