import { createMemoryJournal } from 'crux-storage'
import { agentCaller, ManualClock, type WorkWatch } from 'crux-types'
import { beforeAll, describe, expect, it } from 'vitest'
import type { FactStore } from './fact-store.js'
import { openFactStore } from './open-fact-store.js'

const ANNA = agentCaller('anna')
const SCOPE = { type: 'entity_prefix', value: 'old:' } as const
const FACTS = 50

let store: FactStore
beforeAll(async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 15, 12))
  store = await openFactStore({ journal: createMemoryJournal(), clock })
  for (let index = 0; index < FACTS; index++) {
    await store.store(ANNA, { entity: `old:${index}`, key: 'k', value: `value ${index}` })
  }
})

/** Confirmed, so that it would be done. */
const forget = async (watch: WorkWatch) => {
  const { confirm } = await store.forgetting.preview(ANNA, { scope: SCOPE })
  return store.forgetting.forget(ANNA, { scope: SCOPE, reason: 'r', confirm }, watch)
}
const WORK: Readonly<Record<string, (watch: WorkWatch) => Promise<unknown>>> = {
  'a search for contradictions': (watch) => store.consolidations.contradictions(ANNA, watch),
  'a look for what may be swept': (watch) =>
    store.freshness.sweepCandidates(ANNA, { topK: 5 }, watch),
  'a preview of forgetting': (watch) => store.forgetting.preview(ANNA, { scope: SCOPE }, watch),
}

describe.each(Object.entries(WORK))('%s', (_name, work) => {
  it('says how far it got, up to the end', async () => {
    const told: [number, number][] = []
    await work({ onProgress: (...steps) => void told.push(steps) })
    const [done, total] = told.at(-1) ?? []
    expect(total).toBeGreaterThanOrEqual(FACTS)
    expect(done).toBe(total)
  })

  it('ends when it is stopped before it begins', async () => {
    await expect(work({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  })
})

describe('forgetting', () => {
  // The rows of the table are looked at first, then read twice.
  it.each([1, FACTS, FACTS + 1, 2 * FACTS, 3 * FACTS])(
    'forgets nothing when it is stopped after step %i',
    async (step) => {
      const stop = new AbortController()
      const onProgress = (done: number) => {
        if (done >= step) stop.abort(new Error('enough'))
      }
      await expect(forget({ signal: stop.signal, onProgress })).rejects.toThrow('enough')
      expect(await store.entities(ANNA)).toHaveLength(FACTS)
      expect(await store.forgetting.list(ANNA)).toEqual([])
    },
  )
})
