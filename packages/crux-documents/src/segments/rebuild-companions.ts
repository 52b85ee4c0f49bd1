import { DEFAULT_ANALYSER_VERSION } from 'crux-retrieval'
import type { CcxiReader } from 'crux-segment'
import type { SegmentRef } from 'crux-storage'
import { createPauser, type Pause } from 'crux-types'
import { indexFiles } from './build-companions.js'
import {
  type CompanionSources,
  loadDigest,
  loadIndex,
  loadWords,
  openSegment,
} from './companions.js'
import type { ReaderSet } from './reader-set.js'
import { indexSegment } from './scan-segment.js'
import type { SegmentDigest } from './segment-digest.js'

/**
 * Build companions again, and search with the new ones; not while a commit runs.
 *
 * @param isAll - Whether usable indexes are built again as well, such as those of an older analyser.
 * @param pause - Awaited between pieces; what it throws (an abort) ends the work, and what was built stays.
 * @returns `rebuilt` counts segments that got a new companion.
 * @throws {CruxError} The segment store's codes.
 */
export async function rebuildCompanions(
  sources: CompanionSources,
  set: ReaderSet,
  isAll: boolean,
  pause: Pause,
): Promise<{ readonly rebuilt: number; readonly segments: number }> {
  const refs = await sources.segments.list()
  const missing = new Set(set.unsearchable.map(({ id }) => id))
  let rebuilt = 0
  let isReindexNeeded = false
  try {
    for (const ref of refs) {
      const { digest, isRebuilt } = await loadDigest(sources, ref, pause)
      let isIndexed = false
      if (digest.indexable > 0) {
        const stored = isAll ? undefined : await loadIndex(sources, ref, digest, pause)
        const isWhole = stored !== undefined && (await hasWords(sources, ref, stored, pause))
        isIndexed = !isWhole && (await rebuildIndex(sources, ref, digest, pause))
        isReindexNeeded ||= isIndexed || missing.has(ref.id)
      }
      if (isRebuilt || isIndexed) rebuilt++
    }
  } finally {
    // Also after an abort: what was built by then is found.
    if (isReindexNeeded) {
      const unstopped = createPauser()
      await set.reindex((segment) => openSegment(sources, segment, unstopped), unstopped)
    }
  }
  return { rebuilt, segments: refs.length }
}

async function rebuildIndex(
  { segments, hashes }: CompanionSources,
  ref: SegmentRef,
  digest: SegmentDigest,
  pause: Pause,
): Promise<boolean> {
  const { bytes } = await segments.read(ref)
  const index = await indexSegment(ref, bytes, digest, hashes, pause)
  if (index === undefined) return false
  for (const file of indexFiles(index)) await segments.writeCompanion(ref, file)
  return true
}

/** True when the words of an index stand beside it, or it is of an analyser that keeps none. */
async function hasWords(
  sources: CompanionSources,
  ref: SegmentRef,
  index: CcxiReader,
  pause: Pause,
): Promise<boolean> {
  if (index.header.tokenizerVersion !== DEFAULT_ANALYSER_VERSION) return true
  return (await loadWords(sources, ref, index, pause)) !== undefined
}
