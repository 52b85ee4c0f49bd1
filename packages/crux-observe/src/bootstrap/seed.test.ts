import { BOOTSTRAP_PREFIX, type FactStore, openFactStore } from 'crux-memory'
import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { bootstrapGroups, seedBootstrap } from './seed.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const TOOLS = [
  { name: 'store_fact', outputDoc: 'Text: stored.' },
  { name: 'query_facts', outputDoc: 'Text: found.' },
  { name: 'memory_pin', outputDoc: 'Text: pinned.' },
]
const GROUPS = bootstrapGroups(TOOLS)
const ENTRIES = GROUPS.flat()

async function openStore(journal = createMemoryJournal()) {
  const clock = new ManualClock(NOON)
  const facts = await openFactStore({ journal, clock })
  return { facts, journal, seed: (groups = GROUPS) => seedBootstrap(facts, groups, { clock }) }
}

async function shown(facts: FactStore, topic = '', caller = ANONYMOUS) {
  const entityPrefix = `${BOOTSTRAP_PREFIX}${topic}`
  return (await facts.bootstrap(caller, { entityPrefix, topK: 1000 })).facts
}

describe('seedBootstrap', () => {
  it('stores every entry once, however often the daemon starts (MCP-11.12-seed-startup)', async () => {
    const { facts, journal, seed } = await openStore()
    expect(await seed()).toEqual({ created: ENTRIES.length + 1, wasSeeded: false })
    expect(await seed()).toEqual({ created: 0, wasSeeded: true })
    await facts.close()
    const again = await openStore(journal)
    expect(await again.seed()).toEqual({ created: 0, wasSeeded: true })
    expect(await shown(again.facts)).toHaveLength(ENTRIES.length + 1)
  })

  it('adds what a newer version brings, and what was deleted, and nothing else (MCP-11.12-seed-backfill)', async () => {
    const { facts, seed } = await openStore()
    await seed(GROUPS.map((group, i) => (i === 3 ? group.slice(1) : group)))
    const before = await shown(facts)
    expect(await seed()).toEqual({ created: 1, wasSeeded: true })
    const after = await shown(facts)
    expect(after).toHaveLength(before.length + 1)
    expect(after.filter((fact) => !before.some(({ fact_id }) => fact_id === fact.fact_id))).toEqual(
      [expect.objectContaining({ key: GROUPS[3]?.[0]?.key, seeded: true, private: true })],
    )
  })

  it('makes a new version of a text that changed, and shows the new one only', async () => {
    const { facts, seed } = await openStore()
    const [outputs = [], ...others] = GROUPS
    await seed([outputs.map((entry) => ({ ...entry, value: 'an older text' })), ...others])
    expect(await seed()).toEqual({ created: outputs.length, wasSeeded: true })
    const texts = await shown(facts, 'tool-output:')
    expect(texts.map(({ value, version }) => [value, version])).toEqual(
      outputs.map(({ value }) => [value, 2]),
    )
  })

  it('leaves what somebody else wrote over it', async () => {
    const { facts, seed } = await openStore()
    await seed()
    const [entry = { entity: '', key: '', value: '' }] = GROUPS[3] ?? []
    await facts.store(agentCaller('anna'), { ...entry, value: 'how we do it here' })
    expect(await seed()).toMatchObject({ created: 0 })
    const values = (await shown(facts)).filter(({ key }) => key === entry.key)
    expect(values.map(({ value }) => value).sort()).toEqual(
      [entry.value, 'how we do it here'].sort(),
    )
  })

  it('ranks patterns first, then documents, resolutions and outputs, the first of each first', async () => {
    const { facts, seed } = await openStore()
    await seed()
    const [mark, ...entries] = await shown(facts)
    expect(mark?.entity).toBe(`${BOOTSTRAP_PREFIX}_meta`)
    expect(entries.map(({ entity }) => entity)).toEqual(
      GROUPS.toReversed()
        .flat()
        .map(({ entity }) => entity),
    )
  })

  it('is shown in every tenant', async () => {
    const { facts, seed } = await openStore()
    await seed()
    const elsewhere = agentCaller('anna', { tenant: 'acme', tenants: ['acme'] })
    expect(await shown(facts, '', elsewhere)).toHaveLength(ENTRIES.length + 1)
  })
})

describe('the entries', () => {
  it('are named once each, short, and few enough for one answer', () => {
    const names = ENTRIES.map(({ entity, key }) => `${entity} ${key}`)
    expect(new Set(names).size).toBe(names.length)
    for (const { value } of ENTRIES) expect(Buffer.byteLength(value)).toBeLessThan(600)
    expect(ENTRIES.length).toBeLessThan(90)
  })

  it('describe the main tools that exist, and no other', () => {
    expect(GROUPS[0]?.map(({ entity, key, value }) => [entity, key, value])).toEqual([
      [`${BOOTSTRAP_PREFIX}tool-output:query_facts`, 'query_facts output schema', 'Text: found.'],
      [`${BOOTSTRAP_PREFIX}tool-output:store_fact`, 'store_fact output schema', 'Text: stored.'],
    ])
  })
})
