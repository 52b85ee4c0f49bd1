import type { FusionSettings } from './fused-types.js'
import type { FusionWeights } from './weights.js'

/**
 * What a fused search works with when nothing else is asked for: chosen by a sweep over three test
 * collections at once, one setting for all (see `docs/benchmarks.md`).
 */
export const TUNED_FUSION: { readonly weights: FusionWeights; readonly settings: FusionSettings } =
  {
    weights: { bm25: 0.36, graph: 0.4, dense: 0.14, sparse: 0.1 },
    settings: {
      pool: 200,
      feedbackDocs: 4,
      feedbackTerms: 30,
      feedbackWeight: 0.5,
      coverage: 0.2,
      contentPairs: 0.5,
      textPairs: 0.3,
      similarTerms: 0.2,
      hops: 3,
      leastConfidence: 0.3,
    },
  }
