import type { CcxiReader } from 'crux-segment'
import type { Pause } from 'crux-types'

/** What to look for. */
export interface LexicalQuery {
  readonly query: string
  /** Name of the one tenant whose documents may be found. */
  readonly tenant: string
  /** Most hits; integer >= 0. */
  readonly limit: number
  /** Hits that score less are left out and counted. */
  readonly minScore?: number
}

/** One document found. */
export interface LexicalHit {
  /** Key of the segment, as given when it was added. */
  readonly segment: string
  /** Number of the document within its segment. */
  readonly docId: number
  /** BM25, > 0; comparable within one answer only. */
  readonly score: number
  /** Tokens of the document, at most 65,535. */
  readonly docLength: number
  /** Byte at which the document's frame starts in its segment's file. */
  readonly frameOffset: number
}

/** How much of the query the corpus knows, whoever its documents belong to. */
export interface LexicalCoverage {
  /** Tokens of the query that some document holds, over all of them; 0..1, 0 without tokens. */
  readonly score: number
  /** The words, as written, whose tokens no document holds; in the order of the query. */
  readonly missingTokens: readonly string[]
  /** Documents left out because of `minScore`. */
  readonly belowFloor: number
}

/** What was found. */
export interface LexicalAnswer {
  /** Best first; ties in the order of segments, then of documents. */
  readonly hits: readonly LexicalHit[]
  /** Documents that hold a token of the query, before `minScore` and `limit`. */
  readonly totalCandidates: number
  readonly coverage: LexicalCoverage
}

/** One document of an index. */
export interface LexicalDoc {
  readonly docLength: number
  readonly frameOffset: number
  readonly tenantHash: bigint
}

/** Searches many immutable index files as one corpus. */
export interface LexicalIndex {
  /**
   * Add a segment after those that are there. Costs one step through its documents, whatever else
   * the index holds, and for bytes a hash over them (about 1.5 ms per MiB).
   *
   * @param ccxi - Its index, opened, or the bytes of it; kept, must not change.
   * @throws {CruxError} `INDEX_DUPLICATE_SEGMENT`, or a code of crux-segment when the bytes are damaged.
   */
  addSegment(key: string, ccxi: CcxiReader | Uint8Array): void
  /** {@link addSegment} with pauses; the segment is there from one moment to the next. */
  addSegmentInSlices(key: string, ccxi: CcxiReader | Uint8Array, pause: Pause): Promise<void>
  /** Take a segment out; false when it is not there. */
  removeSegment(key: string): boolean
  /**
   * From now on these documents are neither found nor counted.
   *
   * @throws {CruxError} `INDEX_UNKNOWN_SEGMENT`.
   */
  hide(key: string, docIds: Iterable<number>): void
  /** A document that can be found; undefined when it is hidden, not indexed, or not there. */
  findDoc(key: string, docId: number): LexicalDoc | undefined
  /** Search, giving the event loop back every few milliseconds. Sees the index as it is at the call. */
  search(query: LexicalQuery, options?: { signal?: AbortSignal }): Promise<LexicalAnswer>
  /** {@link search} in one go, for small indexes and measurements. */
  searchNow(query: LexicalQuery): LexicalAnswer
  /** Segments, documents that can be found, their tokens, and bytes of decoded postings held. */
  stats(): {
    readonly segments: number
    readonly docs: number
    readonly tokens: number
    readonly postingBytes: number
  }
}
