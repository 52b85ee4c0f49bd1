import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { beforeEach, describe, expect, it } from 'vitest'
import type { FactStore } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'
import { decodeCandidate } from './candidate.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const operator: Caller = { ...ANONYMOUS, kind: 'http', scopes: ['admin:read', 'admin:write'] }
const reader: Caller = { ...operator, scopes: ['query:read', 'facts:write'] }
const PROPOSAL = {
  proposedEntity: 'service:api',
  proposedKey: 'port',
  proposedValue: '9090',
  rule: 'said-twice',
  confidence: 0.75,
  decayClass: 'medium',
  source: { session_id: 's1', evidence: 'it moved' },
} as const

let journal: Journal
let clock: ManualClock
let store: FactStore
const open = () => openFactStore({ journal, clock })

beforeEach(async () => {
  journal = createMemoryJournal()
  clock = new ManualClock(NOON)
  store = await open()
})

const recalled = async () => (await store.query(anna, {})).rows.map(({ fact }) => fact)

describe('a candidate', () => {
  it('is kept for review, recalled by nobody, and there after a restart', async () => {
    const candidate = await store.candidates.propose(SYSTEM, { candidateId: 'c1', ...PROPOSAL })
    expect(candidate).toEqual({
      ...PROPOSAL,
      candidateId: 'c1',
      status: 'candidate',
      createdAt: '2026-01-15T12:00:00.000Z',
    })
    store = await open()
    expect(await store.candidates.list(operator)).toEqual([candidate])
    expect(await recalled()).toEqual([])
    expect(await store.entities(SYSTEM)).toEqual([])
  })

  it('is the same one when it is proposed again', async () => {
    await store.candidates.propose(SYSTEM, { candidateId: 'c1', ...PROPOSAL })
    clock.advance(1000)
    await store.candidates.propose(SYSTEM, {
      candidateId: 'c1',
      ...PROPOSAL,
      proposedValue: 'other',
    })
    expect(await store.candidates.list(operator)).toMatchObject([{ proposedValue: '9090' }])
  })

  it('becomes a fact when a reviewer promotes it, once', async () => {
    await store.candidates.propose(SYSTEM, { candidateId: 'c1', ...PROPOSAL })
    const by = { reviewer: 'rita' }
    const both = await Promise.allSettled([
      store.candidates.promote(operator, 'c1', by),
      store.candidates.promote(operator, 'c1', by),
    ])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    const [fact, ...others] = await recalled()
    expect(others).toEqual([])
    expect(fact).toMatchObject({
      entity: 'service:api',
      key: 'port',
      value: '9090',
      confidence: 0.75,
      horizon_class: 'medium',
      source_receipt: '__candidate_fact__::c1',
      actor: 'auto-capture:promoted-by:rita',
      private: false,
    })
    store = await open()
    expect(await store.candidates.list(operator, { status: 'promoted' })).toMatchObject([
      { promotedFactId: fact?.fact_id },
    ])
    await expect(store.candidates.promote(operator, 'c1', by)).rejects.toMatchObject({
      code: 'CANDIDATE_PROMOTED',
      message: 'candidate already promoted',
    })
    await expect(store.candidates.reject(operator, 'c1', 'no')).rejects.toMatchObject({
      code: 'CANDIDATE_PROMOTED',
    })
  })

  it('takes the fact that an interrupted promotion stored', async () => {
    await store.candidates.propose(SYSTEM, { candidateId: 'c1', ...PROPOSAL })
    const { fact } = await store.store(operator, {
      entity: 'service:api',
      key: 'port',
      value: '9090',
      sourceReceipt: '__candidate_fact__::c1',
    })
    const promoted = await store.candidates.promote(operator, 'c1', { reviewer: 'rita' })
    expect(promoted.promotedFactId).toBe(fact.fact_id)
    expect(await recalled()).toHaveLength(1)
  })

  it('is promoted without a person only by a score that is high enough', async () => {
    await store.candidates.propose(SYSTEM, { candidateId: 'bare', ...PROPOSAL })
    await store.candidates.propose(SYSTEM, {
      candidateId: 'scored',
      ...PROPOSAL,
      verifierScore: 0.8,
    })
    const attempt = (id: string, threshold: number) =>
      store.candidates.promote(operator, id, { threshold }).catch((error) => error.message)
    expect(await attempt('bare', 0)).toBe(
      'promotion refused (fail-closed): unscored candidate cannot be auto-promoted (review-only)',
    )
    expect(await attempt('scored', 0.9)).toBe(
      'promotion refused (fail-closed): verifier_score 0.8 < threshold 0.9',
    )
    expect(await attempt('scored', Number.NaN)).toContain('promotion refused')
    expect(await recalled()).toEqual([])
    expect(await attempt('scored', 0.8)).toMatchObject({ status: 'promoted' })
    expect((await recalled())[0]?.actor).toBe('auto-capture:auto-promoted')
  })

  it('may be rejected and promoted later', async () => {
    await store.candidates.propose(SYSTEM, { candidateId: 'c1', ...PROPOSAL })
    const rejected = await store.candidates.reject(operator, 'c1', 'not yet')
    expect(rejected).toMatchObject({ status: 'rejected', rejectReason: 'not yet' })
    const promoted = await store.candidates.promote(operator, 'c1', { reviewer: 'rita' })
    expect(promoted).toMatchObject({ status: 'promoted' })
    expect(promoted).not.toHaveProperty('rejectReason')
    await expect(store.candidates.reject(operator, 'c0', 'no')).rejects.toMatchObject({
      code: 'CANDIDATE_NOT_FOUND',
    })
  })

  it('is for operators, in their own tenant', async () => {
    await store.candidates.propose(SYSTEM, { candidateId: 'c1', ...PROPOSAL })
    await expect(store.candidates.list(reader)).rejects.toMatchObject({ code: 'ADMIN_REQUIRED' })
    await expect(store.candidates.reject(reader, 'c1', 'no')).rejects.toThrow(/admin:write/)
    const elsewhere: Caller = { ...operator, tenant: 'acme', tenants: ['acme'] }
    expect(await store.candidates.list(elsewhere)).toEqual([])
    await expect(store.candidates.reject(elsewhere, 'c1', 'no')).rejects.toMatchObject({
      code: 'CANDIDATE_NOT_FOUND',
    })
  })

  it('is listed newest first, by status, up to a limit', async () => {
    for (const candidateId of ['a', 'b', 'c']) {
      await store.candidates.propose(SYSTEM, { candidateId, ...PROPOSAL })
      clock.advance(1000)
    }
    await store.candidates.reject(operator, 'b', 'no')
    const ids = async (filter: object) =>
      (await store.candidates.list(operator, filter)).map(({ candidateId }) => candidateId)
    expect(await ids({})).toEqual(['c', 'b', 'a'])
    expect(await ids({ limit: 1 })).toEqual(['c'])
    expect(await ids({ status: 'candidate' })).toEqual(['c', 'a'])
  })
})

describe('decodeCandidate', () => {
  it.each(['', 'x', '[]', 'null', '{}', '{"schema":"crux.memory_candidate.v1","status":"odd"}'])(
    'finds none in %j',
    (text) => expect(decodeCandidate(text)).toBeUndefined(),
  )
})
