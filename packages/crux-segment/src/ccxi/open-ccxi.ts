import { noPause, type Pause, runInSlices, runNow, type Steps } from 'crux-types'
import {
  outOfRange,
  requireHash,
  requireLength,
  requireMagic,
  requireRange,
  requireVersion,
} from '../errors.js'
import { blake3Steps } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { readU64, viewOf } from '../little-endian.js'
import { countPForDelta, readPForDelta } from '../pfordelta/read-pfordelta.js'
import {
  CCXI_MAGIC,
  CCXI_VERSION,
  DOC_ENTRY_BYTES,
  FOOTER_BYTES,
  HASH_BYTES,
  HEADER,
  HEADER_BYTES,
  VOCAB_ENTRY_BYTES,
} from './layout.js'

/** Facts in the header of a `.ccxi` index. */
export interface CcxiHeader {
  readonly shardId: number
  readonly segmentSeq: number
  readonly epoch: number
  /** Sum of the lengths of all posting lists. */
  readonly totalPostings: number
  readonly tokenizerVersion: number
}

/** A term's documents, with times of occurrence. */
export interface Postings {
  /** Ascending. */
  readonly docIds: Uint32Array
  /** One per document; all 1 when the file holds none. */
  readonly tfs: Uint16Array
}

/** Reads an index where it lies, without copying it. */
export interface CcxiReader {
  readonly header: CcxiHeader
  /** Terms. */
  readonly vocabSize: number
  /** Documents, unindexed ones included. */
  readonly totalFrames: number
  /** Number of the term with this hash, or -1. */
  find(hash: bigint): number
  /** {@link find} with the hash as two unsigned halves. */
  findHalves(high: number, low: number): number
  /** Hash of a term. @throws {RangeError} When there is no such term. */
  termHash(index: number): bigint
  /** Documents of a term. @throws {RangeError} When there is no such term. @throws {CruxError} When its bytes are damaged. */
  postings(index: number): Postings
  /**
   * Decode a term's list into arrays of the caller from `at` on, allocating nothing;
   * {@link documentFrequency} says how much room it takes.
   *
   * @param tfs - Times of occurrence; an array of bytes holds 255 for 255 and more.
   * @returns Documents written.
   * @throws {RangeError} When there is no such term, or too little room.
   * @throws {CruxError} When the list is damaged; what lies in the arrays from `at` on is then undefined.
   */
  decodeInto(index: number, docIds: Uint32Array, tfs: Uint16Array | Uint8Array, at: number): number
  /**
   * Length of a term's posting list, at most {@link totalFrames}, without decoding it.
   *
   * @throws {RangeError} When there is no such term. @throws {CruxError} When the list is damaged.
   */
  documentFrequency(index: number): number
  /** Byte in the segment's file at which a document's frame starts; 0 when the frame is not indexed. */
  docFrameOffset(docId: number): number
  /** Tokens, at most 65,535. */
  docLength(docId: number): number
  docTenantHash(docId: number): bigint
  /** Lower 32 bits of {@link docTenantHash}. */
  docTenantLow(docId: number): number
  /** Upper 32 bits of {@link docTenantHash}. */
  docTenantHigh(docId: number): number
}

/**
 * Open an index and check its hashes (about 1.5 ms per MiB).
 *
 * @param bytes - The whole file; kept and read for as long as the reader is used.
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, `LENGTH_OUT_OF_RANGE`, or
 *   `HASH_MISMATCH` with `data.part` `vocab table` or `postings area`; `data.offset` in each.
 */
export function openCcxi(bytes: Uint8Array, hashes: Hashes): CcxiReader {
  return runNow(openSteps(bytes, hashes))
}

