import { decodeFrame, type FrameToSeal } from 'crux-segment'
import type { SegmentStore } from 'crux-storage'
import type { Pause } from 'crux-types'
import type { DocumentCatalog, KnownSegment } from '../segments/document-catalog.js'
import type { OriginRange } from '../segments/origins.js'
import { documentRuns, type Run } from '../segments/segment-digest.js'

/** What a merge of some segments keeps. */
export interface CollectedFrames {
  /** In the order of the segments, then of their frames. Payloads are views into what was read. */
  readonly kept: readonly FrameToSeal[]
  /** Where they come from, in the same order. */
  readonly ranges: readonly OriginRange[]
  /** Where they stand now, in the same order. */
  readonly places: readonly KeptRun[]
  /** Removals that are left out, as nothing that they take out remains. */
  readonly forgotten: readonly Run[]
}

/** Neighbouring frames of a segment that is merged. */
export interface KeptRun {
  readonly segmentId: string
  readonly first: number
  readonly frames: number
}

/** What {@link collectFrames} reads from. */
export interface FrameSources {
  readonly segments: Pick<SegmentStore, 'read'>
  readonly catalog: DocumentCatalog
  /** Every committed segment. */
  readonly all: Iterable<KnownSegment>
}

/**
 * Read the frames of segments that count: those of current documents, and removals of documents of which
 * some other segment still holds earlier frames, as without them these would come back.
 *
 * @param merging - In the order of their commits.
 * @param pause - Awaited between frames; what it throws (an abort) ends the reading.
 * @throws {CruxError} The segment store's codes when a segment cannot be read.
 */
export async function collectFrames(
  { segments, catalog, all }: FrameSources,
  merging: readonly KnownSegment[],
  pause: Pause,
): Promise<CollectedFrames> {
  const kept: FrameToSeal[] = []
  const ranges: OriginRange[] = []
  const places: KeptRun[] = []
  const removals = await removalsOf(catalog, merging, pause)
  const inMerge = new Set(merging)
  const needed = new Set<Run>()
  if (removals.size > 0) {
    for (const segment of all) {
      if (inMerge.has(segment)) continue
      for (const run of documentRuns(segment.digest)) {
        const removal = removals.get(streamKey(run))
        if (removal !== undefined && run.seq < removal.seq) needed.add(removal)
        await pause()
      }
    }
  }
  for (const { ref, digest } of merging) {
    const runs = documentRuns(digest).filter((run) => catalog.isLive(run) || needed.has(run))
    await pause()
    if (runs.length === 0) continue
    const { bytes } = await segments.read(ref)
    for (const run of runs) {
      const end = run.first + run.frames
      for (let number = run.first; number < end; number++) {
        const { header, payload } = decodeFrame(bytes, digest.offsets[number])
        kept.push({ fields: header, payload })
        await pause()
      }
      join(ranges, originOf({ ref, digest }, run))
      places.push({ segmentId: ref.id, first: run.first, frames: run.frames })
    }
  }
  const forgotten = [...removals.values()].filter((removal) => !needed.has(removal))
  return { kept, ranges, places, forgotten }
}

/** Removals that hold, by stream. */
async function removalsOf(
  catalog: DocumentCatalog,
  merging: readonly KnownSegment[],
  pause: Pause,
): Promise<ReadonlyMap<string, Run>> {
  const removals = new Map<string, Run>()
  for (const { digest } of merging) {
    for (const run of documentRuns(digest)) {
      if (catalog.isRemoval(run)) removals.set(streamKey(run), run)
      await pause()
    }
  }
  return removals
}

/** Neither part can hold NUL. */
function streamKey({ tenant, corpus, doc }: Run): string {
  return `${tenant}\0${corpus}\0${doc}`
}

/** Where a run was first committed; it comes from one range, as merges keep runs whole. */
function originOf({ ref, digest }: KnownSegment, { first, frames }: Run): OriginRange {
  const origin = digest.origins?.originOf(first)
  return origin === undefined
    ? { segmentId: ref.id, first, frames }
    : { segmentId: origin.segmentId, first: origin.frame, frames }
}

function join(ranges: OriginRange[], range: OriginRange): void {
  const last = ranges.at(-1)
  if (last?.segmentId === range.segmentId && last.first + last.frames === range.first) {
    ranges[ranges.length - 1] = { ...last, frames: last.frames + range.frames }
  } else ranges.push(range)
}
