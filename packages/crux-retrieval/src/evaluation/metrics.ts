/** How relevant documents are to one query: grade by document id; 0 or absent is not relevant. */
export type Relevance = ReadonlyMap<string, number>

/**
 * Normalised discounted cumulative gain of the first `cut` results, with gain 2^grade - 1.
 *
 * @param ranking - Ids of the documents found, best first.
 * @returns 0..1; undefined when no document is relevant.
 * @see Burges et al., "Learning to rank using gradient descent" (2005)
 */
export function ndcgAt(
  cut: number,
  ranking: readonly string[],
  relevance: Relevance,
): number | undefined {
  const best = [...relevance.values()].sort((a, b) => b - a)
  const ideal = discountedGain(best.slice(0, cut))
  if (ideal === 0) return undefined
  return discountedGain(ranking.slice(0, cut).map((id) => relevance.get(id) ?? 0)) / ideal
}

/**
 * Relevant documents among the first `cut` results over all relevant ones.
 *
 * @param ranking - Ids of the documents found, best first, none twice.
 * @returns 0..1; undefined when no document is relevant.
 */
export function recallAt(
  cut: number,
  ranking: readonly string[],
  relevance: Relevance,
): number | undefined {
  const relevant = [...relevance.values()].filter((grade) => grade > 0).length
  if (relevant === 0) return undefined
  const found = ranking.slice(0, cut).filter((id) => (relevance.get(id) ?? 0) > 0).length
  return found / relevant
}

/**
 * The value below which a share of the values lie, by the nearest rank.
 *
 * @param share - 0..1.
 * @throws {RangeError} When there are no values.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const value = sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)]
  if (value === undefined) throw new RangeError('percentile: expected at least one value, got none')
  return value
}

function discountedGain(grades: readonly number[]): number {
  return grades.reduce((sum, grade, i) => sum + (2 ** grade - 1) / Math.log2(i + 2), 0)
}
