import type { Hashes } from 'crux-segment'
import type { SegmentRef, SegmentStore, StorageErrorCode } from 'crux-storage'
import { type Clock, createPauser, hasCode, messageOf, toStoredTime } from 'crux-types'
import type { MergeProgress } from '../document-store.js'
import { storeClosed } from '../errors.js'
import {
  type BuiltCompanions,
  buildCompanions,
  companionsOf,
  openedSegment,
} from '../segments/build-companions.js'
import type { KnownSegment } from '../segments/document-catalog.js'
import { OWN_FRAMES, originsFrame } from '../segments/origins.js'
import type { ReaderSet } from '../segments/reader-set.js'
import type { SerialQueue } from '../serial-queue.js'
import { spaceOf } from '../vectors/segment-vectors.js'
import { carryVectors } from './carry-vectors.js'
import { type CollectedFrames, collectFrames } from './collect-frames.js'
import {
  type MergeCandidate,
  type MergeGroup,
  type MergePolicy,
  planFullMerge,
  planMerge,
} from './plan-merge.js'

/** What merges work with. */
export interface MergerOptions {
  readonly segments: SegmentStore
  readonly set: ReaderSet
  /** Merges take their turn with ingests. */
  readonly commits: SerialQueue
  readonly hashes: Hashes
  readonly clock: Clock
  readonly policy: MergePolicy
  readonly onWarning: (message: string) => void
}

/** Shorter than usual: a merge makes garbage, and collecting some adds a few milliseconds to a slice. */
const MERGE_SLICE_MS = 2

/** After so many ingests in a row that went first, the next one waits, so that merges come to an end. */
const MOST_YIELDS = 3

/** What one merge did: segments it took the place of, and removals it left out. */
interface MergeDone {
  readonly segments: number
  readonly forgotten: number
}

/** Merges segments, on request and in the background. */
export class Merger {
  /** Ends the merge that runs in the background. */
  private running: AbortController | undefined
  private background: Promise<void> | undefined
  private yields = 0
  /** Full merges that were asked for and have not ended. */
  private requests = 0
  private isClosed = false
  /** Segments that could not be read: trying again changes nothing. */
  private readonly unreadable = new Set<string>()

  constructor(private readonly options: MergerOptions) {}

  /**
   * Merge what {@link planFullMerge} finds, again when removals were left out, as what is then smaller may
   * fit with others; what runs in the background stops meanwhile.
   *
   * @throws {CruxError} `DOCUMENT_STORE_CLOSED`, and what the segment store throws. @throws An abort's reason.
   */
  async mergeAll(options: {
    readonly signal?: AbortSignal | undefined
    readonly onProgress?: ((done: MergeProgress) => void) | undefined
  }): Promise<{ readonly merged: number; readonly segments: number }> {
    const { policy, commits, set } = this.options
    this.requests++
    this.running?.abort(new Error('a full merge was asked for'))
    try {
      let merged = 0
      for (let isSmaller = true; isSmaller; ) {
        isSmaller = false
        const groups = await commits.run(async () => planFullMerge(this.candidates(), policy))
        const of = groups.reduce((sum, group) => sum + group.length, merged)
        for (const group of groups) {
          options.signal?.throwIfAborted()
          const done = await commits.run(() => this.merge(group, options.signal))
          merged += done.segments
          isSmaller ||= done.forgotten > 0
          options.onProgress?.({ segments: merged, of })
        }
      }
      return { merged, segments: set.segments }
    } finally {
      this.requests--
    }
  }

  /** Merge what is worth it, in the background, unless that is going on. */
  start(): void {
    if (this.isClosed) return
    this.background ??= this.mergeInBackground().finally(() => {
      this.background = undefined
    })
  }

  /** Let an ingest go before the merge that runs in the background, which is then begun again. */
  yieldToIngest(): void {
    if (this.running === undefined || this.yields >= MOST_YIELDS) return
    this.yields++
    this.running.abort(new Error('an ingest goes first'))
  }

  /** Stop what runs in the background; resolves when it has ended. */
  async close(): Promise<void> {
    this.isClosed = true
    this.running?.abort(new Error('the document store was closed'))
    await this.background
  }

  private async mergeInBackground(): Promise<void> {
    while (!this.isClosed) {
      // Planned when its turn has come, as commits that went before may have changed what is worth it.
      const more = await this.options.commits.run(() => this.mergeNext())
      if (!more) return
    }
  }

