import { createMemoryJournal, type Journal } from 'crux-storage'
import { agentCaller, ManualClock, SYSTEM } from 'crux-types'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { FactStore } from '../fact-store.js'
import { FACT_STREAM } from '../facts/journal-line.js'
import { openFactStore } from '../open-fact-store.js'
import type { ConsolidateInput } from './consolidation.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const other = agentCaller('anna', { tenant: 'acme', tenants: ['acme'] })

let journal: Journal
let clock: ManualClock
let store: FactStore
const open = () => openFactStore({ journal, clock })

beforeEach(async () => {
  journal = createMemoryJournal()
  clock = new ManualClock(NOON)
  store = await open()
})

interface Written {
  readonly fact_id: string
  readonly value: string
  readonly [member: string]: unknown
}

/** Facts in force side by side, as an import brings them. */
async function inject(...facts: readonly Written[]): Promise<void> {
  const whole = facts.map((fact) => ({
    entity: 'flag',
    key: 'state',
    source_receipt: null,
    confidence: 0.9,
    stored_at: '2026-01-15T11:00:00Z',
    deleted: false,
    version: 1,
    ...fact,
  }))
  const bytes = Buffer.from(JSON.stringify({ op: 'store_batch', facts: whole }))
  await journal.append([{ key: `default/${FACT_STREAM}/import-${facts[0]?.fact_id}`, bytes }])
}

const ask = (targetFactIds: readonly string[], more: Partial<ConsolidateInput> = {}) => ({
  entity: 'flag',
  key: 'state',
  canonicalValue: 'enabled since May',
  consolidationId: 'c1',
  targetFactIds,
  ...more,
})

const inForce = async () =>
  (await store.query(anna, { topK: 100 })).rows.map(({ fact }) => fact.value).sort()

const historyOf = async () =>
  (await store.history(anna, 'flag', 'state')).map(({ fact }) => ({
    id: fact.fact_id,
    by: fact.superseded_by,
    deleted: fact.deleted,
  }))

describe('contradictions', () => {
  it('are facts in force that say yes and no under one name, those that say no first', async () => {
    await inject(
      { fact_id: 'f_1', value: 'Yes!' },
      { fact_id: 'f_2', value: 'no' },
      { fact_id: 'f_3', value: 'perhaps' },
      { fact_id: 'f_4', value: 'disabled.', entity: 'b', key: 'k' },
      { fact_id: 'f_5', value: 'on', entity: 'b', key: 'k' },
      { fact_id: 'f_6', value: 'on', entity: 'a', key: 'k' },
      { fact_id: 'f_7', value: 'yes', entity: 'a', key: 'k' },
    )
    expect(await store.consolidations.contradictions(anna)).toEqual([
      {
        entity: 'b',
        key: 'k',
        reason: 'opposite_polarity_same_entity_key',
        polarityA: 'negative',
        polarityB: 'positive',
        factIds: ['f_4', 'f_5'],
        values: ['disabled.', 'on'],
      },
      expect.objectContaining({ entity: 'flag', factIds: ['f_2', 'f_1'], values: ['no', 'Yes!'] }),
    ])
  })

  it('are none where storing again retired what was said before, or somebody deleted it', async () => {
    await store.store(anna, { entity: 'flag', key: 'state', value: 'yes' })
    await store.store(anna, { entity: 'flag', key: 'state', value: 'no' })
    await inject(
      { fact_id: 'f_1', value: 'on', entity: 'x' },
      { fact_id: 'f_2', value: 'off', entity: 'x' },
    )
    expect(await store.consolidations.contradictions(anna)).toHaveLength(1)
    await store.delete(anna, 'f_2')
    expect(await store.consolidations.contradictions(anna)).toEqual([])
  })

  it('are shown to whoever sees all of the facts, and to nobody else', async () => {
    const mine = { entity: '__agent::anna::flag', private: true }
    await inject(
      { fact_id: 'f_1', value: 'on', ...mine },
      { fact_id: 'f_2', value: 'off', ...mine },
    )
    const seen = await store.consolidations.contradictions(anna)
    expect(seen.map(({ entity }) => entity)).toEqual(['flag'])
    for (const caller of [bert, other, SYSTEM]) {
      expect(await store.consolidations.contradictions(caller)).toEqual([])
    }
  })

  it('are those that comparing every pair of facts in force finds', async () => {
    const fact = fc.record({
      entity: fc.constantFrom('a', 'b'),
      key: fc.constantFrom('k', 'l'),
      value: fc.constantFrom('yes', 'no', 'on', 'off', 'maybe'),
      deleted: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fact, { minLength: 1, maxLength: 12 }), async (facts) => {
        journal = createMemoryJournal()
        store = await open()
        await inject(...facts.map((one, index) => ({ fact_id: `f_${index}`, ...one })))
        const yes = ['yes', 'on']
        const no = ['no', 'off']
        const live = facts.filter(({ deleted }) => !deleted)
        const expected = new Set(
          live.flatMap((a) =>
            live
              .filter((b) => a.entity === b.entity && a.key === b.key)
              .filter((b) => yes.includes(a.value) && no.includes(b.value))
              .map(() => `${a.entity}/${a.key}`),
          ),
        )
        const found = await store.consolidations.contradictions(anna)
        expect(found.map(({ entity, key }) => `${entity}/${key}`)).toEqual([...expected].sort())
      }),
      { numRuns: 60 },
    )
  })
})

