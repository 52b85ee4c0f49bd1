import type { LexicalIndex } from 'crux-retrieval'
import type { CcxiReader } from 'crux-segment'
import type { SegmentRef } from 'crux-storage'
import type { Pause } from 'crux-types'
import type { SegmentVectors } from '../vectors/segment-vectors.js'
import { VectorSet } from '../vectors/vector-set.js'
import {
  chunkFrames,
  DocumentCatalog,
  type KnownSegment,
  type PlacedRun,
} from './document-catalog.js'
import { formatChunkRef } from './handle.js'
import type { Run, SegmentDigest } from './segment-digest.js'

/** Chunks hidden between two looks at the clock. */
const HIDE_SLICE = 4096

/** Where a chunk stands. */
export interface FoundChunk {
  readonly segment: KnownSegment
  readonly position: number
  /** Number of its frame; undefined when the segment was merged without it. */
  readonly docId: number | undefined
}

/** A segment with what of it is open. */
export interface OpenedSegment extends KnownSegment {
  /** Undefined when it cannot be searched. */
  readonly index: CcxiReader | undefined
  /** Used when it can be searched. */
  readonly vectors: SegmentVectors | undefined
}

/** The committed segments, those of them that can be searched, and which of their frames are current. */
export class ReaderSet {
  readonly catalog = new DocumentCatalog()
  private readonly known = new Map<string, KnownSegment>()
  /** Ids of merged segments by those that their frames come from; shared by all readers. */
  private readonly origins = new Map<string, string>()
  private readers: Readers
  private changing: Promise<void> | undefined
  private replacing: Promise<void> | undefined
  private lastTurn: Promise<void> = Promise.resolve()
  /** Queries that no commit may be taken in under, and who waits for their end. */
  private holders = 0
  private readonly waiting: (() => void)[] = []

  /** @param createIndex - Makes an empty index. */
  constructor(private readonly createIndex: () => LexicalIndex) {
    this.readers = new Readers(createIndex(), new VectorSet(), this.origins)
  }

  get segments(): number {
    return this.known.size
  }

  /** Segments whose text cannot be found because their index is missing, ascending `seq`. */
  get unsearchable(): readonly SegmentRef[] {
    return [...this.known.values()]
      .filter((segment) => !this.isSearchable(segment))
      .map(({ ref }) => ref)
  }

  /** Committed segments, in the order of their commits. */
  get all(): Iterable<KnownSegment> {
    return this.known.values()
  }

