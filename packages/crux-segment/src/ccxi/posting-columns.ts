import { checkUint } from '../little-endian.js'
import { maxPForDeltaBytes, writePForDelta } from '../pfordelta/write-pfordelta.js'
import { PieceWriter } from '../piece-writer.js'
import type { Steps } from '../steps.js'
import { MAX_U16, VOCAB_ENTRY_BYTES } from './layout.js'

/** Documents that hold one term. */
export interface TermPostings {
  /** XXH64, seed 0, of the term. */
  readonly hash: bigint
  /** Strictly ascending numbers of documents, at least one. */
  readonly docIds: Uint32Array
  /** Times the term occurs in each of `docIds`; stored as at most 65,535. */
  readonly tfs: Uint16Array | Uint32Array
}

/**
 * The lists of all terms, one after the other in a few arrays: written without an object per term,
 * which in a process that has just started is most of the cost.
 *
 * ```
 * term t: hashes[t], docIds[ends[t - 1] .. ends[t]], tfs of the same places; ends[-1] is 0
 * ```
 */
export interface PostingColumns {
  /** Numbers of the terms to write, strictly ascending by hash. Others are left out. */
  readonly order: Uint32Array
  /** XXH64, seed 0, by number of the term. */
  readonly hashes: BigUint64Array
  /** End of each term's postings, by number of the term; ascending. */
  readonly ends: Uint32Array
  /** Strictly ascending within a term. */
  readonly docIds: Uint32Array
  /** One per document; stored as at most 65,535. */
  readonly tfs: Uint16Array | Uint32Array
}

/** Postings written between two looks at the clock: well under 1 ms. */
const POSTING_SLICE = 8 * 1024
/** A term costs about as much as this many postings more. */
const TERM_COST = 4

/** Vocabulary and posting lists of an index as they stand in the file. */
export interface EncodedTerms {
  readonly vocab: PieceWriter
  readonly postings: PieceWriter
  readonly terms: number
  readonly totalPostings: number
}

/**
 * Encode the terms of an index. Yields where a pause may be taken.
 *
 * @param docs - Documents of the index; every id is below.
 * @throws {RangeError} When terms or documents are out of order, or lists differ in length.
 */
export function encodeTerms(
  terms: Iterable<TermPostings> | PostingColumns,
  docs: number,
): Steps<EncodedTerms> {
  return 'order' in terms ? encodeColumns(terms, docs) : encodeEach(terms, docs)
}

function* encodeEach(terms: Iterable<TermPostings>, docs: number): Steps<EncodedTerms> {
  const writer = new TermWriter(docs)
  let left = POSTING_SLICE
  for (const { hash, docIds, tfs } of terms) {
    if (docIds.length !== tfs.length) {
      throw new RangeError(
        `a term has ${docIds.length} documents and ${tfs.length} frequencies, expected as many`,
      )
    }
    const high = Number(hash >> 32n)
    writer.add(high, Number(hash & 0xffffffffn), docIds, tfs, 0, docIds.length)
    left -= docIds.length + TERM_COST
    if (left <= 0) {
      left = POSTING_SLICE
      yield
    }
  }
  return writer
}

function* encodeColumns(columns: PostingColumns, docs: number): Steps<EncodedTerms> {
  const { order, hashes, ends, docIds, tfs } = columns
  if (docIds.length !== tfs.length || hashes.length !== ends.length) {
    throw new RangeError(
      `columns differ: ${docIds.length} documents and ${tfs.length} frequencies, ${hashes.length} hashes and ${ends.length} ends`,
    )
  }
  const writer = new TermWriter(docs)
  // Little-endian like every platform that Node runs on: the upper half is the second word.
  const halves = new Uint32Array(hashes.buffer, hashes.byteOffset, hashes.length * 2)
  let next = 0
  while (next < order.length) {
    next = writer.addColumns(columns, halves, next)
    yield
  }
  return writer
}

/** Collects the lists of terms. Their sizes are only known at the end, hence the pieces. */
class TermWriter implements EncodedTerms {
  readonly vocab = new PieceWriter()
  readonly postings = new PieceWriter()
  terms = 0
  totalPostings = 0
  private lastHigh = -1
  private lastLow = -1

  constructor(private readonly docs: number) {}

  /** Write terms from place `first` of the order on, a slice of them. @returns the place after the last. */
  addColumns(columns: PostingColumns, halves: Uint32Array, first: number): number {
    const { order, ends, docIds, tfs } = columns
    let left = POSTING_SLICE
    let place = first
    for (; place < order.length && left > 0; place++) {
      const term = order[place] as number // `place` is below the length
      const from = term === 0 ? 0 : (ends[term - 1] as number)
      const to = ends[term] as number
      this.add(halves[term * 2 + 1] as number, halves[term * 2] as number, docIds, tfs, from, to)
      left -= to - from + TERM_COST
    }
    return place
  }

  add(
    high: number,
    low: number,
    docIds: Uint32Array,
    tfs: Uint16Array | Uint32Array,
    from: number,
    to: number,
  ): void {
    if (!(high > this.lastHigh || (high === this.lastHigh && low > this.lastLow))) {
      throw new RangeError(`terms must ascend by hash: term ${this.terms} does not`)
    }
    const length = to - from
    if (!(length > 0 && to <= docIds.length)) {
      throw new RangeError(`term ${this.terms} has ${length} documents, expected 1 or more`)
    }
    const last = docIds[to - 1] as number // not empty, by the check above
    if (last >= this.docs) throw new RangeError(`document ${last} of ${this.docs}`)
    const { vocab, postings } = this
    postings.reserve(maxPForDeltaBytes(length) + 4 + length * 2)
    const { bytes } = postings
    const start = postings.at
    let at = writePForDelta(bytes, start, docIds, from, to)
    bytes[at] = length
    bytes[at + 1] = length >>> 8
    bytes[at + 2] = length >>> 16
    bytes[at + 3] = length >>> 24
    at += 4
    for (let i = from; i < to; i++, at += 2) {
      const tf = tfs[i] as number // of equal length
      if (tf <= 0xff) {
        bytes[at] = tf
      } else {
        const stored = Math.min(tf, MAX_U16)
        bytes[at] = stored
        bytes[at + 1] = stored >>> 8
      }
    }
    postings.at = at
    vocab.reserve(VOCAB_ENTRY_BYTES)
    const offset = checkUint(postings.length - (at - start), 32, 'postings')
    const { view } = vocab
    view.setUint32(vocab.at, low, true)
    view.setUint32(vocab.at + 4, high, true)
    view.setUint32(vocab.at + 8, offset, true)
    view.setUint32(vocab.at + 12, at - start, true)
    vocab.at += VOCAB_ENTRY_BYTES
    this.terms++
    this.totalPostings += length
    this.lastHigh = high
    this.lastLow = low
  }
}