describe('consolidate', () => {
  it('puts one fact in the place of several, in one record that a restart keeps', async () => {
    await inject({ fact_id: 'f_1', value: 'yes' }, { fact_id: 'f_2', value: 'no', version: 2 })
    const receipt = await store.consolidations.consolidate(anna, ask(['f_1', 'f_2']))
    expect(receipt).toEqual({
      consolidationId: 'c1',
      canonicalFactId: expect.stringMatching(/^f_[0-9a-f]{32}$/),
      supersededFactIds: ['f_1', 'f_2'],
      sourceFactIds: ['f_1', 'f_2'],
    })
    for (const each of [store, await open()]) {
      store = each
      expect(await inForce()).toEqual(['enabled since May'])
      const canonical = await store.get(anna, receipt.canonicalFactId)
      expect(canonical?.fact).toMatchObject({
        version: 3,
        supersedes: 'f_2',
        source_receipt: 'consolidation:c1',
        actor: 'anna',
        private: false,
        confidence: 1,
        horizon_class: 'none',
      })
      expect((await historyOf()).map(({ by }) => by)).toEqual([
        receipt.canonicalFactId,
        receipt.canonicalFactId,
        undefined,
      ])
    }
  })

  it('refuses what protects a fact, with the reason, and changes nothing', async () => {
    const mine = { entity: '__agent::anna::flag', private: true }
    await inject(
      { fact_id: 'f_1', value: 'yes' },
      { fact_id: 'f_gone', value: 'no', deleted: true },
      { fact_id: 'f_mine', value: 'no', ...mine },
      { fact_id: 'f_theirs', value: 'no', entity: '__agent::bert::flag', private: true },
      { fact_id: 'f_receipt', value: 'no', source_receipt: 'r' },
      { fact_id: 'f_sure', value: 'no', confidence: 0.99 },
      { fact_id: 'f_other', value: 'no', key: 'colour' },
      { fact_id: 'f_head', value: 'off', version: 2 },
    )
    const refusals: [readonly string[], string, string][] = [
      [[], 'invalid_request', 'consolidation requires at least one target fact'],
      [['f_1', 'f_1'], 'invalid_request', 'duplicate target fact id: f_1'],
      [['f_0'], 'target_not_found', 'target fact not found: f_0'],
      [['f_theirs'], 'target_not_found', 'target fact not found: f_theirs'],
      [['f_gone'], 'target_deleted', 'target fact is deleted: f_gone'],
      [['f_mine'], 'target_private', 'target fact is private: f_mine'],
      [['f_receipt'], 'target_receipt_linked', 'target fact is receipt-linked: f_receipt'],
      [
        ['f_1', 'f_sure'],
        'target_high_confidence',
        'target fact confidence is protected: f_sure confidence=0.990',
      ],
      [['f_other'], 'invalid_request', 'target fact is outside requested entity/key: f_other'],
      [
        ['f_1'],
        'invalid_request',
        'current prior version must be an explicitly validated target: f_head',
      ],
    ]
    const before = await historyOf()
    for (const [targets, reason, message] of refusals) {
      const refused = store.consolidations.consolidate(anna, ask(targets))
      await expect(refused).rejects.toMatchObject({
        code: 'CONSOLIDATION_REFUSED',
        message,
        data: { reason },
      })
    }
    const guarded = ask(['f_head', 'f_1'], { protectedFactIds: ['f_1'] })
    await expect(store.consolidations.consolidate(anna, guarded)).rejects.toMatchObject({
      data: { reason: 'target_pinned', fact_id: 'f_1' },
    })
    const unnamed = ask(['f_head'], { consolidationId: ' ' })
    await expect(store.consolidations.consolidate(anna, unnamed)).rejects.toMatchObject({
      data: { reason: 'invalid_request' },
    })
    const readOnly = { ...anna, readOnly: true }
    await expect(store.consolidations.consolidate(readOnly, ask(['f_head']))).rejects.toMatchObject(
      { code: 'READ_ONLY_CALLER' },
    )
    await expect(store.consolidations.consolidate(other, ask(['f_head']))).rejects.toMatchObject({
      data: { reason: 'target_not_found' },
    })
    expect(await historyOf()).toEqual(before)
    await store.consolidations.consolidate(
      anna,
      ask(['f_head', 'f_sure', 'f_1'], { protectedConfidenceFloor: 1.1 }),
    )
  })
})

