import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { FactStore } from './fact-store.js'
import { openFactStore } from './open-fact-store.js'

// Every way to read a fact, times every state a fact can be in, times every kind of caller. A new
// read path gets a line in PATHS, and then has to hold for all the others.

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const acme = { tenant: 'acme', tenants: ['acme'] } as const

const READERS: Record<string, Caller> = {
  anna,
  'anna under her passport': { ...agentCaller('anna'), identity: 'pass-anna', aliases: ['anna'] },
  bert: agentCaller('bert'),
  'an agent whose name starts like hers': agentCaller('ann'),
  anonymous: ANONYMOUS,
  'the daemon': SYSTEM,
  'anna in another tenant': agentCaller('anna', acme),
  'anonymous in another tenant': { ...ANONYMOUS, ...acme },
  'a reader of all tenants at home elsewhere': agentCaller('anna', {
    tenant: 'acme',
    tenants: '*',
  }),
}

type Audience = 'all of its tenant' | 'its owner' | 'nobody'

interface State {
  readonly entity: string
  readonly writer: Caller
  readonly isPrivate: boolean
  /** Who sees it where visibility is asked. */
  readonly audience: Audience
  /** What the bootstrap path shows. */
  readonly bootstrap: 'no' | 'its tenant' | 'every tenant'
  readonly after?: 'supersede' | 'delete' | 'forget'
}

const bare = {
  writer: anna,
  isPrivate: false,
  audience: 'all of its tenant',
  bootstrap: 'no',
} as const
const STATES: Record<string, State> = {
  public: { ...bare, entity: 'marker' },
  'public of another tenant': { ...bare, entity: 'marker', writer: agentCaller('anna', acme) },
  private: { ...bare, entity: 'marker', isPrivate: true, audience: 'its owner' },
  'private of another tenant': {
    ...bare,
    entity: 'marker',
    writer: agentCaller('anna', acme),
    isPrivate: true,
    audience: 'its owner',
  },
  'under a default-private prefix': { ...bare, entity: 'decisions::marker', audience: 'nobody' },
  'private under a default-private prefix': {
    ...bare,
    entity: 'decisions::marker',
    isPrivate: true,
    audience: 'its owner',
  },
  'literal private entity': { ...bare, entity: '__agent::anna::marker', audience: 'its owner' },
  superseded: { ...bare, entity: 'marker', after: 'supersede' },
  'private and superseded': {
    ...bare,
    entity: 'marker',
    isPrivate: true,
    audience: 'its owner',
    after: 'supersede',
  },
  deleted: { ...bare, entity: 'marker', after: 'delete' },
  'private and deleted': {
    ...bare,
    entity: 'marker',
    isPrivate: true,
    audience: 'its owner',
    after: 'delete',
  },
  forgotten: { ...bare, entity: 'marker', after: 'forget' },
  'private and forgotten': {
    ...bare,
    entity: 'marker',
    isPrivate: true,
    audience: 'its owner',
    after: 'forget',
  },
  'bootstrap knowledge': {
    ...bare,
    entity: '__bootstrap__::doc:marker',
    audience: 'nobody',
    bootstrap: 'its tenant',
  },
  'bootstrap knowledge of another tenant': {
    ...bare,
    entity: '__bootstrap__::doc:marker',
    writer: agentCaller('anna', acme),
    audience: 'nobody',
    bootstrap: 'its tenant',
  },
  'bootstrap knowledge of the daemon': {
    ...bare,
    entity: '__bootstrap__::doc:marker',
    writer: SYSTEM,
    audience: 'nobody',
    bootstrap: 'every tenant',
  },
  gap: { ...bare, entity: '__ops__::coverage:marker', audience: 'nobody' },
  'gap of another tenant': {
    ...bare,
    entity: '__ops__::coverage:marker',
    writer: agentCaller('anna', acme),
    audience: 'nobody',
  },
  'private gap of an agent': {
    ...bare,
    entity: '__ops__::coverage:marker',
    isPrivate: true,
    audience: 'its owner',
  },
  'grant of an extension': {
    ...bare,
    entity: '__extension_grant__::marker',
    writer: SYSTEM,
    audience: 'nobody',
  },
  'extension of another tenant': {
    ...bare,
    entity: '__extension__::marker',
    writer: { ...SYSTEM, tenant: 'acme' },
    audience: 'nobody',
  },
  'private bootstrap knowledge of an agent': {
    ...bare,
    entity: '__bootstrap__::doc:marker',
    isPrivate: true,
    audience: 'its owner',
  },
}

