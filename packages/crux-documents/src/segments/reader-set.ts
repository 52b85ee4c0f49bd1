import type { LexicalIndex } from 'crux-retrieval'
import type { CcxiReader } from 'crux-segment'
import type { SegmentRef } from 'crux-storage'
import type { Pause } from 'crux-types'
import {
  chunkFrames,
  DocumentCatalog,
  type KnownSegment,
  type PlacedRun,
} from './document-catalog.js'
import type { Run, SegmentDigest } from './segment-digest.js'

/** Chunks hidden between two looks at the clock. */
const HIDE_SLICE = 4096

/** The committed segments, those of them that can be searched, and which of their frames are current. */
export class ReaderSet {
  readonly catalog = new DocumentCatalog()
  private readonly known = new Map<string, KnownSegment>()
  private readers: Readers
  private changing: Promise<void> | undefined
  private lastTurn: Promise<void> = Promise.resolve()

  /** @param createIndex - Makes an empty index. */
  constructor(private readonly createIndex: () => LexicalIndex) {
    this.readers = new Readers(createIndex())
  }

  get segments(): number {
    return this.known.size
  }

  /** Segments whose text cannot be found because their index is missing, ascending `seq`. */
  get unsearchable(): readonly SegmentRef[] {
    return [...this.known.values()]
      .filter(
        ({ ref, digest }) => digest.indexable > 0 && this.readers.positionOf(ref.id) === undefined,
      )
      .map(({ ref }) => ref)
  }

  /**
   * Run a query, once no commit is being taken in: it sees each commit whole or not at all. Queries
   * that had to wait start one after the other, so that many do not hold the event loop at once.
   *
   * @param query - Has to start its search before it waits for anything.
   */
  async query<T>(query: (readers: Readers) => Promise<T>): Promise<T> {
    while (this.changing !== undefined) {
      await this.changing
      this.lastTurn = this.lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
      await this.lastTurn
    }
    return query(this.readers)
  }

  /**
   * Take in a segment; call in ascending commit order, one at a time.
   *
   * @param index - Undefined when it cannot be searched.
   */
  add(
    ref: SegmentRef,
    digest: SegmentDigest,
    index: CcxiReader | undefined,
    pause: Pause,
  ): Promise<void> {
    return this.change(async () => {
      const segment: KnownSegment = { ref, digest }
      if (index !== undefined) {
        await this.readers.index.addSegmentInSlices(ref.id, index, pause)
        this.readers.add(segment)
        await pause()
      }
      this.known.set(ref.id, segment)
      const dead = await this.catalog.add(segment, pause)
      await this.readers.hide(dead, pause)
    })
  }

  /**
   * Search these indexes instead of those so far; one at a time, like {@link add}.
   *
   * @param load - Opens a segment's index; undefined when it has none.
   */
  async reindex(
    load: (ref: SegmentRef, digest: SegmentDigest) => Promise<CcxiReader | undefined>,
    pause: Pause,
  ): Promise<void> {
    // Ties are ranked by the order in which segments were added, so the index is filled anew.
    const readers = new Readers(this.createIndex())
    for (const segment of this.known.values()) {
      const index = await load(segment.ref, segment.digest)
      if (index === undefined) continue
      await readers.index.addSegmentInSlices(segment.ref.id, index, pause)
      readers.add(segment)
      const dead = segment.digest.runs.filter((run) => !this.catalog.isLive(run))
      await readers.hide(
        dead.map((run) => ({ segment, run })),
        pause,
      )
    }
    this.readers = readers
  }

  private async change(work: () => Promise<void>): Promise<void> {
    const changing = work()
    // Those who wait only need to know that it has ended.
    this.changing = changing.catch(() => undefined)
    try {
      await changing
    } finally {
      this.changing = undefined
    }
  }
}

/** The segments that can be searched, in the order of their commits. */
export class Readers {
  private readonly segments: KnownSegment[] = []
  private readonly positions = new Map<string, number>()

  /** @param index - Holds exactly these segments, in this order. */
  constructor(readonly index: LexicalIndex) {}

  get size(): number {
    return this.segments.length
  }

  /** Place of a segment, which is its index in result ids; undefined when it cannot be searched. */
  positionOf(segmentId: string): number | undefined {
    return this.positions.get(segmentId)
  }

  at(position: number): KnownSegment | undefined {
    return this.segments[position]
  }

  /** Put a segment behind the others: the places of those do not change. */
  add(segment: KnownSegment): void {
    this.positions.set(segment.ref.id, this.segments.length)
    this.segments.push(segment)
  }

  /**
   * Take the chunks of these runs out of the index; those in segments that it does not hold are in none.
   *
   * @param pause - Awaited between thousands of chunks: the index then still holds the rest of them.
   */
  async hide(dead: readonly PlacedRun[], pause: Pause): Promise<void> {
    const bySegment = new Map<string, Run[]>()
    for (const { segment, run } of dead) {
      if (!this.positions.has(segment.ref.id)) continue
      const runs = bySegment.get(segment.ref.id)
      if (runs === undefined) bySegment.set(segment.ref.id, [run])
      else runs.push(run)
    }
    for (const [segmentId, runs] of bySegment) {
      let frames: number[] = []
      for (const run of runs) {
        const { start, end } = chunkFrames(run)
        for (let frame = start; frame < end; frame++) {
          frames.push(frame)
          if (frames.length < HIDE_SLICE) continue
          this.index.hide(segmentId, frames)
          frames = []
          await pause()
        }
      }
      if (frames.length > 0) this.index.hide(segmentId, frames)
      await pause()
    }
  }
}
