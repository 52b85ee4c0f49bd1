import { blake3InSlices, noPause, type Pause } from '../hash-in-slices.js'
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
  /** Strictly ascending by `hash`. */
  readonly terms: readonly TermPostings[]
  /** By number; undefined where a frame is not indexed. */
  readonly docs: readonly (IndexedDoc | undefined)[]
}

/**
 * Bytes of a `.ccxi` index, version 2, in one go. Takes about 25 ms per million postings; where
 * that is too long, use {@link encodeCcxiInSlices}.
 *
 * @throws {RangeError} When terms or documents are out of order, or lists differ in length.
 */
export function encodeCcxi(content: CcxiContent, hashes: Hashes): Uint8Array {
  const writer = new CcxiWriter(content)
  for (const term of content.terms) writer.addTerm(term)
  const bytes = writer.finish()
  const { vocab, postings, footer } = writer.areas(bytes)
  footer.set(hashes.blake3(vocab))
  footer.set(hashes.blake3(postings), HASH_BYTES)
  return bytes
}

/** {@link encodeCcxi} with pauses, so that other work goes on meanwhile; the same bytes. */
export async function encodeCcxiInSlices(
  content: CcxiContent,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<Uint8Array> {
  const writer = new CcxiWriter(content)
  for (const term of content.terms) {
    writer.addTerm(term)
    await pause()
  }
  const bytes = writer.finish()
  const { vocab, postings, footer } = writer.areas(bytes)
  footer.set(await blake3InSlices(vocab, hashes, pause))
  footer.set(await blake3InSlices(postings, hashes, pause), HASH_BYTES)
  return bytes
}

class CcxiWriter {
  private readonly bytes: Uint8Array
  private readonly view: DataView
  private readonly postingsStart: number
  private end: number
  private terms = 0
  private postings = 0
  private lastHash = -1n

  constructor(private readonly content: CcxiContent) {
    this.postingsStart = HEADER_BYTES + content.terms.length * VOCAB_ENTRY_BYTES
    this.end = this.postingsStart
    // Room for the widest encoding: pages that stay untouched cost nothing, growing would copy.
    let most = this.end + content.docs.length * DOC_ENTRY_BYTES + FOOTER_BYTES
    for (const { docIds } of content.terms) {
      most += maxPForDeltaBytes(docIds.length) + 4 + docIds.length * 2
    }
    this.bytes = new Uint8Array(most)
    this.view = viewOf(this.bytes)
  }

  addTerm({ hash, docIds, tfs }: TermPostings): void {
    if (hash <= this.lastHash) {
      throw new RangeError(`terms must ascend by hash: ${hash} follows ${this.lastHash}`)
    }
    if (docIds.length === 0 || docIds.length !== tfs.length) {
      throw new RangeError(`a term has ${docIds.length} documents and ${tfs.length} frequencies`)
    }
    const last = docIds[docIds.length - 1] as number // not empty, by the check above
    if (last >= this.content.docs.length) {
      throw new RangeError(`document ${last} of ${this.content.docs.length}`)
    }
    const start = this.end
    let at = writePForDelta(this.bytes, start, docIds)
    this.view.setUint32(at, tfs.length, true)
    at += 4
    for (const tf of tfs) {
      this.view.setUint16(at, Math.min(tf, MAX_U16), true)
      at += 2
    }
    const entry = HEADER_BYTES + this.terms * VOCAB_ENTRY_BYTES
    this.view.setBigUint64(entry, hash, true)
    this.view.setUint32(entry + 8, checkUint(start - this.postingsStart, 32, 'postings'), true)
    this.view.setUint32(entry + 12, at - start, true)
    this.end = at
    this.terms++
    this.postings += docIds.length
    this.lastHash = hash
  }

  finish(): Uint8Array {
    const { docs, shardId, segmentSeq, epoch } = this.content
    const docsStart = this.end
    for (const [i, doc] of docs.entries()) {
      if (doc === undefined) continue
      const at = docsStart + i * DOC_ENTRY_BYTES
      this.view.setUint32(at, checkUint(doc.frameOffset, 32, 'frame_offset'), true)
      this.view.setUint16(at + 4, Math.min(doc.lengthTokens, MAX_U16), true)
      this.view.setUint16(at + 6, Number(doc.tenantHash & 0xffffn), true)
      this.view.setBigUint64(at + 8, doc.tenantHash, true)
    }
    const { view } = this
    view.setUint32(HEADER.magic, CCXI_MAGIC, true)
    view.setUint16(HEADER.version, CCXI_VERSION, true)
    view.setUint32(HEADER.shardId, checkUint(shardId, 32, 'shard_id'), true)
    writeU64(view, HEADER.segmentSeq, segmentSeq)
    writeU64(view, HEADER.epoch, epoch)
    view.setUint32(HEADER.vocabSize, this.terms, true)
    writeU64(view, HEADER.totalPostings, this.postings)
    view.setUint32(HEADER.totalFrames, checkUint(docs.length, 32, 'total_frames'), true)
    view.setUint16(HEADER.tokenizerVersion, TOKENIZER_VERSION, true)
    return this.bytes.slice(0, docsStart + docs.length * DOC_ENTRY_BYTES + FOOTER_BYTES)
  }

  areas(bytes: Uint8Array): { vocab: Uint8Array; postings: Uint8Array; footer: Uint8Array } {
    return {
      vocab: bytes.subarray(HEADER_BYTES, this.postingsStart),
      postings: bytes.subarray(this.postingsStart, this.end),
      footer: bytes.subarray(bytes.length - FOOTER_BYTES),
    }
  }
}
