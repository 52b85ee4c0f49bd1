import type { Pause } from 'crux-types'
import { formatError, requireHash, requireLength, requireMagic, requireRange } from '../errors.js'
import { blake3InSlices, noPause } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { readU64, viewOf } from '../little-endian.js'
import { decodePForDelta } from '../pfordelta.js'
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
  /** Length of a term's posting list, without decoding it. @throws {RangeError} When there is no such term. */
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
 *   `HASH_MISMATCH` with `data.part` `vocab table` or `postings area`.
 */
export function openCcxi(bytes: Uint8Array, hashes: Hashes): CcxiReader {
  const reader = new FileReader(bytes)
  const { vocab, postings, footer } = reader.areas()
  requireHash('vocab table', footer.subarray(0, HASH_BYTES), hashes.blake3(vocab))
  requireHash('postings area', footer.subarray(HASH_BYTES), hashes.blake3(postings))
  return reader
}

/** {@link openCcxi} with pauses while hashing, so that other work goes on meanwhile. */
export async function openCcxiInSlices(
  bytes: Uint8Array,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<CcxiReader> {
  const reader = new FileReader(bytes)
  const { vocab, postings, footer } = reader.areas()
  const vocabHash = await blake3InSlices(vocab, hashes, pause)
  requireHash('vocab table', footer.subarray(0, HASH_BYTES), vocabHash)
  const postingsHash = await blake3InSlices(postings, hashes, pause)
  requireHash('postings area', footer.subarray(HASH_BYTES), postingsHash)
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
    requireLength('a .ccxi file', HEADER_BYTES + FOOTER_BYTES, bytes.length)
    const view = viewOf(bytes)
    requireMagic('.ccxi file', CCXI_MAGIC, view.getUint32(HEADER.magic, true))
    const version = view.getUint16(HEADER.version, true)
    if (version !== CCXI_VERSION) {
      throw formatError(
        'UNSUPPORTED_VERSION',
        `.ccxi version ${version}, this reads ${CCXI_VERSION}; rebuild the index from its segment`,
        { format: 'ccxi', version },
      )
    }
    this.view = view
    this.vocabSize = view.getUint32(HEADER.vocabSize, true)
    this.totalFrames = view.getUint32(HEADER.totalFrames, true)
    this.header = {
      shardId: view.getUint32(HEADER.shardId, true),
      segmentSeq: readU64(view, HEADER.segmentSeq, 'segment_seq'),
      epoch: readU64(view, HEADER.epoch, 'epoch'),
      totalPostings: readU64(view, HEADER.totalPostings, 'total_postings'),
      tokenizerVersion: view.getUint16(HEADER.tokenizerVersion, true),
    }
    this.postingsStart = HEADER_BYTES + this.vocabSize * VOCAB_ENTRY_BYTES
    this.docsStart = bytes.length - FOOTER_BYTES - this.totalFrames * DOC_ENTRY_BYTES
    requireRange(
      this.postingsStart <= this.docsStart,
      'vocab_size',
      `${this.vocabSize} terms and ${this.totalFrames} documents do not fit ${bytes.length} bytes`,
    )
  }

  areas(): { vocab: Uint8Array; postings: Uint8Array; footer: Uint8Array } {
    return {
      vocab: this.bytes.subarray(HEADER_BYTES, this.postingsStart),
      postings: this.bytes.subarray(this.postingsStart, this.docsStart),
      footer: this.bytes.subarray(this.bytes.length - FOOTER_BYTES),
    }
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
    const { start, end } = this.postingsRange(index)
    const { ids: docIds, end: idsEnd } = decodePForDelta(this.bytes, start, end)
    const last = docIds.at(-1)
    requireRange(
      last === undefined || last < this.totalFrames,
      'doc_id',
      `${last} of ${this.totalFrames} documents`,
    )
    const tfs = new Uint16Array(docIds.length)
    const tfStart = end - tfs.length * 2
    if (tfStart - 4 >= idsEnd && this.view.getUint32(tfStart - 4, true) === tfs.length) {
      for (let i = 0; i < tfs.length; i++) tfs[i] = this.view.getUint16(tfStart + i * 2, true)
    } else {
      tfs.fill(1)
    }
    return { docIds, tfs }
  }

  documentFrequency(index: number): number {
    const { start, end } = this.postingsRange(index)
    return end - start < 4 ? 0 : this.view.getUint32(start, true)
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

  private postingsRange(index: number): { start: number; end: number } {
    const entry = this.vocabEntry(index)
    const start = this.postingsStart + this.view.getUint32(entry + 8, true)
    const end = start + this.view.getUint32(entry + 12, true)
    requireRange(
      end <= this.docsStart,
      'postings_len',
      `postings of term ${index} end at ${end}, past the area's end at ${this.docsStart}`,
    )
    return { start, end }
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
