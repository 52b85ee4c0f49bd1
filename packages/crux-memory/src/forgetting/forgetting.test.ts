import { blake3 } from '@noble/hashes/blake3.js'
import { decode } from 'cborg'
import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { FactStore } from '../fact-store.js'
import { type FactStoreOptions, openFactStore } from '../open-fact-store.js'
import type { ForgetScope } from './scope.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const DAY = 86_400_000
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const operator: Caller = { ...ANONYMOUS, kind: 'http', scopes: ['admin:write'] }
const prefix = (value: string): ForgetScope => ({ type: 'entity_prefix', value })

interface Fixture {
  readonly store: FactStore
  readonly journal: Journal
  readonly clock: ManualClock
  readonly put: (
    entity: string,
    value: string,
    more?: { key?: string; private?: boolean; by?: Caller },
  ) => Promise<string>
  /** The same journal in another store. */
  readonly reopen: () => Promise<FactStore>
  readonly values: (store?: FactStore, caller?: Caller) => Promise<string[]>
  readonly history: (entity: string, store?: FactStore) => Promise<string[]>
}

async function open(options: Partial<FactStoreOptions> = {}): Promise<Fixture> {
  const journal = createMemoryJournal()
  const clock = new ManualClock(NOON)
  const reopen = () => openFactStore({ journal, clock, ...options })
  const store = await reopen()
  return {
    store,
    journal,
    clock,
    reopen,
    async put(entity, value, more = {}) {
      const input = { entity, key: more.key ?? 'k', value, private: more.private ?? false }
      return (await store.store(more.by ?? anna, input)).fact.fact_id
    },
    async values(of = store, caller = anna) {
      const page = await of.query(caller, { topK: 1000, includeSuperseded: true })
      return page.rows.map((row) => row.fact.value).sort()
    },
    async history(entity, of = store) {
      return (await of.history(anna, entity, 'k')).map((row) => row.fact.value)
    },
  }
}

async function bytesOf(journal: Journal): Promise<string> {
  let text = ''
  const stop = new AbortController()
  await journal.follow(
    'facts',
    0,
    ({ bytes }) => {
      text += Buffer.from(bytes).toString()
    },
    stop.signal,
  )
  stop.abort()
  return text
}

