import { bm25Idf, bm25LengthNorm, bm25TermFrequency } from 'crux-retrieval'
import type { Pause } from 'crux-types'
import type { FactTable } from '../facts/fact-table.js'
import type { RowSet } from '../text/row-set.js'
import type { TenantIndex } from '../text/tenant-index.js'
import { termsOf } from '../text/terms-of.js'
import type { Sight } from './sight.js'

/** Words of a question that count; more of them say little and cost much. */
const MAX_TERMS = 64
const ROWS_PER_PAUSE = 256

/** How well rows answer a question, by what one caller sees. */
export interface RankedScan {
  /** Rows that hold any of the terms, whether or not the caller may see them. */
  readonly rows: RowSet
  /** BM25 of a row that the caller sees, over its entity as the caller sees it, its key and its value. */
  score(row: number): number
}

/**
 * Prepare to rank rows below `limit` by BM25.
 *
 * Numbers of facts, of facts that hold a term, and the mean length are taken over the rows that
 * `counts` accepts, so that no rank tells of facts that the caller does not see. Lengths are bytes.
 *
 * @param counts - Whether a row is one that the caller sees.
 * @returns Undefined when the question has no word that counts.
 */
export async function prepareRanking(
  table: FactTable,
  index: TenantIndex,
  sight: Sight,
  query: string,
  counts: (row: number) => boolean,
  limit: number,
  pause: Pause,
): Promise<RankedScan | undefined> {
  const terms = [...new Set(termsOf(query))].slice(0, MAX_TERMS)
  if (terms.length === 0) return undefined
  const { rows, perTerm } = await index.matchTerms(terms, limit, pause)
  let seen = 0
  let bytes = 0
  for (let row = 0; row < limit; row++) {
    if (counts(row)) {
      seen++
      bytes += lengthOf(table, row)
    }
    const waiting = (row & (ROWS_PER_PAUSE - 1)) === 0 ? pause() : undefined
    if (waiting !== undefined) await waiting
  }
  const weights = new Map<string, number>()
  for (const [at, term] of terms.entries()) {
    const holding = perTerm[at]
    let held = 0
    for (let row = holding?.previous(limit) ?? -1; row !== -1; row = holding?.previous(row) ?? -1) {
      if (counts(row)) held++
      const waiting = (row & (ROWS_PER_PAUSE - 1)) === 0 ? pause() : undefined
      if (waiting !== undefined) await waiting
    }
    weights.set(term, bm25Idf(seen, held))
  }
  const mean = Math.max(bytes / Math.max(seen, 1), 1)
  return {
    rows,
    score(row) {
      const counted = new Map<string, number>()
      for (const text of [sight.entity(row) ?? '', table.key(row), table.value(row)]) {
        for (const term of termsOf(text)) {
          if (weights.has(term)) counted.set(term, (counted.get(term) ?? 0) + 1)
        }
      }
      const norm = bm25LengthNorm(lengthOf(table, row), mean)
      let score = 0
      // In the order of the question, so that equal texts get equal sums.
      for (const [term, weight] of weights) {
        const frequency = counted.get(term)
        if (frequency !== undefined) score += weight * bm25TermFrequency(frequency, norm)
      }
      return score
    },
  }
}

function lengthOf(table: FactTable, row: number): number {
  const names =
    table.entities.lengthOf(table.entityOf.get(row)) + table.keys.lengthOf(table.keyOf.get(row))
  return names + table.valueBytes(row)
}
