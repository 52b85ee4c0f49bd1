import { type Collection, gradeQueries, TUNED_FUSION } from 'crux-retrieval'
import { type FusionChoice, openForSweep } from './engines/crux-engine.js'

/** One choice of weights and settings, and what it reached. */
export interface SweepRow {
  /** What is other than what ships; empty for what ships. */
  readonly change: string
  /** nDCG@10 and recall@10 by collection, in their order. */
  readonly grades: readonly { readonly ndcg10: number; readonly recall10: number }[]
}

/** Shares of what ships that each number is set to, one at a time. */
const FACTORS = [0, 0.5, 0.75, 1.25, 1.5]

/**
 * Rank the collections with what ships, then with each weight and setting changed alone: shows
 * whether a number was picked from a plateau or from a peak.
 *
 * @param onRow - Told each row as it is done.
 */
export async function sweepFusion(
  collections: readonly Collection[],
  onRow: (row: SweepRow) => void,
): Promise<void> {
  const opened = await Promise.all(
    collections.map(async ({ docs, queries }) => ({ queries, rank: await openForSweep(docs) })),
  )
  for (const { change, choice } of choices()) {
    const grades: SweepRow['grades'][number][] = []
    for (const { queries, rank } of opened) {
      grades.push(await gradeQueries(queries, (query) => rank(query, choice)))
    }
    onRow({ change, grades })
  }
}

function* choices(): Generator<{ change: string; choice: FusionChoice }> {
  const { weights, settings } = TUNED_FUSION
  yield { change: '', choice: {} }
  for (const lane of ['graph', 'sparse'] as const) {
    for (const factor of FACTORS) {
      const value = rounded(weights[lane] * factor)
      yield { change: `${lane} ${value}`, choice: { weights: { ...weights, [lane]: value } } }
    }
  }
  const names = [
    'pool',
    'feedbackDocs',
    'feedbackTerms',
    'feedbackWeight',
    'coverage',
    'contentPairs',
    'textPairs',
    'similarTerms',
    'hops',
  ] as const
  const whole = new Set(['pool', 'feedbackDocs', 'feedbackTerms', 'hops'])
  for (const name of names) {
    const known = new Set<number>([settings[name]])
    for (const factor of FACTORS) {
      const scaled = settings[name] * factor
      const value = whole.has(name) ? Math.round(scaled) : rounded(scaled)
      if (known.has(value)) continue
      known.add(value)
      yield { change: `${name} ${value}`, choice: { settings: { [name]: value } } }
    }
  }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
