import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { FactStore } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'
import type { ExportedFact, ExportQuery } from './fact-transfer.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const acme = agentCaller('carl', { tenant: 'acme', tenants: ['acme'] })

async function openStore(journal = createMemoryJournal()) {
  const clock = new ManualClock(NOON)
  const store = await openFactStore({ journal, clock })
  return { store, clock, journal }
}

async function exported(store: FactStore, caller: Caller, query: ExportQuery = {}) {
  const facts: ExportedFact[] = []
  for await (const fact of store.exportFacts(caller, query)) facts.push(fact)
  return facts
}

/** A store with one fact in every state there is. */
async function openFilled() {
  const fixture = await openStore()
  const { store, clock } = fixture
  const put = (caller: Caller, entity: string, value: string, more: object = {}) =>
    store.store(caller, { entity, key: 'k', value, ...more }).then(({ fact }) => fact)
  await put(anna, 'plain', 'one')
  clock.advance(1000)
  await put(anna, 'plain', 'two', { confidence: 0.95, sourceReceipt: 'r_1', actor: 'anna' })
  const gone = await put(anna, 'plain', 'three')
  await store.delete(anna, gone.fact_id)
  await put(anna, 'plain', 'four', { horizonClass: 'volatile' })
  await put(anna, 'secret', 'hers', { private: true })
  await put(anna, 'decisions::x', 'hidden')
  const valid = await put(bert, 'valid', 'for a while')
  await store.setValidity(bert, valid.fact_id, { from: NOON, to: NOON + 1000 })
  const other = await put(bert, 'other', 'retired by name')
  await put(bert, 'new', 'in its place', { supersedes: [other.fact_id] })
  await put(SYSTEM, '__bootstrap__::doc:x', 'seeded')
  await put(acme, 'plain', 'of another tenant')
  return fixture
}

const values = (facts: readonly ExportedFact[]): string[] => facts.map(({ fact }) => fact.value)

describe('exportFacts', () => {
  it('gives what the caller sees, as the caller sees it', async () => {
    const { store } = await openFilled()
    const own = await exported(store, anna)
    expect(values(own)).toEqual([
      ...['one', 'two', 'four', 'hers', 'for a while', 'retired by name', 'in its place'],
    ])
    expect(own[3]?.fact).toMatchObject({ entity: 'secret', private: true })
    expect(values(await exported(store, bert))).not.toContain('hers')
    expect(values(await exported(store, acme))).toEqual(['of another tenant'])
  })

  it('gives everything of the readable tenants to administrators', async () => {
    const { store } = await openFilled()
    expect(values(await exported(store, ANONYMOUS, { all: true }))).toHaveLength(11)
    const admin: Caller = {
      ...ANONYMOUS,
      tenants: ['acme'],
      tenant: 'acme',
      scopes: ['admin:read'],
    }
    expect(values(await exported(store, admin, { all: true }))).toEqual(['of another tenant'])
    const reader: Caller = { ...ANONYMOUS, scopes: ['query:read'] }
    await expect(exported(store, reader, { all: true })).rejects.toMatchObject({
      code: 'ADMIN_REQUIRED',
    })
  })

  it('goes on after any fact, and tells nothing of facts that the caller does not see', async () => {
    const { store } = await openFilled()
    for (const caller of [anna, bert]) {
      const whole = await exported(store, caller)
      for (const [i, { fact }] of whole.entries()) {
        expect(await exported(store, caller, { after: fact.fact_id })).toEqual(whole.slice(i + 1))
      }
    }
    const secret = (await exported(store, anna)).find(({ fact }) => fact.value === 'hers')
    for (const after of [secret?.fact.fact_id ?? '', 'f_0', '']) {
      await expect(exported(store, bert, { after })).rejects.toMatchObject({
        code: 'CURSOR_INVALID',
      })
    }
  })

  it('never gives a value that was forgotten, and an import does not bring it back', async () => {
    const { store } = await openStore()
    const item = { sourceId: 's', entity: 'e', key: 'k', value: 'gone for good' }
    await store.importFact(anna, item)
    await store.importFact(anna, { ...item, sourceId: 't', key: 'l', value: 'kept' })
    const scope = { type: 'key_glob', value: 'k' } as const
    const { confirm } = await store.forgetting.preview(anna, { scope })
    await store.forgetting.forget(anna, { scope, reason: 'asked to', confirm })
    expect(values(await exported(store, anna))).toEqual(['kept'])
    expect(values(await exported(store, ANONYMOUS, { all: true }))).toEqual(['kept'])
    expect(await store.importFact(anna, item)).toMatchObject({ status: 'unchanged' })
    expect(values(await exported(store, anna))).toEqual(['kept'])
  })

  it('leaves later writes to a later export', async () => {
    const { store } = await openFilled()
    const seen: string[] = []
    for await (const { fact } of store.exportFacts(anna, {})) {
      seen.push(fact.value)
      await store.store(anna, { entity: 'later', key: 'k', value: 'later' })
    }
    expect(seen).not.toContain('later')
  })
})

