import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { openFactStore } from '../open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const WEEK = 7 * 86_400_000
const anna = agentCaller('anna')
const operator: Caller = { ...ANONYMOUS, kind: 'http', scopes: ['admin:write'] }

async function open() {
  const journal = createMemoryJournal()
  const clock = new ManualClock(NOON)
  const reopen = () => openFactStore({ journal, clock })
  const store = await reopen()
  for (const entity of ['case:1', 'case:2', 'other']) {
    await store.store(anna, { entity, key: 'k', value: `of ${entity}` })
  }
  const forget = (value: string) =>
    store.forgetting.forget(anna, { scope: { type: 'entity_prefix', value }, reason: 'r' })
  return { journal, clock, store, reopen, forget }
}

const hold = { tenantId: 'default', entityPrefixes: ['case:1'], reason: 'litigation' }

describe('legal holds', () => {
  it('keep what they cover from being forgotten until they are released', async () => {
    const { store, forget, reopen } = await open()
    const { hold: placed, receipt } = await store.legalHolds.place(operator, hold)
    expect(placed).toMatchObject({
      schema: 'crux.legal_hold.v1',
      hold_id: expect.stringMatching(/^lh_[0-9a-f]{32}$/),
      entity_prefixes: ['case:1'],
      placed_by: 'operator',
      place_receipt_id: receipt.receipt_id,
    })
    expect(receipt).toMatchObject({
      kind: 'legal_hold_placed',
      receipt_id: expect.stringMatching(/^r_legal_hold_place_[0-9a-f]{32}$/),
      hold_ids: [placed.hold_id],
    })
    await expect(forget('case:')).rejects.toMatchObject({
      code: 'FORGET_HELD',
      message: 'memory_forget refused: 1 active legal hold(s) cover the requested facts',
      data: { error: 'LEGAL_HOLD_ACTIVE', hold_ids: [placed.hold_id], facts_blocked: 1 },
    })
    expect((await forget('case:2')).factIds).toHaveLength(1)
    const again = await reopen()
    expect(await again.legalHolds.list(operator)).toEqual([placed])
    const { hold: released, receipt: second } = await store.legalHolds.release(
      operator,
      placed.hold_id,
      { actor: 'clerk' },
    )
    expect(released).toMatchObject({
      released_by: 'clerk',
      release_receipt_id: second.receipt_id,
    })
    expect((await forget('case:1')).factIds).toHaveLength(1)
    await expect(store.legalHolds.release(operator, placed.hold_id)).rejects.toMatchObject({
      code: 'LEGAL_HOLD_RELEASED',
      message: `legal hold is already released: ${placed.hold_id}`,
    })
  })

  it('stop a purge that is due, and let it go on afterwards', async () => {
    const { store, forget, clock, reopen } = await open()
    const { receiptId } = await forget('case:1')
    const { hold: placed } = await store.legalHolds.place(operator, { ...hold, entityPrefixes: [] })
    clock.advance(WEEK)
    const held = { purged: [], held: [{ receiptId, holdIds: [placed.hold_id] }] }
    expect(await store.forgetting.purgeDue()).toEqual(held)
    await store.snapshot()
    const again = await reopen()
    expect(await again.forgetting.purgeDue()).toEqual(held)
    await expect(again.forgetting.purge(operator, receiptId)).rejects.toMatchObject({
      code: 'FORGET_HELD',
    })
    await again.legalHolds.release(operator, placed.hold_id)
    expect((await again.forgetting.purgeDue()).purged).toHaveLength(1)
  })

  it('placed while a scope was looked at is respected: one of the two loses', async () => {
    for (let round = 0; round < 5; round++) {
      const { store, forget } = await open()
      const [forgotten, placed] = await Promise.allSettled([
        forget('case:1'),
        store.legalHolds.place(operator, hold),
      ])
      expect(placed.status).toBe('fulfilled')
      const page = await store.query(anna, { entity: 'case:1' })
      expect(page.rows).toHaveLength(forgotten.status === 'fulfilled' ? 0 : 1)
      if (forgotten.status === 'rejected') {
        expect(forgotten.reason).toMatchObject({ code: 'FORGET_HELD' })
      }
    }
  })

  it('do not keep anybody from deleting or storing anew', async () => {
    const { store } = await open()
    await store.legalHolds.place(operator, hold)
    const { fact } = await store.store(anna, { entity: 'case:1', key: 'k', value: 'newer' })
    expect(fact.version).toBe(2)
    expect(await store.delete(anna, fact.fact_id)).toBe(true)
  })

  it('block compaction, unless a receipt covers all of it', async () => {
    const { store } = await open()
    const { hold: placed } = await store.legalHolds.place(operator, hold)
    const { fact } = await store.store(anna, { entity: 'case:1', key: 'x', value: 'deleted' })
    await store.delete(anna, fact.fact_id)
    await expect(store.forgetting.compact()).rejects.toMatchObject({
      code: 'ERASURE_HELD',
      message: `hard erasure blocked by active legal hold(s): ${placed.hold_id}`,
    })
    await expect(store.forgetting.compact('r_none')).rejects.toMatchObject({
      message: 'legal-hold override requires a legal_hold_overridden receipt',
    })
    const given = { holdIds: [placed.hold_id], reason: 'court order' }
    const short = await store.legalHolds.override(operator, { ...given, factIds: [] })
    await expect(store.forgetting.compact(short.receipt_id)).rejects.toMatchObject({
      message: 'legal_hold_overridden receipt does not cover every blocked fact and hold',
    })
    const whole = await store.legalHolds.override(operator, { ...given, factIds: [fact.fact_id] })
    expect(await store.forgetting.compact(whole.receipt_id)).toMatchObject({ factsDropped: 1 })
  })

  it('are for operators of the tenant, and nobody writes one as a fact', async () => {
    const { store } = await open()
    const forbidden = { code: 'LEGAL_HOLD_FORBIDDEN' }
    for (const caller of [anna, ANONYMOUS, { ...operator, scopes: ['facts:write'] }]) {
      await expect(store.legalHolds.place(caller, hold)).rejects.toMatchObject(forbidden)
      await expect(store.legalHolds.list(caller)).rejects.toMatchObject(forbidden)
    }
    const elsewhere: Caller = { ...operator, tenant: 'acme', tenants: ['acme'] }
    await expect(store.legalHolds.place(elsewhere, hold)).rejects.toMatchObject({
      code: 'TENANT_FORBIDDEN',
    })
    const { hold: placed } = await store.legalHolds.place(operator, hold)
    expect(await store.legalHolds.list(elsewhere)).toEqual([])
    await expect(store.legalHolds.release(elsewhere, placed.hold_id)).rejects.toMatchObject({
      code: 'LEGAL_HOLD_NOT_FOUND',
    })
    for (const entity of ['__legal_hold__::lh_x', '__legal_hold_receipt__::r']) {
      await expect(store.store(anna, { entity, key: 'state', value: '{}' })).rejects.toMatchObject({
        code: 'ENTITY_RESERVED',
      })
    }
  })

  it('that cannot be read cover everything', async () => {
    const { store, forget } = await open()
    await store.store(SYSTEM, { entity: '__legal_hold__::lh_x', key: 'state', value: 'broken' })
    await expect(forget('other')).rejects.toMatchObject({
      code: 'FORGET_HELD',
      data: { hold_ids: ['lh_x'] },
    })
  })

  it('name a tenant and a reason', async () => {
    const { store } = await open()
    await expect(
      store.legalHolds.place(operator, { ...hold, tenantId: ' ' }),
    ).rejects.toMatchObject({ message: 'tenant_id is required' })
    await expect(store.legalHolds.place(operator, { ...hold, reason: '' })).rejects.toMatchObject({
      message: 'reason is required',
    })
  })
})