  /** True when a segment's text can be found, or it has none. */
  isSearchable({ ref, digest }: KnownSegment): boolean {
    return digest.indexable === 0 || this.readers.positionOf(ref.id) !== undefined
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
   * Run a query that looks several times: no commit is taken in meanwhile, so keep it short and let it
   * wait for nothing but turns.
   */
  queryHeld<T>(query: (readers: Readers) => Promise<T>): Promise<T> {
    return this.query(async (readers) => {
      this.holders++
      try {
        return await query(readers)
      } finally {
        this.holders--
        if (this.holders === 0) for (const go of this.waiting.splice(0)) go()
      }
    })
  }

  /**
   * Run a query that reads segments: when a merge replaces some meanwhile, it runs again on what took their place.
   *
   * @param query - As in {@link query}.
   */
  async queryStored<T>(query: (readers: Readers) => Promise<T>): Promise<T> {
    for (;;) {
      let used: Readers | undefined
      const ran = await this.query((readers) => {
        used = readers
        return query(readers)
      }).then(
        (answer) => ({ answer }),
        (error: unknown) => ({ error }),
      )
      // While segments are being replaced, handles already lead to the new one.
      await this.replacing
      if (used !== this.readers) continue
      if ('error' in ran) throw ran.error
      return ran.answer
    }
  }

  /** Take in a segment; call in ascending commit order, one at a time. */
  add({ ref, digest, index, vectors }: OpenedSegment, pause: Pause): Promise<void> {
    return this.change(async () => {
      const segment: KnownSegment = { ref, digest }
      await this.addOrigins(segment, pause)
      if (index !== undefined) {
        await this.readers.add({ ...segment, index, vectors }, pause)
        await pause()
      }
      this.known.set(ref.id, segment)
      const dead = await this.catalog.add(segment, pause)
      await this.readers.hide(dead, pause)
    })
  }

  /**
   * Put a merged segment in the place of those that it was merged from, in one step for queries; those that
   * run go on with what they started on. One at a time, like {@link add}.
   *
   * @param gone - Segments that leave.
   * @param merged - Stands last; undefined when nothing was left of them.
   * @param forgotten - As in {@link DocumentCatalog.replace}.
   */
  async replace(
    gone: ReadonlySet<string>,
    merged: OpenedSegment | undefined,
    forgotten: readonly Run[],
    pause: Pause,
  ): Promise<void> {
    const segment = merged && { ref: merged.ref, digest: merged.digest }
    this.replacing = this.change(async () => {
      const readers = await this.readers.replaced(gone, merged, pause)
      await this.moveOrigins(gone, segment, pause)
      for (const id of gone) this.known.delete(id)
      if (segment !== undefined) this.known.set(segment.ref.id, segment)
      this.readers = readers
    })
    try {
      await this.replacing
    } finally {
      this.replacing = undefined
    }
    await this.catalog.replace(gone, segment, forgotten, pause)
  }

  /**
   * Search these indexes instead of those so far; one at a time, like {@link add}.
   *
   * @param load - Opens what stands beside a segment.
   */
  async reindex(
    load: (segment: KnownSegment) => Promise<Pick<OpenedSegment, 'index' | 'vectors'>>,
    pause: Pause,
  ): Promise<void> {
    // Ties are ranked by the order in which segments were added, so the index is filled anew.
    const readers = new Readers(this.createIndex(), new VectorSet(), this.origins)
    for (const segment of this.known.values()) {
      const { index, vectors } = await load(segment)
      if (index === undefined) continue
      await readers.add({ ...segment, index, vectors }, pause)
      await readers.hide(this.deadOf(segment), pause)
    }
    this.readers.close()
    this.readers = readers
  }

  /** Compare these vectors of a segment from now on; one at a time, like {@link add}. */
  revector(segment: KnownSegment, vectors: SegmentVectors, pause: Pause): Promise<void> {
    return this.change(async () => {
      const { readers } = this
      if (readers.positionOf(segment.ref.id) === undefined) return
      await readers.vectors.add(segment.ref.id, vectors, pause)
      await readers.hide(this.deadOf(segment), pause)
    })
  }

  /** A segment that is committed; undefined when a merge took its place. */
  of(segmentId: string): KnownSegment | undefined {
    return this.known.get(segmentId)
  }

  /** The vectors of a segment that can be searched; undefined when it has none. */
  vectorsOf(segmentId: string): SegmentVectors | undefined {
    return this.readers.vectors.of(segmentId)
  }

  /** Vectors, those of replaced chunks included. */
  get vectors(): number {
    return this.readers.vectors.size
  }

  close(): void {
    this.readers.close()
  }

  private deadOf(segment: KnownSegment): readonly PlacedRun[] {
    const dead = segment.digest.runs.filter((run) => !this.catalog.isLive(run))
    return dead.map((run) => ({ segment, run }))
  }

  private async moveOrigins(
    gone: ReadonlySet<string>,
    merged: KnownSegment | undefined,
    pause: Pause,
  ): Promise<void> {
    for (const id of gone) {
      for (const origin of this.known.get(id)?.digest.origins?.segmentIds ?? []) {
        this.origins.delete(origin)
        await pause()
      }
    }
    if (merged !== undefined) await this.addOrigins(merged, pause)
  }

  private async addOrigins({ ref, digest }: KnownSegment, pause: Pause): Promise<void> {
    for (const origin of digest.origins?.segmentIds ?? []) {
      this.origins.set(origin, ref.id)
      await pause()
    }
  }

  /** Resolves when no query holds what there is. Those that come later wait for the change. */
  private unheld(): Promise<void> {
    if (this.holders === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.waiting.push(resolve)
    })
  }

