import type { Steps } from 'crux-types'
import { checkUint } from '../little-endian.js'
import { maxPForDeltaBytes, writePForDelta } from '../pfordelta/write-pfordelta.js'
import { PieceWriter } from '../piece-writer.js'
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

/** Postings written between two looks at the clock: well under 1 ms. */
const POSTING_SLICE = 8 * 1024
/** A term costs about as much as this many postings more. */
const TERM_COST = 4

/** Vocabulary and posting lists of an index as they stand in the file. */
export interface EncodedTerms {
  readonly vocab: PieceWriter
  readonly postings: PieceWriter
  readonly totalPostings: number
}

/**
 * Encode the terms of an index.
 *
 * @param docs - Documents of the index; every id is below.
 * @throws {RangeError} When terms or documents are out of order, or lists differ in length.
 */
export function* encodeTerms(terms: Iterable<TermPostings>, docs: number): Steps<EncodedTerms> {
  const writer = new TermWriter(docs)
  let left = POSTING_SLICE
  for (const term of terms) {
    writer.add(term)
    left -= term.docIds.length + TERM_COST
    if (left <= 0) {
      left = POSTING_SLICE
      yield
    }
  }
  return writer
}

/** Collects the lists of terms. Their sizes are only known at the end, hence the pieces. */
class TermWriter implements EncodedTerms {
  readonly vocab = new PieceWriter()
  readonly postings = new PieceWriter()
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
    postings.reserve(maxPForDeltaBytes(length) + 4 + length * 2)
    const { bytes } = postings
    const start = postings.at
    let at = writePForDelta(bytes, start, docIds)
    bytes[at] = length
    bytes[at + 1] = length >>> 8
    bytes[at + 2] = length >>> 16
    bytes[at + 3] = length >>> 24
    at += 4
    for (let i = 0; i < length; i++, at += 2) {
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
    view.setBigUint64(vocab.at, hash, true)
    view.setUint32(vocab.at + 8, offset, true)
    view.setUint32(vocab.at + 12, at - start, true)
    vocab.at += VOCAB_ENTRY_BYTES
    this.totalPostings += length
    this.lastHash = hash
  }
}