interface Target {
  readonly id: string
  /** As its owner sees it. */
  readonly entity: string
  readonly stored: string
}

interface Path {
  readonly shows: { readonly superseded: boolean; readonly deleted: boolean }
  /** False when the path leaves reserved entities out whoever asks. */
  readonly showsReserved?: false
  /** False when the path leaves private facts out whoever asks. */
  readonly showsPrivate?: false
  /** Whether the path serves only callers with a name. */
  readonly needsName?: true
  readonly kind?: 'bootstrap' | 'system'
  /** Whether the target shows in the answer. */
  readonly read: (
    store: FactStore,
    caller: Caller,
    target: Target,
    clock: ManualClock,
  ) => Promise<boolean>
}

const live = { superseded: false, deleted: false }
const versions = { superseded: true, deleted: false }

function query(
  shows: Path['shows'],
  ask: (target: Target) => Parameters<FactStore['query']>[1],
): Path {
  return {
    shows,
    read: async (store, caller, target) => {
      const page = await store.query(caller, {
        topK: 100,
        includeSuperseded: shows.superseded,
        ...ask(target),
      })
      const isShown = page.rows.some((row) => row.fact.fact_id === target.id)
      // What is not shown is not counted either.
      expect(page.matched).toBe(page.rows.length)
      return isShown
    },
  }
}

const SYSTEM_PREFIXES = [
  '__ops__::coverage',
  '__engram__::',
  '__extension__::',
  '__extension_grant__::',
]

