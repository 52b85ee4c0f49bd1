import type { Pause } from 'crux-types'

/** The vectors of a segment, such as a `.ccxv` file holds; kept, must not change. */
export interface VectorRows {
  /** Numbers per vector; integer >= 1. */
  readonly dim: number
  /** Number of each vector's document within its segment, strictly ascending. */
  readonly docIds: Uint32Array
  /** `docIds.length * dim` finite numbers, row after row in the order of `docIds`; any length. */
  readonly vectors: Float32Array
  /**
   * What tells whether two vectors may be compared: the hash of the embedder's fingerprint.
   * Left out when not known; such vectors are compared with every query of their dimension.
   */
  readonly space?: string | undefined
}

/**
 * Which documents of one segment may be found: all, none, those whose bit is set (document `n` is
 * bit `n & 7` of byte `n >>> 3`; beyond the end is no), or those that the function says yes to.
 */
export type AllowedDocs = boolean | Uint8Array | ((docId: number) => boolean)

/** How to look for a vector. */
export interface VectorSearchOptions {
  /** Most hits; integer >= 0. */
  readonly limit: number
  /** Asked once per segment, before anything is compared. There is no default: say who may see what. */
  readonly allow: (segment: string) => AllowedDocs
  /** Space of the query; left out, only vectors of no known space are compared. */
  readonly space?: string | undefined
  /** Most vectors compared exactly by an approximate search; by default a hundredth of them, at least 1,000. */
  readonly candidates?: number | undefined
}

/** One vector found. */
export interface VectorHit {
  /** Key of the segment, as given when it was added. */
  readonly segment: string
  /** Number of the document within its segment. */
  readonly docId: number
  /** Cosine, above 0 and at most 1. */
  readonly score: number
}

/** Vectors that cannot be compared with a query. */
export interface OtherSpace {
  /** As given with the vectors; undefined when only their dimension is known. */
  readonly space: string | undefined
  readonly dim: number
  readonly segments: number
}

/** What was found. */
export interface VectorAnswer {
  /** Best first; ties in the order of segments, then of documents. */
  readonly hits: readonly VectorHit[]
  /** Whether every allowed vector was compared, or only the most promising ones. */
  readonly method: 'exact' | 'approximate'
  /** Vectors whose cosine was computed. */
  readonly compared: number
  /** Segments with allowed documents whose vectors are of another space or dimension. */
  readonly skippedSegments: number
  /** What the skipped segments hold; embedding their texts again would bring them in. */
  readonly spaces: readonly OtherSpace[]
}

/** Cosine of one document with a fixed query, 0..1; undefined when it has no vector to compare. */
export type VectorScorer = (segment: string, docId: number) => number | undefined

/** Finds the nearest of many vectors, kept in segments. */
export interface VectorIndex {
  /**
   * Add a segment after those that are there; costs one step through its numbers.
   *
   * @throws {CruxError} `INDEX_DUPLICATE_SEGMENT`, `DENSE_DIMENSION`, `DENSE_SHAPE`,
   *   `DENSE_NOT_FINITE`, `INDEX_DOC_ORDER`.
   */
  addSegment(key: string, rows: VectorRows): void
  /** {@link addSegment} with pauses; the segment is there from one moment to the next. */
  addSegmentInSlices(key: string, rows: VectorRows, pause: Pause): Promise<void>
  /** Take a segment out; false when it is not there. */
  removeSegment(key: string): boolean
  /**
   * From now on these documents are neither found nor scored; those without a vector are passed over.
   *
   * @throws {CruxError} `INDEX_UNKNOWN_SEGMENT`.
   */
  hide(key: string, docIds: Iterable<number>): void
  /**
   * Prepare to score single documents, such as the hits of another lane. Does not ask who may see
   * them: that lane did. Sees later changes of the index.
   *
   * @throws {CruxError} `DENSE_DIMENSION`, `DENSE_NOT_FINITE` for the query.
   */
  scorer(query: Float32Array, options?: { readonly space?: string | undefined }): VectorScorer
  /**
   * Nearest vectors, giving the event loop back every few milliseconds. Sees the index as it is at
   * the call.
   *
   * Compares every allowed vector while there are at most `approximateAbove` of them. Beyond that
   * the codes of the vectors choose candidates; segments whose codes are not made yet are compared
   * in full, and their codes are made in the background.
   *
   * @throws {CruxError} `DENSE_DIMENSION`, `DENSE_NOT_FINITE` for the query.
   */
  search(
    query: Float32Array,
    options: VectorSearchOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<VectorAnswer>
  /** {@link search} in one go, for small indexes and measurements; makes no codes. */
  searchNow(query: Float32Array, options: VectorSearchOptions): VectorAnswer
  /** Make the codes that are missing, in slices; at once when the index is too small to need them. */
  prepare(): Promise<void>
  stats(): {
    readonly segments: number
    /** Hidden ones included. */
    readonly vectors: number
    /** Vectors that have codes. */
    readonly encoded: number
    /** Of vectors, norms, codes and numbers of documents. */
    readonly bytes: number
  }
  /** Stop making codes. The index stays usable. */
  close(): void
}
