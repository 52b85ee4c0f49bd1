import type { Pause } from 'crux-types'
import { noPause } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { checkUint, viewOf, writeU64 } from '../little-endian.js'
import { maxPForDeltaBytes, writePForDelta } from '../pfordelta.js'
import {
  CCXI_MAGIC,
  CCXI_VERSION,
  DOC_ENTRY_BYTES,
  FOOTER_BYTES,
  HASH_BYTES,
  HEADER,
  HEADER_BYTES,
  MAX_U16,
  TOKENIZER_VERSION,
  VOCAB_ENTRY_BYTES,
} from './layout.js'
import { PieceWriter } from './piece-writer.js'

/** Documents that hold one term. */
export interface TermPostings {
  /** XXH64, seed 0, of the term. */
  readonly hash: bigint
  /** Strictly ascending numbers of documents, at least one. */
  readonly docIds: Uint32Array
  /** Times the term occurs in each of `docIds`; stored as at most 65,535. */
  readonly tfs: Uint16Array | Uint32Array
}

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
  /** Strictly ascending by `hash`; walked once. */
  readonly terms: Iterable<TermPostings>
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
  const steps = encodeSteps(content, hashes)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** {@link encodeCcxi} with pauses, so that other work goes on meanwhile; the same bytes. */
export async function encodeCcxiInSlices(
  content: CcxiContent,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<Uint8Array> {
  const steps = encodeSteps(content, hashes)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const pausing = pause()
    if (pausing !== undefined) await pausing
  }
}

/** Yields wherever a pause may be taken. */
function* encodeSteps(content: CcxiContent, hashes: Hashes): Generator<void, Uint8Array> {
  const { docs } = content
  const lists = new TermWriter(docs.length)
  for (const term of content.terms) {
    lists.add(term)
    yield
  }
  const { vocab, postings } = lists
  const docsStart = HEADER_BYTES + vocab.length + postings.length
  const footerStart = docsStart + docs.length * DOC_ENTRY_BYTES
  const bytes = new Uint8Array(footerStart + FOOTER_BYTES)
  writeHeader(viewOf(bytes), content, lists)
  const vocabHash = yield* copyHashed(vocab.pieces(), bytes, HEADER_BYTES, hashes)
  const postingsStart = HEADER_BYTES + vocab.length
  const postingsHash = yield* copyHashed(postings.pieces(), bytes, postingsStart, hashes)
  for (let from = 0; from < docs.length; from += DOC_SLICE) {
    writeDocs(viewOf(bytes), docsStart, docs, from, Math.min(from + DOC_SLICE, docs.length))
    yield
  }
  bytes.set(vocabHash, footerStart)
  bytes.set(postingsHash, footerStart + HASH_BYTES)
  return bytes
}

/** Collects the lists of terms. Their number and sizes are only known at the end, hence the pieces. */
class TermWriter {
  readonly vocab = new PieceWriter()
  readonly postings = new PieceWriter()
  terms = 0
  totalPostings = 0
  private lastHash = -1n

  constructor(private readonly docs: number) {}

  add({ hash, docIds, tfs }: TermPostings): void {
    if (hash <= this.lastHash) {
      throw new RangeError(`terms must ascend by hash: ${hash} follows ${this.lastHash}`)
    }
    const { length } = docIds
    if (length === 0 || length !== tfs.length) {
      throw new RangeError(`a term has ${length} documents and ${tfs.length} frequencies`)
    }
    const last = docIds[length - 1] as number // not empty, by the check above
    if (last >= this.docs) throw new RangeError(`document ${last} of ${this.docs}`)
    const { vocab, postings } = this
    const start = postings.length
    postings.reserve(maxPForDeltaBytes(length) + 4 + length * 2)
    let at = writePForDelta(postings.bytes, postings.at, docIds)
    postings.view.setUint32(at, length, true)
    at += 4
    for (let i = 0; i < length; i++, at += 2) {
      postings.view.setUint16(at, Math.min(tfs[i] as number, MAX_U16), true) // of equal length
    }
    postings.at = at
    vocab.reserve(VOCAB_ENTRY_BYTES)
    vocab.view.setBigUint64(vocab.at, hash, true)
    vocab.view.setUint32(vocab.at + 8, checkUint(start, 32, 'postings'), true)
    vocab.view.setUint32(vocab.at + 12, postings.length - start, true)
    vocab.at += VOCAB_ENTRY_BYTES
    this.terms++
    this.totalPostings += length
    this.lastHash = hash
  }
}

function writeHeader(view: DataView, content: CcxiContent, lists: TermWriter): void {
  const { docs, shardId, segmentSeq, epoch } = content
  view.setUint32(HEADER.magic, CCXI_MAGIC, true)
  view.setUint16(HEADER.version, CCXI_VERSION, true)
  view.setUint32(HEADER.shardId, checkUint(shardId, 32, 'shard_id'), true)
  writeU64(view, HEADER.segmentSeq, segmentSeq)
  writeU64(view, HEADER.epoch, epoch)
  view.setUint32(HEADER.vocabSize, lists.terms, true)
  writeU64(view, HEADER.totalPostings, lists.totalPostings)
  view.setUint32(HEADER.totalFrames, checkUint(docs.length, 32, 'total_frames'), true)
  view.setUint16(HEADER.tokenizerVersion, TOKENIZER_VERSION, true)
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

/** Put pieces one after the other. @returns BLAKE3 of them all. */
function* copyHashed(
  pieces: readonly Uint8Array[],
  target: Uint8Array,
  start: number,
  hashes: Hashes,
): Generator<void, Uint8Array> {
  const stream = hashes.blake3Stream()
  let at = start
  for (const piece of pieces) {
    target.set(piece, at)
    at += piece.length
    stream.update(piece)
    yield
  }
  return stream.digest()
}
