import type { Coverage } from 'crux-documents'

/** Coverage of a query as answers state it, over MCP and HTTP alike. */
export interface CoverageReport {
  /** Share of the query's tokens that some document holds; 0..1. */
  readonly score: number
  readonly missing_tokens: readonly string[]
  /** Hits under the asked-for score. */
  readonly below_floor: number
  /** One per missing word. */
  readonly gaps: readonly {
    readonly query_terms: readonly string[]
    readonly match_quality: 'none'
    readonly suggestion: string
  }[]
}

/** Write coverage in the form of answers. */
export function reportCoverage(coverage: Coverage): CoverageReport {
  return {
    score: coverage.score,
    missing_tokens: coverage.missingTokens,
    below_floor: coverage.belowFloor,
    gaps: coverage.missingTokens.map((word) => ({
      query_terms: [word],
      match_quality: 'none',
      suggestion: `No documents in corpus contain '${word}'`,
    })),
  }
}
