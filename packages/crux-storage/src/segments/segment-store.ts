import type { FrameToSeal } from 'crux-segment'

/** A document chunk, or any event, on its way into a segment. */
export interface FrameInput {
  readonly tenantId: string
  /** For documents: the corpus id. */
  readonly streamType: string
  /** For documents: the document id. */
  readonly streamId: string
  /** For documents: the chunk id. At most 128 UTF-8 bytes. */
  readonly eventId: string
  readonly eventType: string
  readonly contentType: string
  /** RFC 3339. */
  readonly occurredAt: string
  readonly payload: Uint8Array
}

/**
 * Files that may stand beside a segment under the same stem, by extension: index, metadata, vectors,
 * the vectors' profile, and the words of documents in order. All but vectors that a client brought
 * can be rebuilt from the segment.
 */
export const COMPANION_KINDS = ['ccxi', 'ccxm', 'ccxv', 'ccxp', 'ccxf'] as const

/** One of {@link COMPANION_KINDS}. */
export type CompanionKind = (typeof COMPANION_KINDS)[number]

/** A file beside a segment. */
export interface Companion {
  readonly kind: CompanionKind
  readonly bytes: Uint8Array
}

/** Frames that become one segment: all of them are committed or none. */
export interface FrameBatch {
  /** In the order in which they are to stand; sequence numbers are assigned by the store, per stream. */
  readonly frames: readonly FrameInput[]
  /** Called with the sealed bytes before the commit; a failure is reported and leaves the segment without companions. */
  readonly companions?: (segment: SealedSegment) => Promise<readonly Companion[]>
  readonly signal?: AbortSignal
}

/** Frames that take the place of whole segments, as one new segment. */
export interface Replacement {
  /** Stand in front, and get sequence numbers as in a {@link FrameBatch}. */
  readonly frames: readonly FrameInput[]
  /** Frames of the replaced segments as they were decoded; kept byte for byte, sequence numbers included. */
  readonly kept: readonly FrameToSeal[]
  /** As in a {@link FrameBatch}, but a failure gives the replacement up. */
  readonly companions: (segment: SealedSegment) => Promise<readonly Companion[]>
  /**
   * Called after the commit; the replaced segments can be read until it has ended. Must not write to the
   * store. A failure is reported.
   */
  readonly committed?: (ref: SegmentRef) => Promise<void>
  readonly signal?: AbortSignal
}

/** What identifies a sealed segment. */
export interface SegmentRef {
  /** 32 hex digits; stable for ever. */
  readonly id: string
  readonly shard: number
  readonly epoch: number
  /** 1 for the first; ascending in commit order. */
  readonly seq: number
  /** Whole file, in bytes. */
  readonly sizeBytes: number
  readonly frameCount: number
  /** Milliseconds since 1970-01-01 UTC. */
  readonly sealedAt: number
  /** Hex BLAKE3 of the seal receipt material. */
  readonly receiptId: string
}

/** A segment's bytes as they are to be committed. */
export interface SealedSegment {
  readonly ref: SegmentRef
  readonly bytes: Uint8Array
}

/** Bytes of one segment; the caller owns the buffers. */
export interface SegmentBytes {
  readonly ref: SegmentRef
  readonly bytes: Uint8Array
}

/**
 * Immutable segments, in commit order.
 *
 * Two implementations, `openFileSegmentStore` and `createMemorySegmentStore`, held to one contract suite.
 */
export interface SegmentStore {
  /** Committed segments, ascending `seq`. */
  list(): Promise<readonly SegmentRef[]>
  /** A whole segment, its checksums verified. @throws {CruxError} `SEGMENT_NOT_FOUND`, `SEGMENT_CORRUPT`. */
  read(ref: SegmentRef): Promise<SegmentBytes>
  /**
   * Bytes `offset .. offset + length` of a segment's file, without reading the rest; unchecked, as
   * frames carry their own checksums.
   *
   * @throws {RangeError} When the range is not within the file. @throws {CruxError} `SEGMENT_NOT_FOUND`, `SEGMENT_CORRUPT`.
   */
  readRange(ref: SegmentRef, offset: number, length: number): Promise<Uint8Array>
  /** Companion bytes; undefined when there is none. */
  readCompanion(ref: SegmentRef, kind: CompanionKind): Promise<Uint8Array | undefined>
  /** Put a rebuilt companion beside a segment, atomically. */
  writeCompanion(ref: SegmentRef, companion: Companion): Promise<void>
  /**
   * Commit a batch; durable when it resolves. Batches are sealed one at a time, in the order of the
   * calls. A frame's seq is the next of its stream, and above all in the segments there are.
   *
   * @throws {CruxError} `SEGMENT_BATCH_INVALID`, `STORAGE_WRITE_FAILED`, `SEGMENT_STORE_CLOSED`.
   * @throws The reason of `batch.signal` when it is aborted before the commit.
   */
  seal(batch: FrameBatch): Promise<SegmentRef>
  /** Take a segment and its companions out, durably. Its number and id are not used again. */
  remove(ref: SegmentRef): Promise<void>
  /**
   * Put one new segment in the place of several, or nothing when `by` is undefined: one commit, after which
   * and after any crash either all of them are there or only the new one. It gets the next number, so that it
   * stands behind later segments although its frames may be older.
   *
   * @returns The new segment; undefined when there is none.
   * @throws {CruxError} `SEGMENT_NOT_FOUND`, `SEGMENT_BATCH_INVALID` (also for a kept frame whose seq is above
   *   all of its stream), `STORAGE_WRITE_FAILED`, `SEGMENT_STORE_CLOSED`; what `companions` throws.
   * @throws The reason of `by.signal` when it is aborted before the commit.
   */
  replace(refs: readonly SegmentRef[], by?: Replacement): Promise<SegmentRef | undefined>
  /** Release everything; safe to call twice. */
  close(): Promise<void>
}
