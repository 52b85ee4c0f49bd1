import type { Pause } from 'crux-types'
import { blake3Steps } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { checkUint, viewOf, writeU64 } from '../little-endian.js'
import { noPause, runInSlices, runNow, type Steps } from '../steps.js'
import {
  CCXI_MAGIC,
  CCXI_VERSION,
  DOC_ENTRY_BYTES,
  FOOTER_BYTES,
  HASH_BYTES,
  HEADER,
  HEADER_BYTES,
  MAX_U16,
} from './layout.js'
import {
  type EncodedTerms,
  encodeTerms,
  type PostingColumns,
  type TermPostings,
} from './posting-columns.js'

/** One document of the index. */
export interface IndexedDoc {
  /** Byte in the segment's file at which the document's frame starts. */
  readonly frameOffset: number
  /** Stored as at most 65,535. */
  readonly lengthTokens: number
  /** {@link tenantHash} of the owner. */
  readonly tenantHash: bigint
}

/** Content of a `.ccxi` companion. */
export interface CcxiContent {
  readonly shardId: number
  readonly segmentSeq: number
  readonly epoch: number
  /** Of the analyser that gave the terms; 0..65,535. */
  readonly tokenizerVersion: number
  /** Strictly ascending by hash, walked once; columns are several times faster in a young process. */
  readonly terms: Iterable<TermPostings> | PostingColumns
  /** By number; undefined where a frame is not indexed. */
  readonly docs: readonly (IndexedDoc | undefined)[]
}

/** Documents written between two looks at the clock. */
const DOC_SLICE = 1024

/**
 * Bytes of a `.ccxi` index, version 2, in one go. Takes about 25 ms per million postings; where
 * that is too long, use {@link encodeCcxiInSlices}.
 *
 * @throws {RangeError} When terms or documents are out of order, or lists differ in length.
 */
export function encodeCcxi(content: CcxiContent, hashes: Hashes): Uint8Array {
  return runNow(encodeSteps(content, hashes))
}

/** {@link encodeCcxi} with pauses, so that other work goes on meanwhile; the same bytes. */
export async function encodeCcxiInSlices(
  content: CcxiContent,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<Uint8Array> {
  return await runInSlices(encodeSteps(content, hashes), pause)
}

function* encodeSteps(content: CcxiContent, hashes: Hashes): Steps<Uint8Array> {
  const { docs } = content
  const lists = yield* encodeTerms(content.terms, docs.length)
  const { vocab, postings } = lists
  const docsStart = HEADER_BYTES + vocab.length + postings.length
  const footerStart = docsStart + docs.length * DOC_ENTRY_BYTES
  const bytes = new Uint8Array(footerStart + FOOTER_BYTES)
  writeHeader(viewOf(bytes), content, lists)
  const postingsStart = HEADER_BYTES + vocab.length
  yield* vocab.copyTo(bytes, HEADER_BYTES)
  yield* postings.copyTo(bytes, postingsStart)
  for (let from = 0; from < docs.length; from += DOC_SLICE) {
    writeDocs(viewOf(bytes), docsStart, docs, from, Math.min(from + DOC_SLICE, docs.length))
    yield
  }
  const vocabHash = yield* blake3Steps(bytes.subarray(HEADER_BYTES, postingsStart), hashes)
  const postingsHash = yield* blake3Steps(bytes.subarray(postingsStart, docsStart), hashes)
  bytes.set(vocabHash, footerStart)
  bytes.set(postingsHash, footerStart + HASH_BYTES)
  return bytes
}

function writeHeader(view: DataView, content: CcxiContent, lists: EncodedTerms): void {
  const { docs, shardId, segmentSeq, epoch, tokenizerVersion } = content
  view.setUint32(HEADER.magic, CCXI_MAGIC, true)
  view.setUint16(HEADER.version, CCXI_VERSION, true)
  view.setUint32(HEADER.shardId, checkUint(shardId, 32, 'shard_id'), true)
  writeU64(view, HEADER.segmentSeq, segmentSeq)
  writeU64(view, HEADER.epoch, epoch)
  view.setUint32(HEADER.vocabSize, lists.terms, true)
  writeU64(view, HEADER.totalPostings, lists.totalPostings)
  view.setUint32(HEADER.totalFrames, checkUint(docs.length, 32, 'total_frames'), true)
  view.setUint16(
    HEADER.tokenizerVersion,
    checkUint(tokenizerVersion, 16, 'tokenizer_version'),
    true,
  )
}

function writeDocs(
  view: DataView,
  docsStart: number,
  docs: readonly (IndexedDoc | undefined)[],
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const doc = docs[i]
    if (doc === undefined) continue
    const at = docsStart + i * DOC_ENTRY_BYTES
    view.setUint32(at, checkUint(doc.frameOffset, 32, 'frame_offset'), true)
    view.setUint16(at + 4, Math.min(doc.lengthTokens, MAX_U16), true)
    view.setUint16(at + 6, Number(doc.tenantHash & 0xffffn), true)
    view.setBigUint64(at + 8, doc.tenantHash, true)
  }
}
