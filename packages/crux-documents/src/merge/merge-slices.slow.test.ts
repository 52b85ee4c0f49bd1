import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createMemorySegmentStore } from 'crux-storage'
import { ANONYMOUS, systemClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { openDocumentStore } from '../open-document-store.js'

const SEGMENTS = 200
const CHUNKS = 100
const WORDS = 60

/** Text of a fixed seed. */
function passages(): () => string {
  let state = 7
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x80000000
  }
  return () =>
    Array.from({ length: WORDS }, () => `w${Math.floor(next() ** 4 * 40_000).toString(36)}x`).join(
      ' ',
    )
}

describe('a big merge', () => {
  it('leaves the event loop to other work, such as searches', async () => {
    const segments = await createMemorySegmentStore()
    const store = await openDocumentStore({ segments, clock: systemClock, buildIndex: true })
    const passage = passages()
    for (let i = 0; i < SEGMENTS; i++) {
      const chunks = Array.from({ length: CHUNKS }, (_, j) => ({
        chunkId: `c${j}`,
        text: j === 0 ? `otter number${i}` : passage(),
      }))
      const documents = [{ docId: `d${i}`, chunks }]
      await store.ingest(ANONYMOUS, { tenant: 't', corpus: 'c', documents })
    }
    const query = { tenant: 't', query: 'otter', limit: SEGMENTS }
    const before = await store.search(ANONYMOUS, query)
    let isRunning = true
    let answers = 0
    let slowestMs = 0
    const search = async (): Promise<void> => {
      while (isRunning) {
        const started = performance.now()
        const { hits } = await store.search(ANONYMOUS, { ...query, limit: 1 })
        slowestMs = Math.max(slowestMs, performance.now() - started)
        expect(hits).toHaveLength(1)
        answers++
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const started = performance.now()
    const searching = search()
    const result = await store.merge()
    const took = performance.now() - started
    isRunning = false
    delay.disable()
    await searching
    const ms = (ns: number): string => `${(ns / 1e6).toFixed(1)} ms`
    process.stdout.write(
      `${SEGMENTS} segments of ${CHUNKS} chunks merged in ${took.toFixed(0)} ms, meanwhile ${answers} searches, ` +
        `the slowest ${slowestMs.toFixed(1)} ms; delay p99 ${ms(delay.percentile(99))}, longest ${ms(delay.max)}\n`,
    )
    expect(result).toEqual({ merged: SEGMENTS, segments: 1 })
    expect(answers).toBeGreaterThan(10)
    const after = await store.search(ANONYMOUS, query)
    const refs = ({ hits }: typeof before) => hits.map(({ chunkRef }) => chunkRef).sort()
    expect(refs(after)).toEqual(refs(before))
  })
})
