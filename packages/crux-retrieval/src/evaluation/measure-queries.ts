import { createPauser } from 'crux-types'
import type { CollectionQuery } from './collection.js'
import { ndcgAt, percentile, recallAt } from './metrics.js'

/** Answers a query with the ids of the documents found, best first; at most 10 are looked at. */
export type RankIds = (query: CollectionQuery) => readonly string[] | Promise<readonly string[]>

/** How well a search ranked, over the queries that have a relevant document. */
export interface QueryGrades {
  /** Mean of `ndcgAt` 10; 0..1. */
  readonly ndcg10: number
  /** Mean of `recallAt` 10; 0..1. */
  readonly recall10: number
}

/** How long a search took for one query, in microseconds. */
export interface QueryTimes {
  /** Half of the answers took no longer. */
  readonly p50Us: number
  /** 95 of 100 answers took no longer. */
  readonly p95Us: number
}

const CUT = 10

/** Ask every query once and grade the answers. Warms the search up, too. */
export async function gradeQueries(
  queries: readonly CollectionQuery[],
  search: RankIds,
  options: { signal?: AbortSignal } = {},
): Promise<QueryGrades> {
  const pause = createPauser(options)
  const gains: number[] = []
  const recalls: number[] = []
  for (const query of queries) {
    const ranking = await search(query)
    const gain = ndcgAt(CUT, ranking, query.relevance)
    const recall = recallAt(CUT, ranking, query.relevance)
    if (gain !== undefined && recall !== undefined) {
      gains.push(gain)
      recalls.push(recall)
    }
    await pause()
  }
  return { ndcg10: mean(gains), recall10: mean(recalls) }
}

/**
 * Ask every query once, one at a time, on the clock.
 *
 * @returns Microseconds per query, in their order.
 */
export async function timeQueries(
  queries: readonly CollectionQuery[],
  search: RankIds,
  options: { signal?: AbortSignal } = {},
): Promise<number[]> {
  const pause = createPauser(options)
  const times: number[] = []
  for (const query of queries) {
    const start = performance.now()
    const answer = search(query)
    // A search that answers at once is not charged a turn of the event loop.
    if (answer instanceof Promise) await answer
    times.push((performance.now() - start) * 1000)
    await pause()
  }
  return times
}

/**
 * The times of many answers in two numbers.
 *
 * @throws {RangeError} When there are none.
 */
export function summariseTimes(times: readonly number[]): QueryTimes {
  return { p50Us: percentile(times, 0.5), p95Us: percentile(times, 0.95) }
}

function mean(values: readonly number[]): number {
  if (values.length === 0) return 0
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
