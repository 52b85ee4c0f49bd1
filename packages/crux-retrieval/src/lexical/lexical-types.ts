import type { CcxiReader } from 'crux-segment'
import type { Pause } from 'crux-types'
import type { Token } from '../analyser/analyser.js'

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

/** One term to look for, as {@link TermQuery} takes it. */
export interface WeightedTerm {
  /** A term as the default analyser gives it. */
  readonly term: string
  /** What the term's BM25 is multiplied by; finite, >= 0. A term given twice counts with both weights. */
  readonly weight: number
}

/** What to look for when the terms are known already. */
export interface TermQuery {
  readonly terms: readonly WeightedTerm[]
  /** Name of the one tenant whose documents may be found. */
  readonly tenant: string
  /** Most hits; integer >= 0. */
  readonly limit: number
  /** Hits that score less are left out and counted. */
  readonly minScore?: number
}

/** Where a document is. */
export interface DocPlace {
  /** Key of the segment, as given when it was added. */
  readonly segment: string
  /** Number of the document within its segment. */
  readonly docId: number
}

/** What {@link LexicalIndex.searchTerms} found. */
export interface TermAnswer {
  /** Best first; ties in the order of segments, then of documents. */
  readonly hits: readonly LexicalHit[]
  /** Documents that hold one of the terms, before `minScore` and `limit`. */
  readonly totalCandidates: number
  /** Documents left out because of `minScore`. */
  readonly belowFloor: number
}

/** A segment to put into an index. */
export interface NewSegment {
  readonly key: string
  /** Its index, opened, or the bytes of it; kept, must not change. */
  readonly ccxi: CcxiReader | Uint8Array
  /** Documents that are neither found nor counted. */
  readonly hidden?: Iterable<number>
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

/**
 * How much of the query the corpus knows, whoever its documents belong to. Words that the analyser
 * calls stop words do not count, neither for nor against.
 */
export interface LexicalCoverage {
  /** Words of the query that some document holds, over all of them; 0..1, 0 without words. */
  readonly score: number
  /** The words, as written, that no document holds; in the order of the query. */
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
  /** True when the query has words, but only such as are not scored alone. */
  readonly onlyStopWords: boolean
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
   * @throws {CruxError} `INDEX_DUPLICATE_SEGMENT`; `ANALYSER_UNKNOWN` for terms of an analyser that
   *   is not here; a code of crux-segment when the bytes are damaged.
   */
  addSegment(key: string, ccxi: CcxiReader | Uint8Array): void
  /** {@link addSegment} with pauses; the segment is there from one moment to the next. */
  addSegmentInSlices(key: string, ccxi: CcxiReader | Uint8Array, pause: Pause): Promise<void>
  /** Take a segment out; false when it is not there. */
  removeSegment(key: string): boolean
  /**
   * Take segments out and put others in, from one moment to the next. The new ones stand, in the
   * order given, where the first of those taken out stood, or last when none of them was there.
   * Keys that are not there are passed over.
   *
   * @throws {CruxError} As {@link addSegment}; the index is then as it was.
   */
  replaceSegments(remove: Iterable<string>, add: readonly NewSegment[]): void
  /** {@link replaceSegments} with pauses before the change, while the new segments are read. */
  replaceSegmentsInSlices(
    remove: Iterable<string>,
    add: readonly NewSegment[],
    pause: Pause,
  ): Promise<void>
  /**
   * From now on these documents are neither found nor counted.
   *
   * @throws {CruxError} `INDEX_UNKNOWN_SEGMENT`.
   */
  hide(key: string, docIds: Iterable<number>): void
  /** Changes with the documents that can be found; what was derived at one revision holds while it stays. */
  readonly revision: number
  /** Words of a document, at most 65,535; 0 when it is not there. */
  docLength(key: string, docId: number): number
  /** A document that can be found; undefined when it is hidden, not indexed, or not there. */
  findDoc(key: string, docId: number): LexicalDoc | undefined
  /** Search, giving the event loop back every few milliseconds. Sees the index as it is at the call. */
  search(query: LexicalQuery, options?: { signal?: AbortSignal }): Promise<LexicalAnswer>
  /** {@link search} in one go, for small indexes and measurements. */
  searchNow(query: LexicalQuery): LexicalAnswer
  /**
   * Documents of segments of the default analyser by weighted BM25 of given terms; pauses like
   * {@link search}.
   *
   * @throws {RangeError} When a weight is negative or not finite.
   */
  searchTerms(query: TermQuery, options?: { signal?: AbortSignal }): Promise<TermAnswer>
  /** {@link searchTerms} in one go. */
  searchTermsNow(query: TermQuery): TermAnswer
  /**
   * Scores of given documents, exactly those of {@link searchTerms}; in one go.
   *
   * @returns One score per document, in their order; 0 for one that holds no term, is hidden,
   *   belongs to another tenant, or is not there.
   * @throws {RangeError} When a weight is negative or not finite.
   */
  scoreOf(terms: readonly WeightedTerm[], tenant: string, docs: readonly DocPlace[]): Float64Array
  /**
   * Tokens of a text by the default analyser, giving the event loop back every few milliseconds; those
   * of the last short text are remembered.
   */
  tokensOf(text: string, pause: Pause): Promise<readonly Token[]> | readonly Token[]
  /** Documents of all tenants that can be found and hold a term of the default analyser. */
  documentFrequency(term: string): number
  /** Segments, documents that can be found, their tokens, and bytes of decoded postings held. */
  stats(): {
    readonly segments: number
    readonly docs: number
    readonly tokens: number
    readonly postingBytes: number
  }
}