describe('forget', () => {
  it('takes the values from every read path at once, and history says so', async () => {
    const { store, put, values, history, reopen } = await open()
    const old = await put('trip:x', 'first needle')
    const id = await put('trip:x', 'second needle')
    await put('keep', 'other')
    const receipt = await store.forgetting.forget(anna, { scope: prefix('trip:'), reason: 'asked' })
    expect(receipt.factIds).toEqual([old, id])
    for (const one of [store, await reopen()]) {
      expect(await values(one)).toEqual(['other'])
      expect(await history('trip:x', one)).toEqual(['[forgotten]', '[forgotten]'])
      expect((await one.query(anna, { query: 'needle' })).rows).toEqual([])
      expect(await one.get(anna, id)).toBeUndefined()
      expect(await one.entities(anna)).toEqual(['keep'])
      expect((await one.view(anna, {})).rows.map((row) => row.entity)).toEqual(['keep'])
      expect(one.stats().live).toBe(1)
      const rows = await one.history(anna, 'trip:x', 'k')
      expect(rows.map(({ fact }) => [fact.forgotten, fact.deleted])).toEqual([
        [true, true],
        [true, true],
      ])
    }
  })

  it('gives a receipt in CBOR with the members of its schema in order', async () => {
    const { store, put } = await open()
    const id = await put('a', 'value')
    await put('b', 'other')
    const { receiptId, body, bodyHash, windowEnd, windowSeconds } = await store.forgetting.forget(
      anna,
      { scope: prefix('a'), reason: 'why', receiptTenant: 'acme' },
    )
    expect(receiptId).toMatch(/^r_forget_[0-9a-f]{16}$/)
    expect(windowSeconds).toBe(7 * 86_400)
    expect(windowEnd).toBe(NOON + 7 * DAY)
    expect(Buffer.from(bodyHash)).toEqual(Buffer.from(blake3(body)))
    const read = decode(body, { useMaps: true }) as Map<string, unknown>
    expect([...read.keys()]).toEqual([
      'schema',
      'receipt_id',
      'tenant_id',
      'passport_id',
      'reason',
      'scope',
      'facts_affected',
      'initiated_at',
      'recovery_window_ends_at',
    ])
    const plain = decode(body) as { facts_affected: Record<string, string>[] }
    expect(plain).toMatchObject({
      schema: 'cuecrux.receipt.forget.v1',
      tenant_id: 'acme',
      passport_id: 'anna',
      reason: 'why',
      scope: { type: 'entity_prefix', value: 'a' },
      initiated_at: '2026-01-15T12:00:00.000Z',
      recovery_window_ends_at: '2026-01-22T12:00:00.000Z',
    })
    expect(plain.facts_affected).toEqual([
      {
        fact_id: id,
        pre_forget_value_hash_hex: Buffer.from(blake3(Buffer.from('value'))).toString('hex'),
        entity: 'a',
        key: 'k',
      },
    ])
  })

  it('reaches the own private facts, by either name, and nobody else’s', async () => {
    const { store, put, values } = await open()
    await put('plan', 'mine', { private: true })
    await put('plan', 'his', { private: true, by: bert })
    await put('plan2', 'shared')
    const scope: ForgetScope = { type: 'passport_id', value: 'bert' }
    expect((await store.forgetting.preview(anna, { scope })).facts).toEqual([])
    const own = await store.forgetting.preview(anna, { scope: prefix('plan') })
    expect(own.facts.map((fact) => fact.entity)).toEqual(['plan', 'plan2'])
    const stored = { scope: prefix('__agent::anna::'), reason: 'r' }
    expect((await store.forgetting.forget(anna, stored)).factIds).toHaveLength(1)
    expect(await values()).toEqual(['shared'])
    expect(await values(store, bert)).toEqual(['his', 'shared'])
  })

  it('leaves reserved, deleted, foreign and pinned facts alone', async () => {
    const { store, put } = await open()
    await put('__bootstrap__::doc:x', 'system')
    const gone = await put('x1', 'gone')
    await store.delete(anna, gone)
    const pinned = await put('x2', 'pinned')
    await store.panel.pin(anna, pinned, true)
    await put('x3', 'elsewhere', { by: agentCaller('anna', { tenant: 'acme', tenants: ['acme'] }) })
    const scope = prefix('')
    const preview = (includePinned: boolean) =>
      store.forgetting.preview(anna, { scope, includePinned })
    expect((await preview(false)).facts).toEqual([])
    expect((await preview(true)).facts.map((fact) => fact.factId)).toEqual([pinned])
    expect((await store.forgetting.preview(bert, { scope })).facts).toHaveLength(1)
  })

  it('takes the oldest within a budget of tokens, at least one', async () => {
    const { store, put, clock } = await open()
    const ids: string[] = []
    for (const name of ['a1', 'a2', 'a3']) {
      ids.push(await put(name, 'x'.repeat(40)))
      clock.advance(1000)
    }
    const ask = async (tokenBudget: number) =>
      (await store.forgetting.preview(anna, { scope: prefix('a'), tokenBudget })).facts.length
    expect(await Promise.all([0, 1, 20, 29, 30].map(ask))).toEqual([1, 1, 2, 2, 3])
    const { facts } = await store.forgetting.preview(anna, { scope: prefix('a'), tokenBudget: 20 })
    expect(facts.map((fact) => fact.factId)).toEqual(ids.slice(0, 2))
  })

  it('asks for an identity, a reason and a well-formed scope', async () => {
    const { store } = await open()
    const { forgetting } = store
    const request = { scope: prefix('a'), reason: 'r' }
    await expect(forgetting.forget(ANONYMOUS, request)).rejects.toMatchObject({
      code: 'FORGET_NEEDS_IDENTITY',
    })
    await expect(forgetting.forget(anna, { ...request, reason: ' ' })).rejects.toMatchObject({
      code: 'FORGET_REASON_MISSING',
    })
    await expect(forgetting.forget({ ...anna, readOnly: true }, request)).rejects.toMatchObject({
      code: 'READ_ONLY_CALLER',
    })
    const nothing = await forgetting.forget(anna, request)
    expect(nothing.factIds).toEqual([])
    expect(nothing.receiptId).toMatch(/^r_forget_/)
  })

  it('gives every receipt an id of its own', async () => {
    const { store } = await open()
    const request = { scope: prefix('none'), reason: 'r' }
    const ids = new Set<string>()
    for (let i = 0; i < 5; i++) ids.add((await store.forgetting.forget(anna, request)).receiptId)
    expect(ids.size).toBe(5)
  })

  it('takes canonical facts, candidates and reviews along that repeat a value', async () => {
    const { store, put, values, clock, journal } = await open()
    const value = 'the code of the vault is 7351'
    const source = await put('vault', value)
    const quoting = { candidate_id: 'c1', proposed_entity: 'v', proposed_value: `so ${value}` }
    const naming = { candidates: [{ fact_ids: [source] }] }
    const system = async (entity: string, text: unknown) =>
      (await store.store(SYSTEM, { entity, key: 'candidate', value: JSON.stringify(text) })).fact
        .fact_id
    const candidate = await system('__candidate_fact__::c1', quoting)
    const review = await system('__consolidation_review__::run_1', naming)
    await system('__candidate_fact__::c2', { proposed_value: 'something else' })
    const { facts: _, ...preview } = await store.forgetting.preview(anna, {
      scope: prefix('vault'),
    })
    expect([...preview.derivedFactIds].sort()).toEqual([candidate, review].sort())
    const request = { scope: prefix('vault'), reason: 'r', confirm: preview.confirm }
    await store.forgetting.forget(anna, request)
    expect(await values()).toEqual([])
    clock.advance(7 * DAY)
    await store.forgetting.purgeDue()
    const text = await bytesOf(journal)
    expect(text).not.toContain('7351')
    expect(text).toContain('something else')
  })
})

