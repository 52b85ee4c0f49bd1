import { type BitRanks, rankBits } from './bit-ranks.js'
import { BM25_B, BM25_K1 } from './bm25.js'
import type { Layout } from './layout.js'
import { lowerBound } from './lower-bound.js'
import type { DroppableList } from './posting-cache.js'

/** Postings of a block, for each of which the largest weight is known. */
export const BLOCK_POSTINGS = 128

/** A list with at least one posting per this many documents gets bits: those are then the smaller form. */
const BITS_FROM = 32
/** A mean length that moved by more makes the known block maxima too loose. */
const MEAN_DRIFT = 1.1
/** Blocks whose maxima are found between two looks at the clock: under 1 ms. */
const BLOCK_SLICE = 512
/** Bytes that a list is charged beside its postings: objects, arrays and the term. */
const LIST_OVERHEAD_BYTES = 400

/** Postings of a term, as a list is made of them. Arrays may be longer than the list. */
export interface PostingArrays {
  /** Ascending numbers within the view. */
  readonly docs: Uint32Array
  /** Times that each document holds the term. */
  readonly tfs: Uint16Array
  readonly length: number
}

/** What a document's length adds to the denominator of BM25: `constant + slope * length`. */
export interface LengthNorm {
  readonly constant: number
  readonly slope: number
  readonly meanLength: number
}

/** {@link LengthNorm} of a corpus. @param meanLength - Mean tokens of a document, > 0. */
export function lengthNormOf(meanLength: number): LengthNorm {
  return { constant: BM25_K1 * (1 - BM25_B), slope: (BM25_K1 * BM25_B) / meanLength, meanLength }
}

/** Largest share of a term's weight that each block of a list gives to a document of it. */
interface BlockMaxima {
  readonly maxima: Float64Array
  /** The largest of them. */
  readonly largest: number
  /** Postings that the maxima cover. */
  readonly length: number
  /** Mean length at which they hold. */
  readonly meanLength: number
}

/**
 * Documents of one tenant that hold a term. The postings never change. What is derived from them is
 * made on first use and depends on no corpus, or says on which.
 *
 * Term weights are worked in by whoever scores: they change with every document that is added, and
 * the postings need not be decoded again for that.
 */
export class TermList implements DroppableList {
  readonly docs: Uint32Array
  readonly tfs: Uint16Array
  readonly length: number
  readonly bytes: number
  wasUsed = false
  /** Marks of the query that is being prepared: which one, and where it keeps this list. */
  queryId = 0
  queryAt = 0
  private blocks: BlockMaxima | undefined
  private bits: BitRanks | undefined
  private shares: Float64Array | undefined
  private sharesMean = 0
  private isContinued = false

  /**
   * @param df - Documents of all tenants that hold the term and can be found.
   * @param snapshot - Number of the corpus that `df` counts.
   * @param layout - What the numbers of the postings stand for.
   * @param drop - Takes the list out of where it is looked up.
   */
  constructor(
    term: string,
    { docs, tfs, length }: PostingArrays,
    readonly df: number,
    readonly snapshot: number,
    readonly layout: Layout,
    readonly drop: () => void,
  ) {
    this.docs = docs
    this.tfs = tfs
    this.length = length
    const { size } = layout
    // What may be derived later is charged from the start.
    const derived = keepsShares(size)
      ? length * 8
      : (length / BLOCK_POSTINGS) * 8 + (length * BITS_FROM >= size ? size / 4 : 0)
    this.bytes = LIST_OVERHEAD_BYTES + term.length * 2 + docs.length * 6 + Math.ceil(derived)
  }

  /**
   * Take over what an earlier list knows of the postings that this one starts with.
   */
  inherit(earlier: TermList): void {
    this.blocks = earlier.blocks
    this.bits = earlier.bits
  }

  /** True for the first list that asks for the room behind the postings, to go on there. */
  claimSpare(): boolean {
    if (this.isContinued) return false
    this.isContinued = true
    return true
  }

  /**
   * Share of the term's weight for each posting: tf / (tf + norm of the length). For small views.
   *
   * @param lengths - Tokens of each document of the view.
   */
  sharesAt(norm: LengthNorm, lengths: Uint16Array): Float64Array {
    if (this.shares !== undefined && this.sharesMean === norm.meanLength) return this.shares
    const shares = new Float64Array(this.length)
    for (let i = 0; i < shares.length; i++) shares[i] = shareAt(this, norm, lengths, i)
    this.shares = shares
    this.sharesMean = norm.meanLength
    return shares
  }

