import type { FusionWeights, SemanticProfile } from 'crux-retrieval'

/**
 * How passages are ranked.
 *
 * - `auto`: by BM25, re-ranked by vectors where the chunks have some that can be compared.
 * - `bm25`: by BM25.
 * - `dense`: by vectors.
 * - `fused`: by words, vectors, links and word order together.
 */
export const SEARCH_MODES = ['auto', 'bm25', 'dense', 'fused'] as const

/** One of {@link SEARCH_MODES}. */
export type SearchMode = (typeof SEARCH_MODES)[number]

export interface SearchQuery {
  readonly tenant: string
  readonly query: string
  /** Most hits. */
  readonly limit: number
  /** Hits that score less are left out and counted. */
  readonly minScore?: number
  /** Default `auto`. */
  readonly mode?: SearchMode
  /** Weights of the lanes in mode `fused`; those left out are as configured. */
  readonly weights?: { readonly [Lane in keyof FusionWeights]?: number | undefined }
  /** With an embedder that is another daemon, fail rather than leave vectors out. */
  readonly isStrict?: boolean
}

/** What lanes say of a hit. */
export interface ScoreBreakdown {
  /** BM25; in mode `fused` as a share of the best, 0..1. */
  readonly bm25?: number
  /** 0..1 */
  readonly graph?: number
  /** Cosine with the query, 0..1. */
  readonly dense?: number
  /** 0..1 */
  readonly sparse?: number
}

export interface SearchHit {
  /** 1 for the best. */
  readonly rank: number
  readonly score: number
  /** Place of the segment among those that can be searched; stays while the store is open. */
  readonly segmentIndex: number
  /** Number of the chunk within that segment. */
  readonly docId: number
  /** Stable address: `<segment id>:<number>` of the segment that the chunk was first committed in. */
  readonly chunkRef: string
  readonly docLengthTokens: number
  readonly frameOffset: number
  /** What the score was made of. */
  readonly breakdown: ScoreBreakdown
  /** In mode `fused`: 0 for a chunk found by itself, else how far it stands from one that was. */
  readonly hopDistance?: number
}

export interface Coverage {
  /** Query tokens that some document holds, over all query tokens; 0..1. */
  readonly score: number
  /** Words of the query, as written, whose tokens no document holds. */
  readonly missingTokens: readonly string[]
  readonly belowFloor: number
}

/** The algorithm that gave the scores of an answer. */
export type ScoreSpace = 'bm25_lexical' | 'bm25_dense_fused' | 'dense_cosine' | 'fused_lanes'

export interface SearchAnswer {
  /** True when no searchable segment exists. */
  readonly isEmpty: boolean
  readonly hits: readonly SearchHit[]
  /** Hits before the floor and the limit; in mode `dense` the vectors that were compared. */
  readonly totalCandidates: number
  readonly coverage: Coverage
  /** The algorithm that ran. */
  readonly scoreSpace: ScoreSpace
  /** How hits of several segments became one list. */
  readonly scoreMergeRule: string
  readonly segmentsSearched: number
  readonly totalDocs: number
  /** What was to take part and did not, one sentence each; empty when nothing is missing. */
  readonly degraded: readonly string[]
  /** Whether vectors were compared. */
  readonly isDense: boolean
  /** Profile of the vectors that were compared; null when none were. */
  readonly semanticProfile: SemanticProfile | null
  /** Weights in force in mode `fused`. */
  readonly weights?: FusionWeights
}