describe('the confirmation of a forgetting', () => {
  it('is needed for more than 100 facts, and for all that the caller sees', async () => {
    const { store, put } = await open()
    for (let i = 0; i < 101; i++) await put(`a:${i}`, `v${i}`)
    await put('b', 'v')
    const scope = prefix('a:')
    const { isConfirmNeeded, confirm } = await store.forgetting.preview(anna, { scope })
    expect(isConfirmNeeded).toBe(true)
    await expect(store.forgetting.forget(anna, { scope, reason: 'r' })).rejects.toMatchObject({
      code: 'FORGET_CONFIRM_MISSING',
      data: { count: 101 },
    })
    const done = await store.forgetting.forget(anna, { scope, reason: 'r', confirm })
    expect(done.factIds).toHaveLength(101)
    const last = { scope: prefix('b'), reason: 'r' }
    await expect(store.forgetting.forget(anna, last)).rejects.toMatchObject({
      code: 'FORGET_CONFIRM_MISSING',
      data: { count: 1, all_visible: true },
    })
  })

  it('is not needed for 100 of 101', async () => {
    const { store, put } = await open()
    for (let i = 0; i < 100; i++) await put(`a:${i}`, `v${i}`)
    await put('b', 'v')
    const done = await store.forgetting.forget(anna, { scope: prefix('a:'), reason: 'r' })
    expect(done.factIds).toHaveLength(100)
  })

  it('fits one set, one scope, one caller and one data directory', async () => {
    const confirmKey = Buffer.alloc(32, 1)
    const { store, put, reopen } = await open({ forgetting: { confirmKey } })
    await put('a', 'v')
    const scope = prefix('a')
    const { confirm } = await store.forgetting.preview(anna, { scope })
    const stale = { code: 'FORGET_CONFIRM_STALE' }
    const attempt = (caller: Caller, other: ForgetScope, includePinned = false) =>
      store.forgetting.forget(caller, { scope: other, reason: 'r', confirm, includePinned })
    await expect(attempt(bert, scope)).rejects.toMatchObject(stale)
    await expect(attempt(anna, prefix(''))).rejects.toMatchObject(stale)
    await expect(attempt(anna, scope, true)).rejects.toMatchObject(stale)
    const { confirm: foreign } = await (await open()).store.forgetting.preview(anna, { scope })
    expect(foreign).not.toBe(confirm)
    await put('a2', 'v2')
    await expect(attempt(anna, scope)).rejects.toMatchObject({ ...stale, data: { count: 2 } })
    const again = await reopen()
    const { confirm: fresh } = await again.forgetting.preview(anna, { scope })
    const done = await store.forgetting.forget(anna, { scope, reason: 'r', confirm: fresh })
    expect(done.factIds).toHaveLength(2)
  })
})