/** {@link openCcxi} with pauses while hashing, so that other work goes on meanwhile. */
export async function openCcxiInSlices(
  bytes: Uint8Array,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<CcxiReader> {
  return await runInSlices(openSteps(bytes, hashes), pause)
}

function* openSteps(bytes: Uint8Array, hashes: Hashes): Steps<CcxiReader> {
  const reader = new FileReader(bytes)
  for (const { part, start, end, hash } of reader.hashedAreas()) {
    const actual = yield* blake3Steps(bytes.subarray(start, end), hashes)
    requireHash(part, hash, actual, start)
  }
  return reader
}

/**
 * {@link openCcxi} without looking at the hashes, for bytes that this process has just made or checked.
 *
 * @throws {CruxError} As {@link openCcxi}, but never `HASH_MISMATCH`.
 */
export function openTrustedCcxi(bytes: Uint8Array): CcxiReader {
  return new FileReader(bytes)
}

class FileReader implements CcxiReader {
  readonly header: CcxiHeader
  readonly vocabSize: number
  readonly totalFrames: number
  private readonly view: DataView
  private readonly postingsStart: number
  private readonly docsStart: number

  constructor(private readonly bytes: Uint8Array) {
    requireLength('a .ccxi file', HEADER_BYTES + FOOTER_BYTES, bytes.length, bytes.length)
    const view = viewOf(bytes)
    requireMagic('.ccxi file', CCXI_MAGIC, view.getUint32(HEADER.magic, true), HEADER.magic)
    const version = view.getUint16(HEADER.version, true)
    requireVersion('ccxi', CCXI_VERSION, version, HEADER.version)
    this.view = view
    this.vocabSize = view.getUint32(HEADER.vocabSize, true)
    this.totalFrames = view.getUint32(HEADER.totalFrames, true)
    this.header = {
      shardId: view.getUint32(HEADER.shardId, true),
      segmentSeq: readU64(view, HEADER.segmentSeq, 'segment_seq', HEADER.segmentSeq),
      epoch: readU64(view, HEADER.epoch, 'epoch', HEADER.epoch),
      totalPostings: readU64(view, HEADER.totalPostings, 'total_postings', HEADER.totalPostings),
      tokenizerVersion: view.getUint16(HEADER.tokenizerVersion, true),
    }
    this.postingsStart = HEADER_BYTES + this.vocabSize * VOCAB_ENTRY_BYTES
    this.docsStart = bytes.length - FOOTER_BYTES - this.totalFrames * DOC_ENTRY_BYTES
    requireRange(
      this.postingsStart <= this.docsStart,
      'vocab_size',
      `${this.vocabSize} terms and ${this.totalFrames} documents do not fit ${bytes.length} bytes`,
      HEADER.vocabSize,
    )
  }

  hashedAreas() {
    const { bytes, postingsStart, docsStart } = this
    const footer = bytes.subarray(bytes.length - FOOTER_BYTES)
    return [
      {
        part: 'vocab table',
        start: HEADER_BYTES,
        end: postingsStart,
        hash: footer.subarray(0, HASH_BYTES),
      },
      {
        part: 'postings area',
        start: postingsStart,
        end: docsStart,
        hash: footer.subarray(HASH_BYTES),
      },
    ]
  }

  find(hash: bigint): number {
    return this.findHalves(Number(hash >> 32n), Number(hash & 0xffffffffn))
  }

  findHalves(high: number, low: number): number {
    let first = 0
    let last = this.vocabSize - 1
    while (first <= last) {
      const middle = (first + last) >>> 1
      const at = HEADER_BYTES + middle * VOCAB_ENTRY_BYTES
      const difference =
        this.view.getUint32(at + 4, true) - high || this.view.getUint32(at, true) - low
      if (difference === 0) return middle
      if (difference < 0) first = middle + 1
      else last = middle - 1
    }
    return -1
  }

  termHash(index: number): bigint {
    return this.view.getBigUint64(this.vocabEntry(index), true)
  }

  postings(index: number): Postings {
    const count = this.documentFrequency(index)
    const docIds = new Uint32Array(count)
    const tfs = new Uint16Array(count)
    this.decodeInto(index, docIds, tfs, 0)
    return { docIds, tfs }
  }

  decodeInto(
    index: number,
    docIds: Uint32Array,
    tfs: Uint16Array | Uint8Array,
    at: number,
  ): number {
    const start = this.listStart(index)
    const end = this.listEnd(index, start)
    const count = this.countOf(start, end)
    if (!(at >= 0 && at + count <= docIds.length && at + count <= tfs.length)) {
      throw new RangeError(
        `${count} postings do not fit from ${at} on: room for ${docIds.length} documents and ${tfs.length} frequencies`,
      )
    }
    if (count === 0) return 0
    const idsEnd = readPForDelta(this.view, start, end, docIds, at, count)
    const last = docIds[at + count - 1] as number // just written
    if (last >= this.totalFrames) {
      throw outOfRange('doc_id', `${last} of ${this.totalFrames} documents`, start)
    }
    const tfStart = end - count * 2
    if (tfStart - 4 < idsEnd || this.view.getUint32(tfStart - 4, true) !== count) {
      tfs.fill(1, at, at + count)
    } else if (tfs instanceof Uint8Array) {
      readBytes(this.view, tfStart, tfs, at, count)
    } else {
      readWords(this.view, tfStart, tfs, at, count)
    }
    return count
  }

  documentFrequency(index: number): number {
    const start = this.listStart(index)
    return this.countOf(start, this.listEnd(index, start))
  }

  docFrameOffset(docId: number): number {
    return this.view.getUint32(this.docEntry(docId), true)
  }

  docLength(docId: number): number {
    return this.view.getUint16(this.docEntry(docId) + 4, true)
  }

  docTenantHash(docId: number): bigint {
    return this.view.getBigUint64(this.docEntry(docId) + 8, true)
  }

  docTenantLow(docId: number): number {
    return this.view.getUint32(this.docEntry(docId) + 8, true)
  }

  docTenantHigh(docId: number): number {
    return this.view.getUint32(this.docEntry(docId) + 12, true)
  }

  private listStart(index: number): number {
    return this.postingsStart + this.view.getUint32(this.vocabEntry(index) + 8, true)
  }

  private listEnd(index: number, start: number): number {
    const entry = this.vocabEntry(index)
    const end = start + this.view.getUint32(entry + 12, true)
    if (end > this.docsStart) {
      throw outOfRange(
        'postings_len',
        `postings of term ${index} end at ${end}, past the area's end at ${this.docsStart}`,
        entry + 8,
      )
    }
    return end
  }

  /** No list is longer than there are documents: callers make room by this. */
  private countOf(start: number, end: number): number {
    const count = countPForDelta(this.view, start, end)
    if (count > this.totalFrames) {
      throw outOfRange('count', `${count} of ${this.totalFrames} documents`, start)
    }
    return count
  }

  private vocabEntry(index: number): number {
    if (!(index >= 0 && index < this.vocabSize)) {
      throw new RangeError(`term ${index} of ${this.vocabSize}`)
    }
    return HEADER_BYTES + index * VOCAB_ENTRY_BYTES
  }

  private docEntry(docId: number): number {
    if (!(docId >= 0 && docId < this.totalFrames)) {
      throw new RangeError(`document ${docId} of ${this.totalFrames}`)
    }
    return this.docsStart + docId * DOC_ENTRY_BYTES
  }
}

// Apart for each kind of array, as a loop that meets both is slow for both.

function readBytes(
  view: DataView,
  start: number,
  tfs: Uint8Array,
  at: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    tfs[at + i] = Math.min(view.getUint16(start + i * 2, true), 0xff)
  }
}

function readWords(
  view: DataView,
  start: number,
  tfs: Uint16Array,
  at: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) tfs[at + i] = view.getUint16(start + i * 2, true)
}
