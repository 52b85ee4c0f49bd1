import { openFileSegmentStore } from 'crux-storage'
import { createFaultyFs, type FaultyFs } from 'crux-storage/testing'
import { ANONYMOUS, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { DocumentStore } from '../document-store.js'
import { openOn, request, text } from '../testing/document-stores.js'

const open = async (fs: FaultyFs) =>
  openOn(
    await openFileSegmentStore({ dir: '/data', fs, clock: new ManualClock(Date.UTC(2026, 0, 1)) }),
  )

/** Three segments, in which one chunk of four is dead. @returns references of all that were given out. */
async function fill(documents: DocumentStore): Promise<readonly string[]> {
  const given: string[] = []
  for (const document of [
    text('a', 'a otter'),
    text('b', 'b otter', 'b heron'),
    text('a', 'an otter'),
  ]) {
    await documents.ingest(ANONYMOUS, request({ documents: [document] }))
    given.push(...(await answer(documents)).refs)
  }
  return [...new Set(given)]
}

async function answer(documents: DocumentStore) {
  const query = { tenant: 'acme', query: 'otter heron', limit: 9 }
  const { hits } = await documents.search(ANONYMOUS, query)
  const refs = hits.map(({ chunkRef }) => chunkRef)
  return { refs, scores: hits.map(({ chunkRef, score }) => `${chunkRef} ${score}`).sort() }
}

async function resolve(documents: DocumentStore, handles: readonly string[]) {
  const query = { tenant: 'acme', handles, includeText: true }
  const { content, errors } = await documents.expand(ANONYMOUS, query)
  return [content.map((one) => [one.id, one.text]), errors.map((one) => [one.handle, one.kind])]
}

describe('a merge', () => {
  it('changes no answer and no reference, whichever call fails and whatever a crash keeps', async () => {
    const seen = new Set<number>()
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      const documents = await open(fs)
      const given = await fill(documents)
      expect(given).toHaveLength(4)
      const before = (await answer(documents)).scores
      const resolved = await resolve(documents, given)
      fs.failAt(n, 'EIO')
      const outcome = await documents.merge().then(
        () => 'merged',
        (error: unknown) => error,
      )
      const isPast = fs.clearFailure()
      const check = async (store: DocumentStore) => {
        expect((await answer(store)).scores, `call ${n}`).toEqual(before)
        expect(await resolve(store, given), `call ${n}`).toEqual(resolved)
        // All old ones, or the new one: never both, never neither.
        expect(store.stats().segments).toBe(outcome === 'merged' ? 1 : 3)
      }
      await check(documents)
      fs.crash((unsynced) => unsynced / 2)
      const again = await open(fs)
      await check(again)
      seen.add(again.stats().segments)
      expect((await again.verifyCompanions()).problems).toEqual([])
      if (isPast) break
    }
    expect([...seen].sort()).toEqual([1, 3])
  })
})
