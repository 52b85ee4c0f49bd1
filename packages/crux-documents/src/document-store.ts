import type { SemanticProfile } from 'crux-retrieval'
import type { Caller } from 'crux-types'
import type { SearchAnswer, SearchQuery } from './search-types.js'

export interface ChunkInput {
  /** Unique within the document; at most 128 UTF-8 bytes. */
  readonly chunkId: string
  /** At most 4 MiB of UTF-8. */
  readonly text: string
  readonly chunkIndex?: number
  /** Titles of the sections around the chunk, outermost first. */
  readonly headingPath?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
  /** What an embedder made of the text: finite numbers, of one length throughout a request. Copied. */
  readonly vector?: Float32Array | readonly number[]
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
  /** Profile of the embedder that made the vectors; without one they are compared with every query of their length. */
  readonly semanticProfile?: SemanticProfile
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
  /** Vectors that were stored, those that were made here included. */
  readonly vectors: number
  /** Numbers per vector; null when none was stored. */
  readonly vectorDims: number | null
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

export interface ExpandQuery {
  readonly tenant: string
  /** `<segment index>:<doc>`, or a `chunkRef`. */
  readonly handles: readonly string[]
  /** Whether `content` holds text. */
  readonly includeText: boolean
  /** Tokens of text, as the store's counter has it: by default UTF-8 bytes over four, rounded up. */
  readonly tokenBudget?: number
  /** Bytes of the first handle's text that were given before; default 0. */
  readonly firstByte?: number
}

/** Where text that a budget left out begins. */
export interface ExpandMark {
  /** Place among the handles of the query, from 0. */
  readonly handle: number
  /** UTF-8 bytes of its text that were given. */
  readonly byte: number
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
  /** Byte of the chunk's text with which `text` begins; above 0 when it goes on with a text that was cut. */
  readonly fromByte: number
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
  /** Where to go on; undefined when all text was given, or none for want of any budget. */
  readonly next?: ExpandMark
}

/** How far a merge is. */
export interface MergeProgress {
  /** Segments that were merged so far. */
  readonly segments: number
  readonly of: number
}

/** How far an embedding of stored text is. */
export interface EmbedProgress {
  /** Chunks that have got a vector so far. */
  readonly embedded: number
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
  /**
   * Rank passages. What a mode lacks is left out and named in `degraded`.
   *
   * @throws {CruxError} `EMBEDDING_FAILED` when that was asked for instead. @throws {RangeError} For a limit, floor or weight out of range.
   */
  search(
    caller: Caller,
    query: SearchQuery,
    options?: { signal?: AbortSignal },
  ): Promise<SearchAnswer>
  expand(caller: Caller, query: ExpandQuery): Promise<ExpandAnswer>
  /** Build missing companions of committed segments again, with `all` also indexes that can be used. */
  rebuildCompanions(options?: {
    all?: boolean
    signal?: AbortSignal
  }): Promise<{ readonly rebuilt: number; readonly segments: number }>
  /**
   * Embed the current chunks that have no vector, with the configured embedder.
   *
   * @param options.all - Also those whose vectors are of another embedder, which are then replaced.
   * @returns Chunks that got a vector, and segments that changed.
   * @throws {CruxError} `EMBEDDER_MISSING`, and what the embedder throws; what was embedded by then stays.
   */
  embedMissing(options?: {
    all?: boolean
    signal?: AbortSignal
    onProgress?: (done: EmbedProgress) => void
  }): Promise<{ readonly embedded: number; readonly segments: number }>
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
   * References to chunks stay valid, and so do positions while the store is open.
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
    /** Vectors of current and replaced chunks. */
    readonly vectors: number
    readonly warnings: readonly string[]
  }
  close(): Promise<void>
}
