import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { openSessionStore } from './open-session-store.js'
import type { SessionStore } from './session-store.js'

// Every way to reach a session, times every owner, times every kind of caller.

const acme = { tenant: 'acme', tenants: ['acme'] } as const

const CALLERS: Record<string, Caller> = {
  anna: agentCaller('anna'),
  'a reader anna': { ...agentCaller('anna'), readOnly: true },
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

const OWNERS: Record<string, Caller> = {
  anna: agentCaller('anna'),
  'anna in another tenant': agentCaller('anna', acme),
  'an agent whose name is longer': agentCaller('anna2'),
  nobody: ANONYMOUS,
  'nobody in another tenant': { ...ANONYMOUS, ...acme },
}

const IDS = ['plan', 'anna::plan', ':plan', '2::plan']

type Reach = (store: SessionStore, caller: Caller, id: string) => Promise<boolean>

const PATHS: Record<string, Reach> = {
  get: async (store, caller, id) => (await store.get(caller, id)) !== undefined,
  list: async (store, caller, id) => (await store.list(caller)).includes(id),
  'list with archived ones': async (store, caller, id) =>
    (await store.list(caller, { includeArchived: true })).includes(id),
}

const isOwner = (caller: Caller, owner: Caller): boolean =>
  caller.tenant === owner.tenant && caller.agent === owner.agent

describe.each(Object.entries(OWNERS))('a session of %s', (_, owner) => {
  describe.each(Object.entries(PATHS))('by %s', (_path, reach) => {
    it.each(Object.entries(CALLERS))('is shown to %s as it should be', async (_caller, caller) => {
      for (const id of IDS) {
        const store = await openSessionStore({
          journal: createMemoryJournal(),
          clock: new ManualClock(Date.UTC(2026, 0, 15)),
        })
        await store.save(owner, { sessionId: id, state: 'a secret' })
        expect(await reach(store, caller, id)).toBe(isOwner(caller, owner))
      }
    })
  })

  it.each(Object.entries(CALLERS))(
    'is not replaced by %s unless it is theirs',
    async (_caller, caller) => {
      for (const id of IDS) {
        const store = await openSessionStore({
          journal: createMemoryJournal(),
          clock: new ManualClock(Date.UTC(2026, 0, 15)),
        })
        await store.save(owner, { sessionId: id, state: 'mine' })
        if (!caller.readOnly) await store.save(caller, { sessionId: id, state: 'theirs' })
        const kept = (await store.get(owner, id))?.state
        expect(kept).toBe(isOwner(caller, owner) && !caller.readOnly ? 'theirs' : 'mine')
      }
    },
  )
})