describe('restoreFacts', () => {
  async function restoreAll(store: FactStore, facts: readonly { fact: unknown }[]) {
    const outcomes = await store.restoreFacts(ANONYMOUS, facts)
    return outcomes.map((outcome) => ('status' in outcome ? outcome.status : outcome.code))
  }

  it('makes an empty store equal, also after a restart, and changes nothing when run again', async () => {
    const { store } = await openFilled()
    const all = await exported(store, ANONYMOUS, { all: true })
    const copy = await openStore()
    expect(new Set(await restoreAll(copy.store, all))).toEqual(new Set(['added']))
    expect(await exported(copy.store, ANONYMOUS, { all: true })).toEqual(all)
    expect(new Set(await restoreAll(copy.store, all))).toEqual(new Set(['unchanged']))
    expect(await exported(copy.store, ANONYMOUS, { all: true })).toEqual(all)
    await copy.store.close()
    const again = await openStore(copy.journal)
    expect(await exported(again.store, ANONYMOUS, { all: true })).toEqual(all)
    // The next version goes on from there.
    const next = { entity: 'plain', key: 'k', value: 'five' }
    const [a, b] = await Promise.all([store.store(anna, next), again.store.store(anna, next)])
    expect({ ...b.fact, fact_id: a.fact.fact_id }).toEqual(a.fact)
  })

  it('keeps consolidations, so that they can be undone', async () => {
    const { store } = await openStore()
    const put = (value: string) =>
      store.store(anna, { entity: 'e', key: 'k', value, confidence: 0.5 })
    const old = await put('yes')
    const current = await put('no')
    const { canonicalFactId } = await store.consolidations.consolidate(anna, {
      entity: 'e',
      key: 'k',
      canonicalValue: 'maybe',
      targetFactIds: [old.fact.fact_id, current.fact.fact_id],
      consolidationId: 'c-1',
    })
    const all = await exported(store, ANONYMOUS, { all: true })
    expect(all.at(-1)?.consolidated?.factIds).toContain(current.fact.fact_id)
    const copy = await openStore()
    await restoreAll(copy.store, all)
    expect(await exported(copy.store, ANONYMOUS, { all: true })).toEqual(all)
    const valuesInForce = async (from: FactStore) =>
      (await from.query(anna, { topK: 10 })).rows.map(({ fact }) => fact.value)
    expect(await valuesInForce(copy.store)).toEqual(['maybe'])
    await copy.store.consolidations.undo(anna, canonicalFactId)
    expect(await valuesInForce(copy.store)).toEqual(['no'])
  })

  it('follows a version that is there already', async () => {
    const { store } = await openStore()
    await store.store(anna, { entity: 'e', key: 'k', value: 'one' })
    const copy = await openStore()
    await restoreAll(copy.store, await exported(store, ANONYMOUS, { all: true }))
    await store.store(anna, { entity: 'e', key: 'k', value: 'two' })
    const all = await exported(store, ANONYMOUS, { all: true })
    await restoreAll(copy.store, all)
    expect(await exported(copy.store, ANONYMOUS, { all: true })).toEqual(all)
  })

  it('refuses to stand beside another current value, and what no export gives', async () => {
    const { store } = await openFilled()
    const all = await exported(store, ANONYMOUS, { all: true })
    const copy = await openStore()
    await copy.store.store(anna, { entity: 'plain', key: 'k', value: 'written here' })
    const outcomes = await restoreAll(copy.store, all)
    expect(outcomes.filter((outcome) => outcome === 'IMPORT_CONFLICT')).toHaveLength(4)
    const page = await copy.store.query(anna, { entity: 'plain' })
    expect(page.rows.map(({ fact }) => fact.value)).toEqual(['written here'])

    const fact = { ...all[0]?.fact, fact_id: `f_${'0'.repeat(32)}`, entity: 'fresh' }
    const bad: [object, string][] = [
      [{ ...fact, value: 1 }, 'IMPORT_INVALID'],
      [{ ...fact, confidence: 2 }, 'IMPORT_INVALID'],
      [{ ...fact, version: 0 }, 'IMPORT_INVALID'],
      [{ ...fact, stored_at: '2030-01-01T00:00:00.000Z' }, 'IMPORT_INVALID'],
      [{ ...fact, forgotten: true }, 'IMPORT_INVALID'],
      [{ ...fact, entity: 'a\nb' }, 'TEXT_INVALID'],
      [{ ...fact, tenant_hash: '../x' }, 'TENANT_INVALID'],
    ]
    for (const [line, code] of bad) {
      expect(await restoreAll(copy.store, [{ fact: line }])).toEqual([code])
    }
    const writer: Caller = { ...ANONYMOUS, scopes: ['facts:write'] }
    await expect(copy.store.restoreFacts(writer, [{ fact }])).rejects.toMatchObject({
      code: 'ADMIN_REQUIRED',
    })
    const elsewhere: Caller = { ...ANONYMOUS, tenant: 'acme', tenants: ['acme'] }
    expect(await copy.store.restoreFacts(elsewhere, [{ fact }])).toMatchObject([
      { code: 'TENANT_FORBIDDEN' },
    ])
  })

  it('takes seeds only from who reaches every tenant', async () => {
    const { store } = await openFilled()
    const seed = (await exported(store, ANONYMOUS, { all: true })).find(({ fact }) => fact.seeded)
    const bound: Caller = { ...ANONYMOUS, tenants: ['default'] }
    const copy = await openStore()
    await copy.store.restoreFacts(bound, [{ fact: seed?.fact }])
    const query = { entityPrefix: '__bootstrap__::' }
    expect((await copy.store.bootstrap(acme, query)).facts).toEqual([])
    expect((await copy.store.bootstrap(anna, query)).facts).toHaveLength(1)
  })

  it('gets along with other writers of the same facts', async () => {
    const { store } = await openFilled()
    const all = await exported(store, ANONYMOUS, { all: true })
    const copy = await openStore()
    const second = await openStore(copy.journal)
    const writes = ['x', 'y', 'z'].map((value) =>
      second.store.store(anna, { entity: 'valid', key: 'k', value }),
    )
    const [first, again] = await Promise.all([
      restoreAll(copy.store, all),
      restoreAll(second.store, all),
      ...writes,
    ])
    const added = [...(first ?? []), ...(again ?? [])].filter((outcome) => outcome === 'added')
    expect(added.length).toBeGreaterThanOrEqual(all.length - 1)
    expect(added.length).toBeLessThanOrEqual(all.length)
    const state = await exported(copy.store, ANONYMOUS, { all: true })
    expect(await exported(second.store, ANONYMOUS, { all: true })).toEqual(state)
    expect(new Set(state.map(({ fact }) => fact.fact_id)).size).toBe(state.length)
  })

  it('changes nothing in a dry run', async () => {
    const { store } = await openFilled()
    const copy = await openStore()
    const all = await exported(store, ANONYMOUS, { all: true })
    const outcomes = await copy.store.restoreFacts(ANONYMOUS, all, { dryRun: true })
    expect(outcomes).toHaveLength(all.length)
    expect(copy.store.stats().versions).toBe(0)
  })
})