describe('restore', () => {
  it.each([
    ['the older first', [0, 1]],
    ['the newer first', [1, 0]],
  ])('leaves one version in force, whichever comes back first: %s', async (_, order) => {
    const { store, put, reopen } = await open()
    const receipts: string[] = []
    await put('other', 'stays')
    for (const value of ['one', 'two']) {
      await put('lamp', value)
      const scope = prefix('lamp')
      const { receiptId } = await store.forgetting.forget(anna, { scope, reason: 'tidying' })
      receipts.push(receiptId)
    }
    for (const at of order) await store.forgetting.restore(anna, receipts[at] ?? '')
    for (const one of [store, await reopen()]) {
      const { rows } = await one.query(anna, { entity: 'lamp' })
      expect(rows.map(({ fact }) => fact.value)).toEqual(['two'])
      const past = await one.history(anna, 'lamp', 'k')
      expect(past.map(({ fact }) => fact.value)).toEqual(['one', 'two'])
    }
  })

  it('brings everything back within the window, after a restart too', async () => {
    const { store, put, values, history, reopen, clock } = await open()
    await put('a', 'one')
    await put('a', 'two')
    await put('b', 'other')
    const { receiptId } = await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    await store.snapshot()
    clock.advance(7 * DAY - 1)
    const again = await reopen()
    expect(await again.forgetting.restore(bert, receiptId)).toBeUndefined()
    const entry = await again.forgetting.restore(anna, receiptId)
    expect(entry).toMatchObject({ status: 'restored', receiptId })
    for (const one of [store, again, await reopen()]) {
      expect(await values(one)).toEqual(['one', 'other', 'two'])
      expect(await history('a', one)).toEqual(['one', 'two'])
      expect((await one.query(anna, { entity: 'a' })).rows.map((row) => row.fact.value)).toEqual([
        'two',
      ])
    }
    await expect(again.forgetting.restore(anna, receiptId)).rejects.toMatchObject({
      code: 'FORGET_ENDED',
    })
  })

  it('is refused once the window is over', async () => {
    const { store, put, clock } = await open()
    await put('a', 'one')
    await put('b', 'other')
    const { receiptId } = await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    clock.advance(7 * DAY)
    await expect(store.forgetting.restore(anna, receiptId)).rejects.toMatchObject({
      code: 'FORGET_WINDOW_OVER',
    })
  })

  it('does not put an old value before one that was stored since', async () => {
    const { store, put, history, reopen } = await open()
    await put('a', 'one')
    await put('b', 'other')
    const { receiptId } = await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    await put('a', 'two')
    await store.forgetting.restore(anna, receiptId)
    for (const one of [store, await reopen()]) {
      expect(await history('a', one)).toEqual(['one', 'two'])
      const current = await one.query(anna, { entity: 'a' })
      expect(current.rows.map(({ fact }) => [fact.value, fact.version])).toEqual([['two', 2]])
    }
  })
})