const PATHS: Record<string, Path> = {
  'query for all': query(live, () => ({})),
  'query for all versions': query(versions, () => ({})),
  'query by a word of the value': query(versions, () => ({ query: 'needle' })),
  'query by a word of the entity': query(versions, () => ({ query: 'marker' })),
  'query by entity': query(versions, ({ entity }) => ({ entity })),
  'query by stored entity': query(versions, ({ stored }) => ({ entity: stored })),
  'query by prefix': query(versions, ({ entity }) => ({ entityPrefix: entity.slice(0, -2) })),
  'query by stored prefix': query(versions, ({ stored }) => ({
    entityPrefix: stored.slice(0, -2),
  })),
  'query as of now': query(versions, () => ({ asOf: NOON })),
  'query within a budget': query(versions, () => ({ tokenBudget: 10_000 })),
  'query with a floor': query(versions, () => ({ minEffectiveConfidence: 0.1 })),
  get: {
    shows: versions,
    read: async (store, caller, { id }) => (await store.get(caller, id)) !== undefined,
  },
  history: {
    shows: { superseded: true, deleted: true },
    read: async (store, caller, { id, entity }) =>
      (await store.history(caller, entity, 'k')).some((row) => row.fact.fact_id === id),
  },
  'history by stored entity': {
    shows: { superseded: true, deleted: true },
    read: async (store, caller, { id, stored }) =>
      (await store.history(caller, stored, 'k')).some((row) => row.fact.fact_id === id),
  },
  entities: {
    shows: versions,
    read: async (store, caller, { entity }) => (await store.entities(caller)).includes(entity),
  },
  view: {
    shows: versions,
    showsReserved: false,
    read: async (store, caller, { id }) => {
      const view = await store.view(caller, { topK: 100, tokenBudget: 10_000 })
      expect(view.matched).toBe(view.rows.length)
      return view.rows.some((row) => row.fact.fact_id === id)
    },
  },
  'view of an entity': {
    shows: versions,
    showsReserved: false,
    read: async (store, caller, { id, entity }) =>
      (await store.view(caller, { entity })).rows.some((row) => row.fact.fact_id === id),
  },
  'system records': {
    shows: versions,
    kind: 'system',
    read: async (store, caller, { id }) => {
      const records = SYSTEM_PREFIXES.map((entityPrefix) =>
        store.systemRecords(caller, { entityPrefix }),
      )
      return (await Promise.all(records)).some(({ facts }) =>
        facts.some((fact) => fact.fact_id === id),
      )
    },
  },
  bootstrap: {
    shows: versions,
    kind: 'bootstrap',
    read: async (store, caller, { id }) => {
      const { facts } = await store.bootstrap(caller, {
        entityPrefix: '__bootstrap__::',
        topK: 100,
      })
      return facts.some((fact) => fact.fact_id === id)
    },
  },
  export: {
    shows: versions,
    read: async (store, caller, { id }) => {
      for await (const { fact } of store.exportFacts(caller, {})) {
        if (fact.fact_id === id) return true
      }
      return false
    },
  },
  'export that goes on after it': {
    shows: { superseded: true, deleted: true },
    read: (store, caller, { id }) =>
      store
        .exportFacts(caller, { after: id })
        [Symbol.asyncIterator]()
        .next()
        .then(
          () => true,
          () => false,
        ),
  },
  'import under its id': {
    shows: { superseded: true, deleted: true },
    read: async (store, caller, { id }) => {
      const input = { sourceId: 's', factId: id, entity: 'e', key: 'k', value: 'v' }
      return (await store.importFact(caller, input)).status === 'unchanged'
    },
  },
  'reference in a store': {
    shows: versions,
    read: async (store, caller, { id }) => {
      const input = { entity: 'retiring', key: 'k', value: 'v', supersedes: [id] }
      return store.store(caller, input).then(
        () => true,
        () => false,
      )
    },
  },
  'panel history': {
    shows: { superseded: true, deleted: true },
    showsReserved: false,
    read: async (store, caller, { id, entity }) => {
      const found = store.panel.history(caller, { entity, key: 'k' })
      return isDone(found.then((of) => of.versions.some(({ fact }) => fact.fact_id === id)))
    },
  },
  'panel history by id': {
    shows: { superseded: true, deleted: true },
    showsReserved: false,
    read: async (store, caller, { id }) => {
      const found = store.panel.history(caller, { factId: id })
      return isDone(found.then((of) => of.versions.some(({ fact }) => fact.fact_id === id)))
    },
  },
  edit: {
    shows: versions,
    showsReserved: false,
    read: (store, caller, { id }) =>
      isDone(store.panel.edit(caller, id, { value: 'w' }).then(() => true)),
  },
  pin: {
    shows: versions,
    showsReserved: false,
    needsName: true,
    read: async (store, caller, { id }) => {
      const isPinned = await isDone(store.panel.pin(caller, id, true).then(() => true))
      expect(store.panel.isPinned(caller, id)).toBe(isPinned)
      return isPinned
    },
  },
  acknowledgement: {
    shows: versions,
    showsPrivate: false,
    needsName: true,
    read: async (store, caller, { id }) => {
      const used = { turnId: 't', intent: 'answer', factIds: [id] }
      return isDone(store.panel.acknowledge(caller, used).then((said) => said.used.length === 1))
    },
  },
  'report on freshness': {
    shows: versions,
    showsPrivate: false,
    read: async (store, caller, { id }) => {
      const page = await store.freshness.oldest(caller, { topK: 100 })
      expect(page.matched).toBe(page.rows.length)
      return page.rows.some((row) => row.fact.fact_id === id)
    },
  },
  'report on freshness of an entity': {
    shows: versions,
    showsPrivate: false,
    read: async (store, caller, { id, stored }) => {
      const page = await store.freshness.oldest(caller, { topK: 100, entity: stored })
      return page.rows.some((row) => row.fact.fact_id === id)
    },
  },
  'proposal to sweep': {
    shows: versions,
    showsPrivate: false,
    read: async (store, caller, { id }, clock) => {
      clock.advance(400 * 86_400_000)
      const page = await store.freshness.sweepCandidates(caller, { topK: 100 })
      expect(page.matched).toBe(page.rows.length)
      return page.rows.some((row) => row.fact.fact_id === id)
    },
  },
  'change of horizon': {
    shows: versions,
    showsPrivate: false,
    read: (store, caller, { id }) => isDone(store.freshness.setHorizon(caller, id, 'none')),
  },
  reverification: {
    shows: versions,
    showsPrivate: false,
    read: (store, caller, { id }) =>
      isDone(store.freshness.reverify(caller, id).then((done) => done !== undefined)),
  },
  'preview of a forgetting': {
    shows: versions,
    showsReserved: false,
    read: async (store, caller, { id }) => {
      const scope = { type: 'entity_prefix', value: '' } as const
      const { facts } = await store.forgetting.preview(caller, { scope })
      return facts.some((fact) => fact.factId === id)
    },
  },
  'bounds of validity': {
    shows: { superseded: true, deleted: true },
    read: (store, caller, { id }) => store.setValidity(caller, id, {}),
  },
  delete: {
    shows: versions,
    read: (store, caller, { id }) => store.delete(caller, id),
  },
}

