import type { Candidates } from './candidates.js'
import type { FusionSettings, LaneScores } from './fused-types.js'
import type { FusionWeights } from './weights.js'

/** Factors that turn what was counted for candidates into lanes of 0..1. */
export interface LaneShares {
  readonly lexical: number
  readonly coverage: number
  readonly contentPairs: number
  readonly textPairs: number
}

/** Each part of a lane as a share of the best that a candidate reached. */
export function sharesOf(
  { size, lexical, contentPairs, textPairs }: Candidates,
  weights: FusionWeights,
  settings: FusionSettings,
): LaneShares {
  const { coverage } = settings
  const parts = settings.contentPairs + settings.textPairs + settings.similarTerms
  const share = (of: number, best: number): number =>
    best === 0 || parts === 0 || weights.sparse === 0 ? 0 : of / parts / best
  const best = mostOf(lexical, size)
  return {
    lexical: best === 0 ? 0 : 1 / (1 + coverage) / best,
    coverage: coverage / (1 + coverage),
    contentPairs: share(settings.contentPairs, mostOf(contentPairs, size)),
    textPairs: share(settings.textPairs, mostOf(textPairs, size)),
  }
}

/** What each lane says of a candidate. */
export function lanesOf(candidates: Candidates, number: number, shares: LaneShares): LaneScores {
  const { lexical, coverage, contentPairs, textPairs, dense, graph } = candidates
  // The number is that of a candidate, so that every column has it.
  return {
    bm25:
      (lexical[number] as number) * shares.lexical + (coverage[number] as number) * shares.coverage,
    graph: graph[number] as number,
    dense: dense[number] as number,
    sparse:
      (contentPairs[number] as number) * shares.contentPairs +
      (textPairs[number] as number) * shares.textPairs,
  }
}

/**
 * Sum of the lanes by weight, for every candidate.
 *
 * @param scores - Takes the sums: at least as many numbers as there are candidates.
 */
export function weighCandidates(
  candidates: Candidates,
  shares: LaneShares,
  weights: FusionWeights,
  scores: Float64Array,
): void {
  const { size, lexical, coverage, contentPairs, textPairs, dense, graph } = candidates
  const ofLexical = shares.lexical * weights.bm25
  const ofCoverage = shares.coverage * weights.bm25
  const ofContent = shares.contentPairs * weights.sparse
  const ofText = shares.textPairs * weights.sparse
  for (let i = 0; i < size; i++) {
    scores[i] =
      (lexical[i] as number) * ofLexical + // `i` is the number of a candidate, here and below
      (coverage[i] as number) * ofCoverage +
      (contentPairs[i] as number) * ofContent +
      (textPairs[i] as number) * ofText +
      (dense[i] as number) * weights.dense +
      (graph[i] as number) * weights.graph
  }
}

function mostOf(column: Float64Array, size: number): number {
  let most = 0
  for (let i = 0; i < size; i++) {
    const value = column[i] as number // below the size
    if (value > most) most = value
  }
  return most
}