describe('purge', () => {
  it('runs after the window, takes the values out of the journal and nothing else', async () => {
    const { store, journal, put, history, reopen, clock } = await open()
    const deleted = await put('other', 'a deleted value that stays')
    await store.delete(anna, deleted)
    await put('a', 'the secret')
    await put('kept', 'the secret')
    const { receiptId, factIds } = await store.forgetting.forget(anna, {
      scope: prefix('a'),
      reason: 'he told me the secret',
    })
    clock.advance(7 * DAY - 1)
    expect(await store.forgetting.purgeDue()).toEqual({ purged: [], held: [] })
    expect(await bytesOf(journal)).toContain('"entity":"a","key":"k","value":"the secret"')
    clock.advance(1)
    const { purged } = await store.forgetting.purgeDue()
    expect(purged).toMatchObject([{ forgetReceiptId: receiptId, factIds }])
    const body = decode(purged[0]?.body ?? new Uint8Array())
    expect(body).toEqual({
      schema: 'cuecrux.receipt.permanent_purge.v1',
      receipt_id: purged[0]?.receiptId,
      tenant_id: 'default',
      source_forget_receipt_id: receiptId,
      purged_fact_ids: factIds,
      purged_at: '2026-01-22T12:00:00.000Z',
    })
    const text = await bytesOf(journal)
    // Another fact of equal value was not forgotten.
    expect(text.match(/the secret/g)).toHaveLength(1)
    expect(text).toContain('a deleted value that stays')
    expect(text).not.toContain('he told me')
    for (const one of [store, await reopen()]) {
      expect(await history('a', one)).toEqual(['[forgotten]'])
      expect(await history('other', one)).toEqual(['a deleted value that stays'])
      expect(await history('kept', one)).toEqual(['the secret'])
      expect(await one.forgetting.list(anna)).toMatchObject([{ receiptId, status: 'purged' }])
    }
    expect((await put('a', 'new')).startsWith('f_')).toBe(true)
    expect(await history('a')).toEqual(['[forgotten]', 'new'])
    await expect(store.forgetting.restore(anna, receiptId)).rejects.toMatchObject({
      code: 'FORGET_ENDED',
    })
  })

  it('leaves no value in a snapshot either', async () => {
    const { store, journal, put, clock, reopen, history } = await open()
    await put('a', 'the secret')
    await put('b', 'other')
    await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    clock.advance(7 * DAY)
    await store.forgetting.purgeDue()
    await store.snapshot()
    const saved = await journal.loadSnapshot('facts')
    let bytes = ''
    for await (const piece of saved?.state ?? []) bytes += Buffer.from(piece).toString('latin1')
    expect(bytes).not.toContain('secret')
    expect(await history('a', await reopen())).toEqual(['[forgotten]'])
  })

  it('before the window ends is for operators', async () => {
    const { store, put } = await open()
    await put('a', 'one')
    await put('b', 'other')
    const { receiptId } = await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    const { forgetting } = store
    expect(await forgetting.purge(bert, receiptId)).toBeUndefined()
    await expect(forgetting.purge(anna, receiptId)).rejects.toMatchObject({
      code: 'FORGET_WINDOW_OPEN',
    })
    await expect(forgetting.purge(anna, receiptId, { isNow: true })).rejects.toMatchObject({
      code: 'FORGET_NOT_OPERATOR',
    })
    const done = await forgetting.purge(operator, receiptId, { isNow: true })
    expect(done?.forgetReceiptId).toBe(receiptId)
    await expect(forgetting.purge(operator, receiptId)).rejects.toMatchObject({
      code: 'FORGET_ENDED',
    })
  })

  it('goes on where a crash left it, and nobody sees a value in between', async () => {
    const failing = async (point: string) => {
      const { store, put, clock, reopen, journal, history } = await open({
        forgetting: {
          failpoint: (name) => {
            if (name === point) throw new Error('crash')
          },
        },
      })
      await put('a', 'the secret')
      await put('b', 'other')
      await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
      clock.advance(7 * DAY)
      await expect(store.forgetting.purgeDue()).rejects.toThrow('crash')
      await store.close()
      const again = await openFactStore({ journal, clock })
      expect(await history('a', again)).toEqual(['[forgotten]'])
      await again.forgetting.purgeDue()
      expect(await bytesOf(journal)).not.toContain('secret')
      expect(await history('a', await reopen())).toEqual(['[forgotten]'])
      expect(await history('b', again)).toEqual(['other'])
    }
    for (const point of [
      'purge_before_commit',
      'purge_after_commit',
      'purge_after_rewrite',
      'purge_after_copies',
      'purge_after_done',
    ]) {
      await failing(point)
    }
  })

  it('reaches lines of other programs, batches and consolidations', async () => {
    const { journal, clock } = await open()
    const fact = (id: string, entity: string) => ({
      fact_id: id,
      entity,
      key: 'k',
      value: 'the secret',
      confidence: 1,
      stored_at: '2026-01-01T00:00:00Z',
    })
    const lines = [
      { op: 'store_batch', facts: [fact('f_1', 'a'), fact('f_2', 'kept')] },
      { op: 'consolidate', canonical: fact('f_3', 'a2'), superseded_fact_ids: [] },
    ]
    for (const line of lines) {
      const bytes = Buffer.from(JSON.stringify(line))
      await journal.append([{ key: 'default/facts/x', bytes }])
    }
    const store = await openFactStore({ journal, clock })
    await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    clock.advance(7 * DAY)
    await store.forgetting.purgeDue()
    expect((await bytesOf(journal)).match(/the secret/g)).toHaveLength(1)
  })

  it('erases copies in other stores, which are hidden from the forgetting on', async () => {
    const copies = new Map([['c1', 'quotes the secret here']])
    const { store, put, clock } = await open({
      forgetting: {
        copies: () => [
          {
            kind: 'note',
            find: async (_, holds) =>
              [...copies].filter(([, text]) => holds(Buffer.from(text))).map(([id]) => id),
            erase: async (_tenant, ids) => {
              for (const id of ids) copies.delete(id)
            },
          },
        ],
      },
    })
    copies.set('c2', 'nothing of it')
    await put('a', 'quotes the secret')
    await put('b', 'other')
    const { receiptId } = await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    const isHidden = (id: string) =>
      store.forgetting.isForgottenCopy('default', { kind: 'note', id })
    expect([isHidden('c1'), isHidden('c2')]).toEqual([true, false])
    await store.forgetting.restore(anna, receiptId)
    expect(isHidden('c1')).toBe(false)
    await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    clock.advance(7 * DAY + 1)
    await store.forgetting.purgeDue()
    expect([...copies.keys()]).toEqual(['c2'])
  })
})

