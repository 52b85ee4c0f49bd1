import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import { beforeEach, describe, expect, it } from 'vitest'
import type { FactStore } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'
import { MAX_TURNS } from './acknowledgements.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const passport: Caller = { ...anna, identity: 'pass-anna', aliases: ['anna'] }

let journal: Journal
let clock: ManualClock
let store: FactStore
const open = () => openFactStore({ journal, clock })

beforeEach(async () => {
  journal = createMemoryJournal()
  clock = new ManualClock(NOON)
  store = await open()
})

const put = async (caller: Caller, entity: string, value: string, more: object = {}) =>
  (await store.store(caller, { entity, key: 'k', value, ...more })).fact

describe('edit', () => {
  it('makes a new version with the same confidence, horizon, privacy and pin', async () => {
    const old = await put(anna, 'e', 'v', {
      private: true,
      confidence: 0.5,
      horizonClass: 'medium',
    })
    await store.panel.pin(anna, old.fact_id, true)
    const edited = await store.panel.edit(anna, old.fact_id, { value: 'w', reason: 'typo' })
    expect(edited).toMatchObject({ entity: 'e', isPinned: true })
    expect(edited.fact).toMatchObject({
      entity: '__agent::anna::e',
      value: 'w',
      version: 2,
      supersedes: old.fact_id,
      confidence: 0.5,
      horizon_class: 'medium',
      private: true,
      source_receipt: 'memory_edit:typo',
    })
    const replayed = await open()
    expect(replayed.panel.isPinned(anna, edited.fact.fact_id)).toBe(true)
    expect((await replayed.get(anna, old.fact_id))?.fact.superseded_by).toBe(edited.fact.fact_id)
  })

  it('chains from the newest version, whichever it is given, and pins nothing by itself', async () => {
    const first = await put(anna, 'e', '1')
    const second = await put(anna, 'e', '2')
    const { fact, isPinned } = await store.panel.edit(anna, first.fact_id, { value: '3' })
    expect(fact).toMatchObject({ version: 3, supersedes: second.fact_id, source_receipt: null })
    expect(isPinned).toBe(false)
    expect(store.panel.isPinned(anna, fact.fact_id)).toBe(false)
  })

  it('leaves alone what it cannot find, and what is not the caller’s to change', async () => {
    const theirs = await put(bert, 'e', 'v', { private: true })
    const system = await put(anna, '__decisions__::x', 'v')
    const gone = await put(anna, 'gone', 'v')
    await store.delete(anna, gone.fact_id)
    const elsewhere = await put(agentCaller('anna', { tenant: 'acme', tenants: '*' }), 'e', 'v')
    const codeOf = (id: string) =>
      store.panel.edit(anna, id, { value: 'w' }).catch((error) => error.code)
    expect(await codeOf(theirs.fact_id)).toBe('FACT_NOT_EDITABLE')
    expect(await codeOf(system.fact_id)).toBe('FACT_NOT_EDITABLE')
    expect(await codeOf(gone.fact_id)).toBe('FACT_NOT_FOUND')
    expect(await codeOf(elsewhere.fact_id)).toBe('FACT_NOT_FOUND')
    expect(await codeOf('f_0')).toBe('FACT_NOT_FOUND')
    expect((await store.get(bert, theirs.fact_id))?.fact.value).toBe('v')
  })
})

describe('pin', () => {
  it('is the agent’s own, and survives a restart', async () => {
    const { fact_id } = await put(anna, 'e', 'v')
    await store.panel.pin(anna, fact_id, true)
    const replayed = await open()
    expect(replayed.panel.isPinned(anna, fact_id)).toBe(true)
    expect(replayed.panel.isPinned(passport, fact_id)).toBe(true)
    expect(replayed.panel.isPinned(bert, fact_id)).toBe(false)
    expect(replayed.panel.isPinned(ANONYMOUS, fact_id)).toBe(false)
    await replayed.panel.pin(anna, fact_id, false)
    expect(replayed.panel.isPinned(anna, fact_id)).toBe(false)
    expect((await open()).panel.isPinned(anna, fact_id)).toBe(false)
  })

  it('needs a name and a fact, and is never shown as one', async () => {
    const { fact_id } = await put(anna, 'e', 'v')
    await expect(store.panel.pin(ANONYMOUS, fact_id, true)).rejects.toMatchObject({
      code: 'PIN_NEEDS_IDENTITY',
    })
    await expect(store.panel.pin(anna, 'f_0', true)).rejects.toMatchObject({
      code: 'FACT_NOT_FOUND',
    })
    await store.panel.pin(anna, fact_id, true)
    expect(await store.entities(anna)).toEqual(['e'])
    expect((await store.query(anna, {})).matched).toBe(1)
  })
})

