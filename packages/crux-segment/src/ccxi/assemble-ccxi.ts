import type { Steps } from 'crux-types'
import type { Hashes } from '../hashes.js'
import { checkUint, viewOf, writeU64 } from '../little-endian.js'
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

/** The areas of a `.ccxi` file as they stand in it, made elsewhere; `docs/formats/ccxi.md` has their layout. */
export interface CcxiAreas {
  readonly shardId: number
  readonly segmentSeq: number
  readonly epoch: number
  /** Of the analyser that gave the terms; 0..65,535. */
  readonly tokenizerVersion: number
  /** Postings of all terms together. */
  readonly totalPostings: number
  /** Entries of terms by ascending hash, 16 bytes each. */
  readonly vocab: Uint8Array
  readonly postings: Uint8Array
  /** Entries of documents by number, 16 bytes each; zero where a frame is not indexed. */
  readonly docs: Uint8Array
}

/** Copying and hashing this much takes under 1 ms. */
const SLICE_BYTES = 256 * 1024

/**
 * Put the areas of a `.ccxi` file together, with header and hashes. The areas are copied as they
 * are, so their maker answers for them. Yields where a pause may be taken; the areas must stay
 * unchanged until the end.
 *
 * @throws {RangeError} When a number exceeds its field.
 */
export function* assembleCcxi(areas: CcxiAreas, hashes: Hashes): Steps<Uint8Array> {
  const { vocab, postings, docs } = areas
  const postingsStart = HEADER_BYTES + vocab.length
  const docsStart = postingsStart + postings.length
  const footerStart = docsStart + docs.length
  const bytes = new Uint8Array(footerStart + FOOTER_BYTES)
  const view = viewOf(bytes)
  view.setUint32(HEADER.magic, CCXI_MAGIC, true)
  view.setUint16(HEADER.version, CCXI_VERSION, true)
  view.setUint32(HEADER.shardId, checkUint(areas.shardId, 32, 'shard_id'), true)
  writeU64(view, HEADER.segmentSeq, areas.segmentSeq)
  writeU64(view, HEADER.epoch, areas.epoch)
  view.setUint32(HEADER.vocabSize, vocab.length / VOCAB_ENTRY_BYTES, true)
  writeU64(view, HEADER.totalPostings, areas.totalPostings)
  view.setUint32(HEADER.totalFrames, docs.length / DOC_ENTRY_BYTES, true)
  const version = checkUint(areas.tokenizerVersion, 16, 'tokenizer_version')
  view.setUint16(HEADER.tokenizerVersion, version, true)
  bytes.set(yield* copyHashed(vocab, bytes, HEADER_BYTES, hashes), footerStart)
  const postingsHash = yield* copyHashed(postings, bytes, postingsStart, hashes)
  bytes.set(postingsHash, footerStart + HASH_BYTES)
  for (let from = 0; from < docs.length; from += SLICE_BYTES) {
    bytes.set(docs.subarray(from, from + SLICE_BYTES), docsStart + from)
    yield
  }
  return bytes
}

/** Copy an area. @returns BLAKE3 of it. */
function* copyHashed(
  area: Uint8Array,
  target: Uint8Array,
  start: number,
  hashes: Hashes,
): Steps<Uint8Array> {
  const stream = hashes.blake3Stream()
  for (let from = 0; from < area.length; from += SLICE_BYTES) {
    const slice = area.subarray(from, from + SLICE_BYTES)
    target.set(slice, start + from)
    stream.update(slice)
    yield
  }
  return stream.digest()
}
