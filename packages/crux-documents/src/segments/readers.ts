import type { LexicalIndex } from 'crux-retrieval'
import type { CcxiReader } from 'crux-segment'
import type { Pause } from 'crux-types'
import type { SegmentVectors } from '../vectors/segment-vectors.js'
import type { VectorSet } from '../vectors/vector-set.js'
import { chunkFrames, type KnownSegment, type PlacedRun } from './document-catalog.js'
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