/** False also for what is refused, as a program would see it. */
function isDone(outcome: Promise<boolean>): Promise<boolean> {
  return outcome.catch(() => false)
}

function isExpected(path: Path, state: State, reader: Caller): boolean {
  if (path.needsName === true && reader.identity === null) return false
  const isGone = state.after === 'delete' || state.after === 'forget'
  if (isGone && !path.shows.deleted) return false
  if (state.after === 'supersede' && !path.shows.superseded) return false
  const isAtHome = reader.tenant === state.writer.tenant
  if (path.kind === 'bootstrap') {
    return state.bootstrap === 'every tenant' || (state.bootstrap === 'its tenant' && isAtHome)
  }
  if (path.kind === 'system') {
    const isRecord = SYSTEM_PREFIXES.some((prefix) => state.entity.startsWith(prefix))
    return isAtHome && isRecord && !state.isPrivate
  }
  if (!isAtHome || state.audience === 'nobody') return false
  if (path.showsPrivate === false && state.audience === 'its owner') return false
  if (path.showsReserved === false && state.entity.startsWith('__bootstrap__::')) return false
  if (state.audience === 'all of its tenant') return true
  return [reader.identity, ...reader.aliases].includes('anna')
}

async function prepare(state: State) {
  const clock = new ManualClock(NOON)
  const store = await openFactStore({ journal: createMemoryJournal(), clock })
  const { writer, entity, isPrivate } = state
  const input = { entity, key: 'k', private: isPrivate, horizonClass: 'volatile' } as const
  const { fact, entity: visible } = await store.store(writer, { ...input, value: 'a needle' })
  if (state.after === 'supersede') await store.store(writer, { ...input, value: 'newer' })
  if (state.after === 'delete') expect(await store.delete(writer, fact.fact_id)).toBe(true)
  if (state.after === 'forget') await forget(store, writer)
  return { clock, store, target: { id: fact.fact_id, entity: visible, stored: fact.entity } }
}

describe.each(Object.entries(STATES))('a fact that is %s', (_, state) => {
  it.each(Object.entries(PATHS))('is shown by %s to whom it should be', async (_path, path) => {
    for (const [name, reader] of Object.entries(READERS)) {
      const { clock, store, target } = await prepare(state)
      const isShown = await path.read(store, reader, target, clock)
      expect({ name, isShown }).toEqual({ name, isShown: isExpected(path, state, reader) })
    }
  })
})

async function forget(store: FactStore, caller: Caller): Promise<void> {
  const scope = { type: 'entity_prefix', value: 'marker' } as const
  const { confirm } = await store.forgetting.preview(caller, { scope })
  const request = { scope, reason: 'asked to', confirm }
  expect((await store.forgetting.forget(caller, request)).factIds).toHaveLength(1)
}

describe('a forgotten value', () => {
  it('is in no answer, not even in those that name the fact', async () => {
    const answers = async (store: FactStore, caller: Caller, { id, entity, stored }: Target) => [
      await store.history(caller, entity, 'k'),
      await store.history(caller, stored, 'k'),
      await store.panel.history(caller, { entity, key: 'k' }).catch(() => []),
      await store.panel.history(caller, { factId: id }).catch(() => []),
      await store.query(caller, { query: 'needle', includeSuperseded: true }),
      await store.forgetting.list(caller),
    ]
    for (const [name, state] of Object.entries(STATES)) {
      if (state.after !== 'forget') continue
      for (const reader of Object.values(READERS)) {
        const { store, target } = await prepare(state)
        const text = JSON.stringify(await answers(store, reader, target))
        expect(text, name).not.toContain('needle')
      }
    }
  })
})

describe('the matrix', () => {
  it('has shown and hidden facts on every path', () => {
    for (const path of Object.values(PATHS)) {
      const outcomes = Object.values(STATES).flatMap((state) =>
        Object.values(READERS).map((reader) => isExpected(path, state, reader)),
      )
      expect(new Set(outcomes)).toEqual(new Set([true, false]))
    }
  })
})
