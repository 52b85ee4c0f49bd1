import type { LexicalIndex } from 'crux-retrieval'
import type { CcxiReader } from 'crux-segment'
import type { Pause } from 'crux-types'
import type { SegmentVectors } from '../vectors/segment-vectors.js'
import type { VectorSet } from '../vectors/vector-set.js'
import { chunkFrames, type KnownSegment, type PlacedRun } from './document-catalog.js'
import { formatChunkRef } from './handle.js'
import type { SegmentOrigins } from './origins.js'
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

/** A segment that was merged away: what its number in result ids still leads to. */
interface GoneSegment {
  readonly goneId: string
  readonly origins: SegmentOrigins | undefined
}

/** Numbers of segments that were merged away and still lead on; older ones lead nowhere. */
const MOST_GONE = 16_384

/**
 * The segments that can be searched, in the order of their commits. Each keeps its number for as long
 * as the store is open, also when it is merged away: a result id that was just given out must not
 * lead to something else.
 */
export class Readers {
  private readonly indexes = new Map<string, CcxiReader>()
  private readonly slots: (KnownSegment | GoneSegment | undefined)[] = []
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
    return this.positions.size
  }

  /** Place of a segment, which is its index in result ids; undefined when it cannot be searched. */
  positionOf(segmentId: string): number | undefined {
    return this.positions.get(segmentId)
  }

  /** The chunk that a positional handle names; undefined when there is no such segment. */
  at(position: number, docId: number): FoundChunk | undefined {
    const slot = this.slots[position]
    if (isHere(slot)) return { segment: slot, position, docId }
    if (slot === undefined) return undefined
    if (slot.origins === undefined) return this.find(slot.goneId, docId)
    const origin = slot.origins.originOf(docId)
    return origin && this.find(origin.segmentId, origin.frame)
  }

  /** Where the chunk that a stable handle names stands now; undefined when it is nowhere. */
  find(segmentId: string, docId: number): FoundChunk | undefined {
    const position = this.positions.get(this.origins.get(segmentId) ?? segmentId)
    const segment = this.segmentAt(position)
    if (position === undefined || segment === undefined) return undefined
    const { origins } = segment.digest
    // The id of a merged segment is in no handle: its chunks keep those that they had.
    const frame = origins === undefined ? docId : origins.frameOf({ segmentId, frame: docId })
    return { segment, position, docId: frame }
  }

  /** Stable handle of a chunk of a segment that stands here. */
  chunkRefOf(position: number, docId: number): string {
    const segment = this.segmentAt(position)
    if (segment === undefined) throw new RangeError(`segment ${position} cannot be searched`)
    const { ref, digest } = segment
    const origin = digest.origins?.originOf(docId)
    return origin === undefined
      ? formatChunkRef(ref.id, docId)
      : formatChunkRef(origin.segmentId, origin.frame)
  }

  /** In the order of their commits. */
  get all(): readonly KnownSegment[] {
    return this.slots.filter(isHere)
  }

  /** The index of one segment; undefined when it cannot be searched. */
  indexOf(segmentId: string): CcxiReader | undefined {
    return this.indexes.get(segmentId)
  }

  /** What a segment holds; undefined when it cannot be searched. */
  digestOf(segmentId: string): SegmentDigest | undefined {
    return this.segmentAt(this.positions.get(segmentId))?.digest
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
    const stays = this.slots.length - MOST_GONE
    for (const [position, slot] of this.slots.entries()) {
      if (!isHere(slot)) {
        readers.slots.push(position < stays ? undefined : slot)
        continue
      }
      const { id } = slot.ref
      const index = this.indexes.get(id)
      if (index !== undefined && !gone.has(id)) readers.list(slot, index)
      else readers.slots.push({ goneId: id, origins: slot.digest.origins })
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
    this.positions.set(segment.ref.id, this.slots.length)
    this.slots.push(segment)
    this.indexes.set(segment.ref.id, index)
  }

  private segmentAt(position: number | undefined): KnownSegment | undefined {
    const slot = position === undefined ? undefined : this.slots[position]
    return isHere(slot) ? slot : undefined
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

function isHere(slot: KnownSegment | GoneSegment | undefined): slot is KnownSegment {
  return slot !== undefined && !('goneId' in slot)
}