describe('importFact', () => {
  const item = { sourceId: 's-1', entity: 'e', key: 'k', value: 'v' }

  it('stores an item once, whoever imports it, however often, also after a restart', async () => {
    const { store, journal } = await openStore()
    const first = await store.importFact(anna, item)
    expect(first).toMatchObject({ status: 'added', version: 1 })
    const again = await Promise.all([
      store.importFact(anna, item),
      store.importFact(bert, item),
      store.importFact(anna, { ...item, entity: 'moved' }),
    ])
    for (const outcome of again) {
      expect(outcome).toMatchObject({ status: 'unchanged', factId: first.factId })
    }
    await store.close()
    const reopened = await openStore(journal)
    expect(await reopened.store.importFact(anna, item)).toMatchObject({ status: 'unchanged' })
    expect(reopened.store.stats().versions).toBe(1)
  })

  it('stores an item once when it comes many times at once', async () => {
    const { store } = await openStore()
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => store.importFact(anna, item)),
    )
    expect(outcomes.filter(({ status }) => status === 'added')).toHaveLength(1)
    expect(store.stats().versions).toBe(1)
  })

  it('makes versions of a key, in the order of the items', async () => {
    const { store } = await openStore()
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((value) => store.importFact(anna, { ...item, sourceId: value, value })),
    )
    expect(outcomes.map(({ version }) => version)).toEqual([1, 2, 3])
    const { rows } = await store.query(anna, { entity: 'e' })
    expect(rows.map(({ fact }) => fact.value)).toEqual(['c'])
  })

  it('refuses a source id that comes back with another value', async () => {
    const { store } = await openStore()
    await store.importFact(anna, item)
    await expect(store.importFact(anna, { ...item, value: 'w' })).rejects.toMatchObject({
      code: 'IMPORT_CONFLICT',
    })
    const both = ['v', 'w'].map((value) =>
      store.importFact(anna, { ...item, sourceId: 'x', value }),
    )
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
    ])
  })

  it('does not bring back what was deleted since', async () => {
    const { store } = await openStore()
    const { factId } = await store.importFact(anna, item)
    await store.delete(anna, factId)
    expect(await store.importFact(anna, item)).toMatchObject({ status: 'unchanged' })
    expect((await store.query(anna, {})).rows).toEqual([])
  })

  it('keeps private items of different owners apart', async () => {
    const { store } = await openStore()
    const hers = await store.importFact(anna, { ...item, private: true })
    const his = await store.importFact(bert, { ...item, private: true, value: 'his' })
    expect([hers.status, his.status]).toEqual(['added', 'added'])
    expect((await store.query(anna, {})).rows.map(({ fact }) => fact.value)).toEqual(['v'])
  })

  it('leaves an export of the same store as it is, and takes it into another', async () => {
    const { store } = await openFilled()
    const copy = await openStore()
    const seen = await exported(store, anna)
    for (const { fact } of seen) {
      const { entity, key, value, fact_id: factId, private: isPrivate } = fact
      const input = { sourceId: factId, factId, entity, key, value, private: isPrivate }
      expect(await store.importFact(anna, input)).toMatchObject({ status: 'unchanged' })
      expect(await copy.store.importFact(anna, input)).toMatchObject({ status: 'added' })
    }
    expect(values(await exported(copy.store, anna))).toEqual(values(seen))
  })

  it('keeps when a fact was observed and when it holds', async () => {
    const { store } = await openStore()
    const week = 7 * 24 * 3_600_000
    const { factId } = await store.importFact(anna, {
      ...item,
      horizonClass: 'volatile',
      observedAt: NOON - week,
      validFrom: NOON - week,
      validTo: NOON + week,
    })
    const found = await store.get(anna, factId)
    expect(found).toMatchObject({ freshness: 'stale', ageHours: 168 })
    expect(found?.fact.valid_to).toBe('2026-01-22T12:00:00.000Z')
    await expect(
      store.importFact(anna, { ...item, sourceId: 'x', validFrom: NOON, validTo: NOON - 1 }),
    ).rejects.toMatchObject({ code: 'VALIDITY_INVALID' })
  })

  it('checks and counts in a dry run, and stores nothing', async () => {
    const { store } = await openStore()
    const dry = { dryRun: true }
    expect(await store.importFact(anna, item, dry)).toMatchObject({ status: 'added', version: 1 })
    await store.importFact(anna, item)
    expect(await store.importFact(anna, item, dry)).toMatchObject({ status: 'unchanged' })
    const next = { ...item, sourceId: 's-2' }
    expect(await store.importFact(anna, next, dry)).toMatchObject({ status: 'added', version: 2 })
    await expect(store.importFact(anna, { ...next, confidence: 3 }, dry)).rejects.toMatchObject({
      code: 'CONFIDENCE_INVALID',
    })
    expect(store.stats().versions).toBe(1)
  })
})
