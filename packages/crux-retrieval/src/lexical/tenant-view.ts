import type { Hashes } from 'crux-segment'
import { bm25Idf, bm25LengthNorm, bm25TermFrequency } from './bm25.js'
import { type IndexedSegment, isHidden } from './indexed-segment.js'
import type { DroppableList, PostingCache } from './posting-cache.js'

/** The segments of an index at one time, with the statistics that all its tenants share. */
export interface Corpus {
  /** In the order in which they were added. */
  readonly segments: readonly IndexedSegment[]
  readonly docs: number
  /** Mean tokens per document; 1 when there are none. */
  readonly meanLength: number
}

/** Documents of one tenant that hold a term, with what the term adds to the score of each. */
export interface TermList extends DroppableList {
  /** Documents of all tenants that hold the term. */
  readonly df: number
  /** Ascending numbers within the view. */
  readonly docs: Uint32Array
  /** One per document, > 0. */
  readonly weights: Float32Array
}

/** Bytes that a list is charged beside its postings: objects, arrays and the term. */
const LIST_OVERHEAD_BYTES = 400

/**
 * What one tenant sees of a corpus. Documents are numbered from 0 through the segments that hold
 * any of the tenant's, so that a query's accumulator is no larger than it needs to be.
 */
export class TenantView {
  /** Numbers in use. */
  readonly size: number
  private readonly parts: readonly IndexedSegment[]
  /** First number of each part. */
  private readonly bases: Float64Array
  private readonly baseOf: ReadonlyMap<IndexedSegment, number>
  private readonly lists = new Map<string, TermList>()
  private readonly low: number
  private readonly high: number

  constructor(
    private readonly corpus: Corpus,
    tenant: bigint,
    private readonly cache: PostingCache,
  ) {
    this.parts = corpus.segments.filter((segment) => segment.tenants.has(tenant))
    this.bases = new Float64Array(this.parts.length)
    const baseOf = new Map<IndexedSegment, number>()
    let base = 0
    for (const [i, segment] of this.parts.entries()) {
      this.bases[i] = base
      baseOf.set(segment, base)
      base += segment.lengths.length
    }
    this.baseOf = baseOf
    this.size = base
    this.low = Number(tenant & 0xffffffffn)
    this.high = Number(tenant >> 32n)
  }

  /** A term's list if it is decoded. */
  list(term: string): TermList | undefined {
    const list = this.lists.get(term)
    if (list !== undefined) list.wasUsed = true
    return list
  }

  /** Decode a term's list. Yields after each segment whose postings were read. */
  *decode(term: string, hashes: Hashes): Generator<void, TermList> {
    const hash = hashes.xxh64Text(term)
    const high = Number(hash >> 32n)
    const low = Number(hash & 0xffffffffn)
    let df = 0
    const pieces: { docs: Uint32Array; weights: Float32Array }[] = []
    for (const segment of this.corpus.segments) {
      const index = segment.reader.findHalves(high, low)
      if (index < 0) continue
      const base = this.baseOf.get(segment)
      if (base === undefined && segment.hidden === undefined) {
        df += segment.reader.documentFrequency(index)
        continue
      }
      const piece = this.read(segment, index, base)
      df += piece.df
      if (piece.docs.length > 0) pieces.push(piece)
      yield
    }
    const list = yield* this.join(term, df, pieces)
    const known = this.lists.get(term) // another query may have decoded it meanwhile
    if (known !== undefined) return known
    this.lists.set(term, list)
    this.cache.add(list)
    return list
  }

  /** The segment and the number within it of a document of this view. */
  locate(doc: number): { readonly segment: IndexedSegment; readonly docId: number } {
    let first = 0
    let last = this.parts.length - 1
    while (first < last) {
      const middle = (first + last + 1) >>> 1
      if ((this.bases[middle] as number) <= doc) first = middle
      else last = middle - 1
    }
    const segment = this.parts[first]
    if (segment === undefined || doc >= this.size)
      throw new RangeError(`document ${doc} of ${this.size}`)
    return { segment, docId: doc - (this.bases[first] as number) }
  }

  /** One segment's postings: all that can be found count, those of the tenant are kept. */
  private read(
    segment: IndexedSegment,
    index: number,
    base: number | undefined,
  ): { df: number; docs: Uint32Array; weights: Float32Array } {
    const { reader, lengths, hidden } = segment
    const { docIds, tfs } = reader.postings(index)
    const { meanLength } = this.corpus
    const isShared = segment.tenants.size > 1
    const docs = new Uint32Array(base === undefined ? 0 : docIds.length)
    const weights = new Float32Array(docs.length)
    let df = 0
    let kept = 0
    for (let i = 0; i < docIds.length; i++) {
      const doc = docIds[i] as number // i is below the length, and so is `doc` in `lengths`
      if (hidden !== undefined && isHidden(hidden, doc)) continue
      df += 1
      if (base === undefined || (isShared && !this.owns(segment, doc))) continue
      docs[kept] = base + doc
      const norm = bm25LengthNorm(lengths[doc] as number, meanLength)
      weights[kept] = bm25TermFrequency(tfs[i] as number, norm)
      kept += 1
    }
    return { df, docs: docs.subarray(0, kept), weights: weights.subarray(0, kept) }
  }

  /** Both halves of the owner's hash, the half that tells most tenants apart first. */
  private owns({ reader }: IndexedSegment, doc: number): boolean {
    return reader.docTenantLow(doc) === this.low && reader.docTenantHigh(doc) === this.high
  }

  /** One list of all pieces, with the weight of the term worked in. Yields after each piece. */
  private *join(
    term: string,
    df: number,
    pieces: readonly { docs: Uint32Array; weights: Float32Array }[],
  ): Generator<void, TermList> {
    const length = pieces.reduce((sum, piece) => sum + piece.docs.length, 0)
    const docs = new Uint32Array(length)
    const weights = new Float32Array(length)
    const idf = bm25Idf(this.corpus.docs, df)
    let at = 0
    for (const piece of pieces) {
      docs.set(piece.docs, at)
      scale(piece.weights, idf, weights, at)
      at += piece.docs.length
      yield
    }
    return {
      df,
      docs,
      weights,
      bytes: LIST_OVERHEAD_BYTES + term.length * 2 + length * 8,
      wasUsed: false,
      drop: () => this.lists.delete(term),
    }
  }
}

function scale(from: Float32Array, factor: number, to: Float32Array, at: number): void {
  for (let i = 0; i < from.length; i++) to[at + i] = (from[i] as number) * factor
}
