import type { DocPlace, LexicalCoverage, LexicalHit } from '../lexical/lexical-types.js'
import type { SegmentWords } from './segment-words.js'
import type { FusionWeights } from './weights.js'

/** The words of segments, in order. */
export interface WordSource {
  /** Undefined for a segment whose words are not at hand. */
  of(segment: string): SegmentWords | undefined
  /** Segments whose words are at hand. */
  all(): Iterable<SegmentWords>
}

/** Takes a document that a walk came to. */
export type VisitDoc = (segment: string, docId: number, hop: number, confidence: number) => void

/** Which documents stand beside, or refer to, which others. */
export interface DocGraph {
  /** Documents of a tenant that have a neighbour. */
  nodes(tenant: string): number
  /**
   * Go from a document to its neighbours, theirs, and so on. A document may be visited more than
   * once, by another way; only documents of the tenant that can be found are visited.
   *
   * @param hops - Furthest distance; integer >= 1.
   */
  walk(from: DocPlace, tenant: string, hops: number, visit: VisitDoc): void
}

/** The dense lane of one query: its vector is known, and who may be seen was decided. */
export interface DenseLane {
  /** Nearest documents of the tenant, best first. */
  nearest(limit: number, signal?: AbortSignal): Promise<readonly (DocPlace & { score: number })[]>
  /** Cosine of one document, 0..1; undefined when it has no vector to compare. */
  score(segment: string, docId: number): number | undefined
}

/** How a fused search works beside its weights. */
export interface FusionSettings {
  /** Best documents by their words that are ranked anew; at least four times the hits asked for are. */
  readonly pool: number
  /** How many of them have their words read in order; at least twice the hits asked for do. */
  readonly closeLook: number
  /** Best documents whose words join the query; 0 for none. */
  readonly feedbackDocs: number
  /** Words that they add. */
  readonly feedbackTerms: number
  /** Weight of the added words together, where the words of the query have 1. */
  readonly feedbackWeight: number
  /** How much it counts that a document holds all words of the query rather than one often. */
  readonly coverage: number
  /** Shares of the sparse lane: words that stand next to each other when stop words are left out, */
  readonly contentPairs: number
  /** words that stand next to each other in the text, stop words included, */
  readonly textPairs: number
  /** and words that share characters with one of the query. */
  readonly similarTerms: number
  /** Furthest neighbour that counts. */
  readonly hops: number
  /** Ways that are less sure are not gone; 0..1. */
  readonly leastConfidence: number
}

/** What to look for. */
export interface FusedQuery {
  readonly query: string
  /** Name of the one tenant whose documents may be found. */
  readonly tenant: string
  /** Most hits; integer >= 0. */
  readonly limit: number
  readonly weights?: FusionWeights
  readonly settings?: Partial<FusionSettings>
  /** Hits that score less are left out and counted. */
  readonly minScore?: number
  /** Absent when there are no vectors to compare. */
  readonly dense?: DenseLane
}

/** What each lane says of a document, 0..1; the score is their sum by weight. */
export type LaneScores = FusionWeights

/** One document found. */
export interface FusedHit extends LexicalHit {
  readonly breakdown: LaneScores
  /** 0 for a document found by itself, else how far it stands from one that was. */
  readonly hopDistance: number
}

/** What was found. */
export interface FusedAnswer {
  /** Best first; ties in the order of segments, then of documents. */
  readonly hits: readonly FusedHit[]
  /** Documents that hold a word of the query. */
  readonly totalCandidates: number
  readonly coverage: LexicalCoverage
  /** True when the query has words, but only such as are not scored alone. */
  readonly onlyStopWords: boolean
  /** Weights that were in force, after lanes without anything to say were left out. */
  readonly weights: FusionWeights
  /** Why lanes that had a weight were left out, one sentence each. */
  readonly degraded: readonly string[]
  readonly stats: {
    /** Documents that were scored by all lanes. */
    readonly docsScanned: number
    /** Documents that the lexical lane put into the pool. */
    readonly poolSize: number
    /** Steps taken through the graph. */
    readonly graphNodesExpanded: number
    readonly denseLaneActive: boolean
  }
}
