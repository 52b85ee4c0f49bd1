/** Share of the wording and of the vector in a re-ranked score. */
const BM25_SHARE = 0.7
const DENSE_SHARE = 0.3
/** Keeps the division sound when no hit has a score. */
const SMALLEST_BEST = 1e-9

/** What a re-ranked score was made of. */
export interface RerankBreakdown {
  /** The score that the hit had before. */
  readonly bm25: number
  /** Cosine with the query, 0 without a vector. */
  readonly dense: number
}

/**
 * Order hits of the lexical lane anew, with what their vectors say mixed in: 0.7 times BM25 over
 * the best BM25 of these hits, plus 0.3 times the cosine. No hit is added or lost.
 *
 * @param hits - With their BM25 as `score`, >= 0; not changed.
 * @param options.score - Cosine of a hit with the query, 0..1; undefined when it has no vector.
 * @returns New hits, best first, `score` replaced and within 0..1; equal ones keep their order.
 */
export function rerankDense<Hit extends { readonly score: number }>(
  hits: readonly Hit[],
  options: { readonly score: (hit: Hit) => number | undefined },
): (Hit & { readonly breakdown: RerankBreakdown })[] {
  const best = hits.reduce((most, { score }) => Math.max(most, score), SMALLEST_BEST)
  return hits
    .map((hit) => {
      const dense = options.score(hit) ?? 0
      const score = BM25_SHARE * (hit.score / best) + DENSE_SHARE * dense
      return { ...hit, score, breakdown: { bm25: hit.score, dense } }
    })
    .sort((a, b) => b.score - a.score)
}