  private async change(work: () => Promise<void>): Promise<void> {
    const changing = this.unheld().then(work)
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
  private readonly indexes = new Map<string, CcxiReader>()
  private readonly segments: KnownSegment[] = []
  private readonly positions = new Map<string, number>()

  /**
   * @param index - Holds exactly these segments, in this order.
   * @param vectors - Holds those of them that have vectors.
   * @param origins - Ids of merged segments by those that their frames come from.
   */
  constructor(
    readonly index: LexicalIndex,
    readonly vectors: VectorSet,
    private readonly origins: ReadonlyMap<string, string>,
  ) {}

  get size(): number {
    return this.segments.length
  }

  /** Place of a segment, which is its index in result ids; undefined when it cannot be searched. */
  positionOf(segmentId: string): number | undefined {
    return this.positions.get(segmentId)
  }

  /** The chunk that a positional handle names; undefined when there is no such segment. */
  at(position: number, docId: number): FoundChunk | undefined {
    const segment = this.segments[position]
    return segment && { segment, position, docId }
  }

  /** Where the chunk that a stable handle names stands now; undefined when it is nowhere. */
  find(segmentId: string, docId: number): FoundChunk | undefined {
    const position = this.positions.get(this.origins.get(segmentId) ?? segmentId)
    const segment = position === undefined ? undefined : this.segments[position]
    if (position === undefined || segment === undefined) return undefined
    const { origins } = segment.digest
    // The id of a merged segment is in no handle: its chunks keep those that they had.
    const frame = origins === undefined ? docId : origins.frameOf({ segmentId, frame: docId })
    return { segment, position, docId: frame }
  }

  /** Stable handle of a chunk of a segment that stands here. */
  chunkRefOf(position: number, docId: number): string {
    const segment = this.segments[position]
    if (segment === undefined) throw new RangeError(`segment ${position} of ${this.size}`)
    const { ref, digest } = segment
    const origin = digest.origins?.originOf(docId)
    return origin === undefined
      ? formatChunkRef(ref.id, docId)
      : formatChunkRef(origin.segmentId, origin.frame)
  }

  /** In the order of their commits. */
  get all(): readonly KnownSegment[] {
    return this.segments
  }

  /** The index of one segment; undefined when it cannot be searched. */
  indexOf(segmentId: string): CcxiReader | undefined {
    return this.indexes.get(segmentId)
  }

  /** What a segment holds; undefined when it cannot be searched. */
  digestOf(segmentId: string): SegmentDigest | undefined {
    const position = this.positions.get(segmentId)
    return position === undefined ? undefined : this.segments[position]?.digest
  }

  /** Put a segment behind the others: the places of those do not change. */
  async add(opened: OpenedSegment & { readonly index: CcxiReader }, pause: Pause): Promise<void> {
    const { ref, digest, index, vectors } = opened
    await this.index.addSegmentInSlices(ref.id, index, pause)
    if (vectors !== undefined) await this.vectors.add(ref.id, vectors, pause)
    this.list({ ref, digest }, index)
  }

  /** Readers of the same index without some segments and with another one. */
  async replaced(
    gone: ReadonlySet<string>,
    merged: OpenedSegment | undefined,
    pause: Pause,
  ): Promise<Readers> {
    const readers = new Readers(this.index, this.vectors, this.origins)
    for (const segment of this.segments) {
      const index = this.indexes.get(segment.ref.id)
      if (index !== undefined && !gone.has(segment.ref.id)) readers.list(segment, index)
    }
    if (merged?.index !== undefined) await readers.add({ ...merged, index: merged.index }, pause)
    for (const id of gone) {
      this.index.removeSegment(id)
      this.vectors.remove(id)
    }
    return readers
  }

  close(): void {
    this.vectors.close()
  }

  private list(segment: KnownSegment, index: CcxiReader): void {
    this.positions.set(segment.ref.id, this.segments.length)
    this.segments.push(segment)
    this.indexes.set(segment.ref.id, index)
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
          this.hideFrames(segmentId, frames)
          frames = []
          await pause()
        }
      }
      if (frames.length > 0) this.hideFrames(segmentId, frames)
      await pause()
    }
  }

  private hideFrames(segmentId: string, frames: readonly number[]): void {
    this.index.hide(segmentId, frames)
    this.vectors.hide(segmentId, frames)
  }
}