describe('list', () => {
  it('shows who forgot what is its own, and an operator all of its tenant', async () => {
    const { store, put } = await open()
    await put('a', 'one')
    await put('b', 'other')
    await store.forgetting.forget(anna, { scope: prefix('a'), reason: 'r' })
    const { forgetting } = store
    expect(await forgetting.list(anna)).toHaveLength(1)
    expect(await forgetting.list(bert)).toEqual([])
    expect(await forgetting.list(ANONYMOUS)).toEqual([])
    expect(await forgetting.list(operator)).toHaveLength(1)
    expect(await forgetting.list({ ...operator, tenant: 'acme' })).toEqual([])
    expect(await forgetting.list({ ...operator, scopes: ['facts:write'] })).toEqual([])
  })
})

describe('compact', () => {
  it('takes the values of deleted facts and leaves what can be restored', async () => {
    const { store, put, history, journal, reopen, values } = await open()
    await store.delete(anna, await put('a', 'deleted text'))
    await put('b', 'forgotten text')
    await put('c', 'live text')
    const { receiptId } = await store.forgetting.forget(anna, { scope: prefix('b'), reason: 'r' })
    expect(await store.forgetting.compact()).toEqual({
      factsDropped: 1,
      factsRetained: 1,
      tombstonesKept: 1,
    })
    const text = await bytesOf(journal)
    expect(text).not.toContain('deleted text')
    expect(text).toContain('live text')
    await store.forgetting.restore(anna, receiptId)
    for (const one of [store, await reopen()]) {
      expect(await values(one)).toEqual(['forgotten text', 'live text'])
      expect(await history('a', one)).toEqual(['[forgotten]'])
    }
    expect(await store.forgetting.compact()).toMatchObject({ factsDropped: 0, tombstonesKept: 1 })
  })
})

describe('markRetentionEligible', () => {
  it('deletes what is old, shared and not held', async () => {
    const { store, put, clock, values, history, reopen } = await open()
    await put('old', 'old')
    await put('held', 'held')
    await put('mine', 'mine', { private: true })
    await store.legalHolds.place(operator, {
      tenantId: 'default',
      entityPrefixes: ['held'],
      reason: 'case 1',
    })
    clock.advance(DAY)
    await put('new', 'new')
    expect(await store.forgetting.markRetentionEligible(NOON + DAY)).toHaveLength(1)
    for (const one of [store, await reopen()]) {
      expect(await values(one)).toEqual(['held', 'mine', 'new'])
      expect(await history('old', one)).toEqual(['old'])
    }
    expect(await store.forgetting.markRetentionEligible(NOON + DAY)).toEqual([])
  })
})