  /**
   * Make what pruned scoring needs, so that {@link bitRanks} and {@link blockBounds} give it. Yields where
   * a pause may be taken.
   */
  *prepare(norm: LengthNorm, lengths: Uint16Array): Generator<void, void> {
    const { size } = this.layout
    const { bits } = this
    if (this.length * BITS_FROM >= size && !(bits !== undefined && bits.length === this.length)) {
      this.bits = yield* rankBits(this.docs, this.length, size, bits)
    }
    const { blocks } = this
    const isClose = blocks !== undefined && isWithinDrift(norm.meanLength, blocks.meanLength)
    if (isClose && blocks.length === this.length) return
    this.blocks = yield* this.extendBlocks(isClose ? blocks : undefined, norm, lengths)
  }

  /** Place of a document in the list, or -1. */
  placeOf(doc: number): number {
    const place = lowerBound(this.docs, 0, this.length, doc)
    return place < this.length && this.docs[place] === doc ? place : -1
  }

  /** Bits of the documents, when the list is long enough for them and they were made. */
  bitRanks(): BitRanks | undefined {
    return this.bits?.length === this.length ? this.bits : undefined
  }

  /**
   * Largest shares within each block, one per {@link BLOCK_POSTINGS} postings. They may have been found
   * at another mean length than the one given: as shares move at most in proportion to the mean, those of
   * now are at most `maxima * above`, and at least `maxima * below`.
   *
   * @throws {TypeError} Before {@link prepare}.
   */
  blockBounds({ meanLength }: LengthNorm): {
    maxima: Float64Array
    largest: number
    above: number
    below: number
  } {
    const { blocks } = this
    if (blocks === undefined || blocks.length !== this.length) {
      throw new TypeError('blockBounds of a list that was not prepared; call prepare first')
    }
    const { maxima, largest } = blocks
    const drift = meanLength / blocks.meanLength
    return { maxima, largest, above: Math.max(1, drift), below: Math.min(1, drift) }
  }

  private *extendBlocks(
    known: BlockMaxima | undefined,
    current: LengthNorm,
    lengths: Uint16Array,
  ): Generator<void, BlockMaxima> {
    const norm = known === undefined ? current : lengthNormOf(known.meanLength)
    const maxima = new Float64Array(Math.ceil(this.length / BLOCK_POSTINGS))
    let block = 0
    let largest = 0
    if (known !== undefined) {
      block = Math.floor(known.length / BLOCK_POSTINGS)
      maxima.set(known.maxima.subarray(0, block))
      largest = known.largest
    }
    for (; block < maxima.length; block++) {
      if (block % BLOCK_SLICE === BLOCK_SLICE - 1) yield
      const from = block * BLOCK_POSTINGS
      const max = maxShare(this, norm, lengths, from, Math.min(from + BLOCK_POSTINGS, this.length))
      maxima[block] = max
      if (max > largest) largest = max
    }
    return { maxima, largest, length: this.length, meanLength: norm.meanLength }
  }
}

function isWithinDrift(one: number, other: number): boolean {
  return one <= other * MEAN_DRIFT && other <= one * MEAN_DRIFT
}

/** Whether lists of a view of this size keep the shares of their postings: in larger ones they fill the cache. */
export function keepsShares(size: number): boolean {
  return size <= 65_536
}

/** Share of a term's weight that one posting gives to its document. */
export function shareAt(
  { docs, tfs }: PostingArrays,
  { constant, slope }: LengthNorm,
  lengths: Uint16Array,
  at: number,
): number {
  const tf = tfs[at] as number // `at` is within the list, and its documents within `lengths`
  return tf / (tf + (constant + slope * (lengths[docs[at] as number] as number)))
}

function maxShare(
  { docs, tfs }: PostingArrays,
  { constant, slope }: LengthNorm,
  lengths: Uint16Array,
  from: number,
  to: number,
): number {
  let max = 0
  for (let i = from; i < to; i++) {
    const tf = tfs[i] as number // `to` is within the list
    const share = tf / (tf + (constant + slope * (lengths[docs[i] as number] as number)))
    if (share > max) max = share
  }
  return max
}
