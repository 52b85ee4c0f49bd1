import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { FactStore } from './fact-store.js'
import { type FactStoreOptions, openFactStore } from './open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')

async function open(options: Partial<FactStoreOptions> = {}) {
  const journal = options.journal ?? createMemoryJournal()
  const clock = new ManualClock(NOON)
  const warnings: string[] = []
  const store = await openFactStore({
    journal,
    clock,
    onWarning: (message) => warnings.push(message),
    ...options,
  })
  return { journal, clock, warnings, store }
}

function put(store: FactStore, caller: Caller, entity: string, key: string, value: string) {
  return store.store(caller, { entity, key, value })
}

async function valuesOf(store: FactStore, query: string, caller: Caller = ANONYMOUS) {
  return (await store.query(caller, { query })).rows.map((row) => row.fact.value)
}

describe('openFactStore', () => {
  it('stores a fact and finds it by a word', async () => {
    const { store } = await open()
    await put(store, ANONYMOUS, 'service:api', 'port', 'The API listens on 8080')
    expect(await valuesOf(store, 'LISTENS')).toEqual(['The API listens on 8080'])
    expect(await valuesOf(store, 'nothing')).toEqual([])
  })

  it('gives a thousand parallel stores of one key the versions 1 to 1000 in a few appends', async () => {
    const inner = createMemoryJournal()
    let appends = 0
    const journal: Journal = {
      ...inner,
      append: (records, expected) => {
        appends++
        return inner.append(records, expected)
      },
    }
    const { store } = await open({ journal })
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => put(store, anna, 'e', 'k', `value ${i}`)),
    )
    expect(results.map((result) => result.fact.version)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i + 1),
    )
    expect(appends).toBeLessThan(10)
    const page = await store.query(anna, { query: 'value' })
    expect(page.rows.map((row) => row.fact.value)).toEqual(['value 999'])
    const history = await store.history(anna, 'e', 'k')
    for (const [i, { fact }] of history.entries()) {
      expect(fact.supersedes).toBe(history[i - 1]?.fact.fact_id)
      expect(fact.superseded_by).toBe(history[i + 1]?.fact.fact_id)
    }
  })
})