  /** @returns false when there is nothing to do, or it cannot be done now. */
  private async mergeNext(): Promise<boolean> {
    if (this.isClosed || this.requests > 0) return false
    const group = planMerge(this.candidates(), this.options.policy)
    if (group === undefined) return false
    const running = new AbortController()
    this.running = running
    try {
      await this.merge(group, running.signal)
      this.yields = 0
      return true
    } catch (error) {
      if (error === running.signal.reason) return true
      const why = messageOf(error)
      this.options.onWarning(`${group.length} segments could not be merged and stay: ${why}`)
      // Without what cannot be read, others may be; anything else is tried again after the next ingest.
      return hasCode<StorageErrorCode>(error, 'SEGMENT_CORRUPT')
    } finally {
      this.running = undefined
    }
  }

  private async merge(group: MergeGroup, signal: AbortSignal | undefined): Promise<MergeDone> {
    if (this.isClosed) throw storeClosed()
    const { segments, set, hashes } = this.options
    const pause = createPauser({ sliceMs: MERGE_SLICE_MS, signal })
    const gone = new Set(group)
    const merging = [...set.all].filter(({ ref }) => gone.has(ref.id))
    // Another full merge that was asked for at the same time may have taken some.
    if (merging.length < gone.size) return { segments: 0, forgotten: 0 }
    const refs = merging.map(({ ref }) => ref)
    const collected = await this.collect(merging, signal)
    const swapPause = createPauser({ sliceMs: MERGE_SLICE_MS })
    const { kept, ranges, places, forgotten } = collected
    const done = { segments: refs.length, forgotten: forgotten.length }
    if (kept.length === 0) {
      await segments.replace(refs)
      await set.replace(gone, undefined, forgotten, swapPause)
      return done
    }
    const occurredAt = toStoredTime(this.options.clock.now())
    const vectors = await carryVectors(places, (id) => set.vectorsOf(id), pause)
    let built: BuiltCompanions | undefined
    await segments.replace(refs, {
      frames: [await originsFrame(ranges, occurredAt, pause)],
      kept,
      companions: async (sealed) => {
        const building = { hashes, buildIndex: true, vectors }
        built = await buildCompanions(building, sealed, pause, signal)
        // Without its index what was found until now would not be.
        if (built.indexError !== undefined) throw built.indexError
        return companionsOf(built)
      },
      committed: async (ref: SegmentRef) => {
        if (built === undefined) throw new Error(`segment ${ref.id} was committed unread`)
        await set.replace(gone, openedSegment(ref, built), forgotten, swapPause)
      },
      ...(signal === undefined ? {} : { signal }),
    })
    return done
  }

  private async collect(
    merging: readonly KnownSegment[],
    signal: AbortSignal | undefined,
  ): Promise<CollectedFrames> {
    const { segments, set } = this.options
    const pause = createPauser({ sliceMs: MERGE_SLICE_MS, signal })
    const read: SegmentStore['read'] = async (ref) => {
      try {
        return await segments.read(ref)
      } catch (error) {
        if (hasCode<StorageErrorCode>(error, 'SEGMENT_CORRUPT')) this.unreadable.add(ref.id)
        throw error
      }
    }
    const sources = { segments: { read }, catalog: set.catalog, all: set.all }
    return collectFrames(sources, merging, pause)
  }

  /** Segments that may be merged: what cannot be searched stays so, until its index is built again. */
  private candidates(): readonly MergeCandidate[] {
    const { set } = this.options
    const candidates: MergeCandidate[] = []
    for (const segment of set.all) {
      const { ref, digest } = segment
      if (this.unreadable.has(ref.id) || !set.isSearchable(segment)) continue
      const own = digest.origins === undefined ? 0 : OWN_FRAMES
      const { offsets } = digest
      const frames = ref.frameCount - own
      const bytes = (offsets[ref.frameCount] ?? 0) - (offsets[own] ?? 0)
      const dead = set.catalog.deadIn(ref.id)
      const vectors = set.vectorsOf(ref.id)
      candidates.push({
        id: ref.id,
        frames,
        liveFrames: frames - dead.frames,
        liveBytes: bytes - dead.bytes,
        space: vectors === undefined ? '' : spaceOf(vectors),
      })
    }
    return candidates
  }
}
