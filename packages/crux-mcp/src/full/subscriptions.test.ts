import { openFactStore } from 'crux-memory'
import { createMemoryJournal } from 'crux-storage'
import { agentCaller, type Caller, ManualClock } from 'crux-types'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bootstrapResources } from './bootstrap-resources.js'
import { Subscriptions } from './subscriptions.js'

const uriOf = (name: string) => `crux://bootstrap/doc/${name}`
const inTenant = (agent: string, tenant: string) =>
  agentCaller(agent, { tenant, tenants: [tenant] })

async function open() {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const facts = await openFactStore({ journal: createMemoryJournal(), clock })
  let loads = 0
  let isBroken = false
  const source = bootstrapResources(() => ({
    bootstrap: (caller, query) => {
      loads++
      if (isBroken) throw new Error('not now')
      return facts.bootstrap(caller, query)
    },
  }))
  const subscriptions = new Subscriptions([source], 1, () => String(facts.stats().versions))
  onTestFinished(async () => {
    subscriptions.close()
    await facts.close()
  })
  const told: string[] = []
  return {
    told,
    subscriptions,
    loads: () => loads,
    break: (broken: boolean) => {
      isBroken = broken
    },
    store: (caller: Caller, name: string, value: string) =>
      facts.store(caller, { entity: `__bootstrap__::doc:${name}`, key: 'k', value }),
    subscribe: (caller: Caller, name: string) =>
      subscriptions.add(`${caller.agent} ${caller.tenant} ${name}`, {
        owner: `${caller.agent} ${caller.tenant}`,
        caller,
        uri: uriOf(name),
        tell: (uri) => told.push(`${caller.agent} ${uri.slice(uri.lastIndexOf('/') + 1)}`),
      }),
  }
}

describe('Subscriptions', () => {
  it('reads once a write for each tenant, however many subscribe, and tells each what it sees', async () => {
    const { subscribe, store, loads, told } = await open()
    const anna = inTenant('anna', 'acme')
    const bob = inTenant('bob', 'acme')
    const cyd = inTenant('cyd', 'beta')
    await store(anna, 'n1', 'first')
    for (const caller of [anna, bob, cyd]) {
      for (let i = 0; i < 100; i++) expect(await subscribe(caller, `n${i}`)).toBe(true)
    }
    const subscribed = loads()
    expect(subscribed).toBeGreaterThanOrEqual(300)
    await store(anna, 'n1', 'second')
    await vi.waitFor(() => expect(told).toEqual(['anna n1', 'bob n1']))
    await store(cyd, 'n2', 'other')
    await vi.waitFor(() => expect(told).toEqual(['anna n1', 'bob n1', 'cyd n2']))
    await store(anna, 'n2', 'new')
    await vi.waitFor(() => expect(told.slice(3)).toEqual(['anna n2', 'bob n2']))
    // A round for what stood at first and one for each write, each of two tenants.
    expect(loads() - subscribed).toBeLessThanOrEqual(8)
  })

  it('tells later what could not be read at once', async () => {
    const { subscribe, store, told, loads, break: setBroken } = await open()
    const anna = inTenant('anna', 'acme')
    await subscribe(anna, 'n1')
    await vi.waitFor(() => expect(loads()).toBe(2))
    setBroken(true)
    await store(anna, 'n1', 'first')
    await vi.waitFor(() => expect(loads()).toBeGreaterThan(4))
    expect(told).toEqual([])
    setBroken(false)
    await vi.waitFor(() => expect(told).toEqual(['anna n1']))
  })
})