describe('undo', () => {
  it('restores exactly what was there, also after a restart and from a snapshot', async () => {
    const { fact: first } = await store.store(anna, {
      entity: 'flag',
      key: 'state',
      value: 'yes',
      confidence: 0.5,
    })
    const { fact: second } = await store.store(anna, {
      entity: 'flag',
      key: 'state',
      value: 'no',
      confidence: 0.5,
    })
    const before = await historyOf()
    const targets = [first.fact_id, second.fact_id]
    const { canonicalFactId } = await store.consolidations.consolidate(anna, ask(targets))
    expect(await inForce()).toEqual(['enabled since May'])
    await store.snapshot()
    store = await open()
    expect(await store.consolidations.undo(bert, canonicalFactId)).toEqual({
      status: 'undone',
      canonicalFactId,
      restoredFactIds: targets,
    })
    for (const each of [store, await open()]) {
      store = each
      expect(await inForce()).toEqual(['no'])
      expect((await historyOf()).slice(0, 2)).toEqual(before)
      expect((await historyOf())[2]).toMatchObject({ id: canonicalFactId, deleted: true })
      expect(await store.consolidations.undo(anna, canonicalFactId)).toMatchObject({
        status: 'already_undone',
      })
    }
    await store.snapshot()
    store = await open()
    expect(await store.consolidations.undo(anna, canonicalFactId)).toMatchObject({
      status: 'already_undone',
    })
  })

  it('refuses other facts, and one on which a newer version stands', async () => {
    const input = { entity: 'flag', key: 'state', confidence: 0.5 }
    const { fact } = await store.store(anna, { ...input, value: 'yes' })
    await expect(store.consolidations.undo(anna, fact.fact_id)).rejects.toMatchObject({
      code: 'UNDO_REFUSED',
      message: `fact is not a consolidation canonical: ${fact.fact_id}`,
    })
    const { canonicalFactId } = await store.consolidations.consolidate(anna, ask([fact.fact_id]))
    expect(await store.consolidations.undo(other, canonicalFactId)).toBeUndefined()
    expect(await store.consolidations.undo(anna, 'f_0')).toBeUndefined()
    await store.store(anna, { ...input, value: 'newer' })
    await expect(store.consolidations.undo(anna, canonicalFactId)).rejects.toMatchObject({
      message: `consolidation canonical has a newer successor and cannot be undone: ${canonicalFactId}`,
    })
    expect(await inForce()).toEqual(['newer'])
  })
})

describe('review', () => {
  const reviews = async () => {
    const store = await open()
    // Reviews are the daemon's own; their text is read from the journal.
    const records: string[] = []
    const following = new AbortController()
    const keep = (record: { bytes: Uint8Array }) => {
      records.push(Buffer.from(record.bytes).toString())
    }
    await journal.follow(FACT_STREAM, 0, keep, following.signal)
    following.abort()
    await store.close()
    return records
      .map((text) => JSON.parse(text).fact)
      .filter((fact) => fact?.entity.startsWith('__consolidation_review__::run_'))
  }

  it('stores the open contradictions of each tenant for a person, and resolves none', async () => {
    await inject(
      { fact_id: 'f_1', value: 'yes' },
      { fact_id: 'f_2', value: 'no' },
      { fact_id: 'f_3', value: 'yes', tenant_hash: 'acme' },
      { fact_id: 'f_4', value: 'no', tenant_hash: 'acme' },
    )
    const runs = await store.consolidations.review()
    expect(runs.map(({ tenant, count }) => [tenant, count])).toEqual([
      ['default', 1],
      ['acme', 1],
    ])
    const [review] = await reviews()
    expect(review).toMatchObject({
      entity: `__consolidation_review__::run_${runs[0]?.runId}`,
      key: 'review',
      private: true,
      horizon_class: 'stable',
      actor: 'consolidation-scheduler',
    })
    expect(JSON.parse(review.value)).toMatchObject({
      schema: 'crux.consolidation_review.v1',
      count: 1,
      resolution: 'explicit',
      surfaced_at: '2026-01-15T12:00:00.000Z',
      candidates: [{ entity: 'flag', fact_ids: ['f_2', 'f_1'] }],
    })
    expect(await inForce()).toEqual(['no', 'yes'])
  })

  it('leaves out groups that nobody could resolve: private, receipted, sure or pinned facts', async () => {
    const sure = { confidence: 1 }
    const mine = { entity: '__agent::anna::x', private: true }
    await inject(
      { fact_id: 'f_1', value: 'yes', entity: 'a', ...sure },
      { fact_id: 'f_2', value: 'no', entity: 'a', source_receipt: 'r' },
      { fact_id: 'f_3', value: 'yes', ...mine },
      { fact_id: 'f_4', value: 'no', ...mine },
      { fact_id: 'f_5', value: 'yes', entity: 'b', ...sure },
      { fact_id: 'f_6', value: 'no', entity: 'b' },
    )
    await store.panel.pin(bert, 'f_6', true)
    expect(await store.consolidations.review()).toEqual([])
    await store.panel.pin(bert, 'f_6', false)
    expect(await store.consolidations.review()).toMatchObject([{ count: 1 }])
  })
})
