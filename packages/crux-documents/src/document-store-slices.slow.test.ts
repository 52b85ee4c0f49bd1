import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createMemorySegmentStore } from 'crux-storage'
import { ANONYMOUS, systemClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { DocumentInput } from './document-store.js'
import { openDocumentStore } from './open-document-store.js'

const DOCUMENTS = 600
const CHUNKS = 40
const WORDS = 90

/** Text of a fixed seed: common words as often as rare ones are many. */
function documentsOfSeed(): readonly DocumentInput[] {
  let state = 1
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x80000000
  }
  const word = (): string => `w${Math.floor(next() ** 4 * 60_000).toString(36)}x`
  const passage = (): string => Array.from({ length: WORDS }, word).join(' ')
  return Array.from({ length: DOCUMENTS }, (_, i) => ({
    docId: `doc-${i}`,
    title: `Document ${i}`,
    chunks: Array.from({ length: CHUNKS }, (_, j) => ({
      chunkId: `c${j}`,
      text: passage(),
      headingPath: [`Part ${j}`],
    })),
  }))
}

describe('a big ingest', () => {
  it('leaves the event loop to other work, such as searches', async () => {
    // No files, so that the loop turns because the work pauses, not because it waits for a disk.
    const segments = await createMemorySegmentStore()
    const store = await openDocumentStore({ segments, clock: systemClock, buildIndex: true })
    const known = { docId: 'known', chunks: [{ chunkId: 'c0', text: 'the otter swims at dusk' }] }
    await store.ingest(ANONYMOUS, { tenant: 't', corpus: 'c', documents: [known] })
    const documents = documentsOfSeed()

    let isRunning = true
    let turns = 0
    const turn = (): void => {
      turns++
      if (isRunning) setImmediate(turn)
    }
    let answers = 0
    const search = async (): Promise<void> => {
      while (isRunning) {
        const query = { tenant: 't', query: 'otter', limit: 1 }
        const { hits } = await store.search(ANONYMOUS, query)
        expect(hits).toHaveLength(1)
        if (isRunning) answers++
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const started = performance.now()
    setImmediate(turn)
    const searching = search()
    const result = await store.ingest(ANONYMOUS, { tenant: 't', corpus: 'c', documents })
    isRunning = false
    const took = performance.now() - started
    delay.disable()
    await searching

    const ms = (ns: number): string => `${(ns / 1e6).toFixed(1)} ms`
    process.stdout.write(
      `${result.chunks} chunks in ${took.toFixed(0)} ms, meanwhile ${answers} searches and ${turns} turns; ` +
        `delay p99 ${ms(delay.percentile(99))}, longest ${ms(delay.max)}\n`,
    )
    expect(result.chunks).toBe(DOCUMENTS * CHUNKS)
    // Work without pauses would give a handful of both.
    expect(turns).toBeGreaterThan(50)
    expect(answers).toBeGreaterThan(10)
    expect(store.stats().chunks).toBe(DOCUMENTS * CHUNKS + 1)
  })
})