describe('history', () => {
  it('finds all versions by names or by the id of any, deleted ones too', async () => {
    const first = await put(anna, 'e', '1')
    const second = await put(anna, 'e', '2')
    await store.delete(anna, second.fact_id)
    for (const of of [
      { entity: 'e', key: 'k' },
      { factId: first.fact_id },
      { factId: second.fact_id },
    ]) {
      const { entity, key, versions } = await store.panel.history(anna, of)
      expect([entity, key]).toEqual(['e', 'k'])
      expect(versions.map(({ fact }) => [fact.value, fact.deleted])).toEqual([
        ['1', false],
        ['2', true],
      ])
    }
  })

  it('shows private facts stored under the token’s name, not those of the passport', async () => {
    const mine = await put(anna, 'e', 'under the name', { private: true })
    const under = await put(passport, 'p', 'under the passport', { private: true })
    expect(under.entity).toBe('__agent::pass-anna::p')
    expect((await store.panel.history(passport, { factId: mine.fact_id })).versions).toHaveLength(1)
    expect((await store.panel.history(passport, { entity: 'p', key: 'k' })).versions).toEqual([])
    await expect(store.panel.history(bert, { factId: mine.fact_id })).rejects.toMatchObject({
      code: 'FACT_NOT_FOUND',
    })
    expect((await store.panel.history(bert, { entity: 'e', key: 'k' })).versions).toEqual([])
  })

  it('refuses entities of the system', async () => {
    for (const entity of ['__work__::x', '__agent::anna::e', '__bootstrap__::doc:x']) {
      await expect(store.panel.history(anna, { entity, key: 'k' })).rejects.toMatchObject({
        code: 'ENTITY_RESERVED',
      })
    }
  })
})

describe('acknowledge', () => {
  it('tells what was used from what is missing, hidden or private', async () => {
    const { fact_id: shared } = await put(anna, 'e', 'v')
    const { fact_id: mine } = await put(anna, 'm', 'v', { private: true })
    const { fact_id: theirs } = await put(bert, 't', 'v', { private: true })
    clock.advance(3 * 86_400_000 - 1)
    const said = await store.panel.acknowledge(anna, {
      turnId: 't1',
      intent: 'answer',
      factIds: [shared, mine, theirs, 'f_0'],
    })
    expect(said).toMatchObject({ redacted: 1, notFound: 1, notVisible: 1 })
    expect(said.used.map(({ fact, entity, ageDays }) => [fact.fact_id, entity, ageDays])).toEqual([
      [shared, 'e', 2],
    ])
    expect(store.panel.acknowledged(anna, 't1')).toEqual({
      turnId: 't1',
      intent: 'answer',
      factIds: [shared],
    })
    expect(store.panel.acknowledged(bert, 't1')).toBeUndefined()
  })

  it('keeps the last word about a turn, of the last turns only, and nothing after a restart', async () => {
    const say = (turnId: string, intent: string) =>
      store.panel.acknowledge(anna, { turnId, intent, factIds: [] })
    await say('first', 'answer')
    await say('again', 'answer')
    await say('again', 'decision')
    expect(store.panel.acknowledged(anna, 'again')?.intent).toBe('decision')
    for (let i = 0; i < MAX_TURNS - 1; i++) await say(`turn ${i}`, 'answer')
    expect(store.panel.acknowledged(anna, 'first')).toBeUndefined()
    expect(store.panel.acknowledged(anna, 'again')).toBeDefined()
    expect((await open()).panel.acknowledged(anna, 'again')).toBeUndefined()
  })

  it('says null of the age of a fact that the clock has not reached', async () => {
    const { fact_id } = await put(anna, 'e', 'v')
    clock.set(NOON - 1)
    const factIds = [fact_id]
    const said = await store.panel.acknowledge(anna, { turnId: 't', intent: 'answer', factIds })
    expect(said.used[0]?.ageDays).toBeNull()
  })
})
