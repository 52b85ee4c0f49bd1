import type { FusionSettings } from './fused-types.js'
import type { FusionWeights } from './weights.js'

/**
 * What a fused search works with when nothing else is asked for: chosen by a sweep over three test
 * collections at once, one setting for all (see `docs/benchmarks.md`).
 */
export const TUNED_FUSION: { readonly weights: FusionWeights; readonly settings: FusionSettings } =
  {
    weights: { bm25: 0.3, graph: 0.35, dense: 0.1, sparse: 0.3 },
    settings: {
      pool: 64,
      closeLook: 24,
      feedbackDocs: 5,
      feedbackTerms: 26,
      feedbackWeight: 0.6,
      coverage: 0.3,
      contentPairs: 0.25,
      textPairs: 0.15,
      similarTerms: 0.6,
      hops: 2,
      leastConfidence: 0.3,
    },
  }
