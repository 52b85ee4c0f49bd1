import { noPause, type Pause, runInSlices, type Steps } from 'crux-types'
import { outOfRange } from '../errors.js'
import type { Hashes } from '../hashes.js'
import { viewOf } from '../little-endian.js'
import { DOC_ENTRY_BYTES, FOOTER_BYTES, HEADER, HEADER_BYTES, VOCAB_ENTRY_BYTES } from './layout.js'
import { type CcxiReader, openCcxiInSlices } from './open-ccxi.js'

/** What a sound index holds. */
export interface CcxiCheck {
  readonly terms: number
  /** Lengths of all lists together. */
  readonly postings: number
  /** Indexed ones: those whose entry is not all zero. */
  readonly docs: number
  readonly tokenizerVersion: number
}

/** Postings checked between two looks at the clock. */
const POSTING_SLICE = 8 * 1024
/** Entries checked between two looks at the clock. */
const ENTRY_SLICE = 4096

/**
 * Check all that an index says: hashes, order of the vocabulary, every posting list, and that header,
 * lists and documents agree. Decodes everything, about 10 ms per million postings.
 *
 * @throws {CruxError} As `openCcxi`, and `LENGTH_OUT_OF_RANGE` for what contradicts itself;
 *   `data.offset` is the byte at which it shows.
 */
export async function checkCcxi(
  bytes: Uint8Array,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<CcxiCheck> {
  const reader = await openCcxiInSlices(bytes, hashes, pause)
  return await runInSlices(checkSteps(bytes, reader), pause)
}

function* checkSteps(bytes: Uint8Array, reader: CcxiReader): Steps<CcxiCheck> {
  const view = viewOf(bytes)
  const { vocabSize, totalFrames, header } = reader
  const docs = yield* checkDocs(view, totalFrames)
  const docIds = new Uint32Array(totalFrames)
  const tfs = new Uint16Array(totalFrames)
  let postings = 0
  let left = POSTING_SLICE
  for (let term = 0; term < vocabSize; term++) {
    const entry = HEADER_BYTES + term * VOCAB_ENTRY_BYTES
    if (term > 0 && !(reader.termHash(term - 1) < reader.termHash(term))) {
      throw outOfRange('token_hash', `term ${term} is out of order`, entry)
    }
    const count = reader.decodeInto(term, docIds, tfs, 0)
    const listAt = HEADER_BYTES + vocabSize * VOCAB_ENTRY_BYTES + view.getUint32(entry + 8, true)
    if (count === 0) throw outOfRange('count', `term ${term} has no documents`, listAt)
    checkList(term, docIds, tfs, count, docs.isIndexed, listAt)
    postings += count
    left -= count + 1
    if (left <= 0) {
      left = POSTING_SLICE
      yield
    }
  }
  if (postings !== header.totalPostings) {
    throw outOfRange(
      'total_postings',
      `${header.totalPostings}, but the lists hold ${postings}`,
      HEADER.totalPostings,
    )
  }
  const { tokenizerVersion } = header
  return { terms: vocabSize, postings, docs: docs.indexed, tokenizerVersion }
}

/** @throws {CruxError} Unless documents ascend, are indexed, and hold the term. */
function checkList(
  term: number,
  docIds: Uint32Array,
  tfs: Uint16Array,
  count: number,
  isIndexed: Uint8Array,
  offset: number,
): void {
  for (let i = 0; i < count; i++) {
    const id = docIds[i] as number // `count` were decoded, each below the number of documents
    if (i > 0 && id <= (docIds[i - 1] as number)) {
      throw outOfRange('doc_id', `${id} of term ${term} does not ascend`, offset)
    }
    if (isIndexed[id] === 0) {
      throw outOfRange('doc_id', `document ${id} of term ${term} has no entry`, offset)
    }
    if (tfs[i] === 0) {
      throw outOfRange('tf', `term ${term} occurs 0 times in document ${id}`, offset)
    }
  }
}

function* checkDocs(
  view: DataView,
  totalFrames: number,
): Steps<{ isIndexed: Uint8Array; indexed: number }> {
  const isIndexed = new Uint8Array(totalFrames)
  const docsStart = view.byteLength - FOOTER_BYTES - totalFrames * DOC_ENTRY_BYTES
  let indexed = 0
  for (let doc = 0; doc < totalFrames; doc++) {
    const at = docsStart + doc * DOC_ENTRY_BYTES
    const low = view.getUint32(at + 8, true)
    if (view.getUint16(at + 6, true) !== (low & 0xffff)) {
      throw outOfRange('tenant_hash', `document ${doc} names two owners`, at + 6)
    }
    const rest = view.getUint32(at + 4, true) | low | view.getUint32(at + 12, true)
    if ((view.getUint32(at, true) | rest) !== 0) {
      isIndexed[doc] = 1
      indexed++
    }
    if (doc % ENTRY_SLICE === ENTRY_SLICE - 1) yield
  }
  return { isIndexed, indexed }
}
