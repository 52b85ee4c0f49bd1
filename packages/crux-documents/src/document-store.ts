import type { Caller } from 'crux-types'

export interface ChunkInput {
  /** Unique within the document; at most 128 UTF-8 bytes. */
  readonly chunkId: string
  /** At most 4 MiB of UTF-8. */
  readonly text: string
  readonly chunkIndex?: number
  /** Titles of the sections around the chunk, outermost first. */
  readonly headingPath?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface DocumentInput {
  /** Stable name of the document within its corpus, such as a relative path. */
  readonly docId: string
  readonly title?: string
  readonly url?: string
  /** RFC 3339. */
  readonly sourceTimestamp?: string
  readonly chunks: readonly ChunkInput[]
}

/** At most 4,096 documents and 65,536 chunks. */
export interface IngestRequest {
  readonly tenant: string
  readonly corpus: string
  readonly documents: readonly DocumentInput[]
  /** Documents to take out in the same commit. */
  readonly remove?: readonly string[]
}

export interface IngestResult {
  /** Documents that were new or changed. */
  readonly documents: number
  readonly unchanged: number
  readonly removed: number
  /** Chunks that were stored. */
  readonly chunks: number
  /** Frames of the new segment; 0 when nothing was sealed. */
  readonly frameCount: number
  readonly sealed: boolean
  /** 0 when nothing was sealed. */
  readonly segmentSeq: number
  readonly receiptId: string | null
  /** What went wrong without failing the ingest, such as an index that could not be built. */
  readonly warnings: readonly string[]
}

export interface DocumentSummary {
  readonly docId: string
  readonly title: string | null
  readonly url: string | null
  /** Hex hash of everything the document was ingested with, equal for equal content; empty when another writer stored it. */
  readonly revision: string
  readonly chunks: number
}

export interface SearchQuery {
  readonly tenant: string
  readonly query: string
  /** Most hits. */
  readonly limit: number
  readonly minScore?: number
}

export interface SearchHit {
  /** 1 for the best. */
  readonly rank: number
  readonly score: number
  /** Place of the segment among those that can be searched; shifts when segments are merged. */
  readonly segmentIndex: number
  /** Number of the chunk within that segment. */
  readonly docId: number
  /** Stable address: `<segment id>:<number>` of the segment that the chunk was first committed in. */
  readonly chunkRef: string
  readonly docLengthTokens: number
  readonly frameOffset: number
}

export interface Coverage {
  /** Query tokens that some document holds, over all query tokens; 0..1. */
  readonly score: number
  /** Words of the query, as written, whose tokens no document holds. */
  readonly missingTokens: readonly string[]
  readonly belowFloor: number
}

export interface SearchAnswer {
  /** True when no searchable segment exists. */
  readonly isEmpty: boolean
  readonly hits: readonly SearchHit[]
  /** Hits before the floor and the limit. */
  readonly totalCandidates: number
  readonly coverage: Coverage
  /** The algorithm that ran. */
  readonly scoreSpace: 'bm25_lexical'
  readonly scoreMergeRule: string
  readonly segmentsSearched: number
  readonly totalDocs: number
}

export interface ExpandQuery {
  readonly tenant: string
  /** `<segment index>:<doc>`, or a `chunkRef`. */
  readonly handles: readonly string[]
  /** Whether `content` holds text. */
  readonly includeText: boolean
  /** Tokens of text, at UTF-8 bytes over four rounded up. */
  readonly tokenBudget?: number
}

export interface ExpandedChunk {
  readonly segmentIndex: number
  readonly docId: number
  readonly chunkRef: string
  readonly frameOffset: number
  readonly tokenCount: number
}

export interface ChunkText {
  /** The handle as it was asked for. */
  readonly id: string
  readonly chunkRef: string
  readonly text: string
  readonly title: string | null
  /** The document's URL, else its id. */
  readonly source: string
  readonly docId: string
  readonly corpus: string
  readonly headingPath: readonly string[]
  readonly chunkIndex: number
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** True when the text was cut to fit the budget. */
  readonly isCut: boolean
}

export type ExpandErrorKind = 'invalid_format' | 'evicted' | 'tenant_mismatch'

export interface ExpandError {
  readonly handle: string
  readonly kind: ExpandErrorKind
  /** `invalid result_id format`, `segment not found`, `doc_id out of range` or `tenant mismatch`. */
  readonly error: string
}

export interface ExpandAnswer {
  readonly chunks: readonly ExpandedChunk[]
  /** Sum of `tokenCount`. */
  readonly tokensLoaded: number
  readonly errors: readonly ExpandError[]
  readonly content: readonly ChunkText[]
  /** Tokens of the text in `content`. */
  readonly textTokens: number
  /** Chunks whose text did not fit the budget. */
  readonly leftOut: number
}

/** How far a merge is. */
export interface MergeProgress {
  /** Segments that were merged so far. */
  readonly segments: number
  readonly of: number
}

/** Something wrong with a file of a committed segment. */
export interface CompanionProblem {
  /** Id of the segment. */
  readonly segment: string
  /** Name of the file. */
  readonly file: string
  /** Byte of the file at which it shows, where that is known. */
  readonly offset?: number
  readonly reason: string
}

/**
 * Documents in, ranked passages out. Tenancy is decided here from the caller.
 *
 * @throws {CruxError} see `DocumentsErrorCode`, and the segment store's codes.
 */
export interface DocumentStore {
  /** Durable when it resolves. Same content adds nothing; a changed document replaces its old chunks in the same commit. */
  ingest(
    caller: Caller,
    request: IngestRequest,
    options?: {
      signal?: AbortSignal
      onProgress?: (done: { documents: number; of: number }) => void
    },
  ): Promise<IngestResult>
  /** Live documents of one corpus, by `docId`. */
  list(
    caller: Caller,
    filter: { tenant: string; corpus: string },
  ): Promise<readonly DocumentSummary[]>
  search(caller: Caller, query: SearchQuery): Promise<SearchAnswer>
  expand(caller: Caller, query: ExpandQuery): Promise<ExpandAnswer>
  /** Build missing companions of committed segments again, with `all` also indexes that can be used. */
  rebuildCompanions(options?: {
    all?: boolean
    signal?: AbortSignal
  }): Promise<{ readonly rebuilt: number; readonly segments: number }>
  /**
   * Read every file of every segment and hold it against the segment. Changes nothing.
   *
   * @returns `checked` counts files beside segments.
   */
  verifyCompanions(options?: {
    signal?: AbortSignal
    onProgress?: (done: { segments: number; of: number }) => void
  }): Promise<{
    readonly segments: number
    readonly checked: number
    readonly problems: readonly CompanionProblem[]
  }>
  /**
   * Merge segments into as few as their bounds allow and drop the chunks that are no longer current.
   * References to chunks stay valid; positions may shift.
   *
   * @returns How many segments were merged, and how many there are now.
   */
  merge(options?: {
    signal?: AbortSignal
    onProgress?: (done: MergeProgress) => void
  }): Promise<{ readonly merged: number; readonly segments: number }>
  /** Numbers for status and metrics; `warnings` name what is wrong and how to mend it. */
  stats(): {
    readonly segments: number
    readonly documents: number
    readonly chunks: number
    readonly warnings: readonly string[]
  }
  close(): Promise<void>
}
