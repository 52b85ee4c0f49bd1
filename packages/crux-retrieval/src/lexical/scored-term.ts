import { BM25_K1, bm25Idf } from './bm25.js'
import type { TermList } from './term-list.js'

/** A term of a query with its documents. */
export interface ScoredTerm {
  readonly list: TermList
  /** What its share of a document's length and frequency is multiplied by, > 0: no document scores more for it. */
  readonly weight: number
}

/**
 * Weight of a term in a corpus.
 *
 * @param docs - Documents of the corpus.
 * @param df - Documents that hold the term.
 * @param factor - Times that the query holds it, or what it is multiplied by.
 */
export function termWeight(docs: number, df: number, factor: number): number {
  return bm25Idf(docs, df) * (BM25_K1 + 1) * factor
}

/**
 * Put the heaviest terms first, equal ones as they are.
 *
 * Scores are added up in this order whichever way documents are found, so that each way gives the
 * same sums to the last bit, and the order of the words in the query gives no other ranking.
 */
export function sortByWeight(terms: ScoredTerm[]): void {
  // Insertion sort: queries are short, or their terms are met in no order that matters.
  if (terms.length > 32) {
    terms.sort((a, b) => b.weight - a.weight)
    return
  }
  for (let i = 1; i < terms.length; i++) {
    const term = terms[i] as ScoredTerm // `i` is below the length, as is `at`
    let at = i
    while (at > 0 && (terms[at - 1] as ScoredTerm).weight < term.weight) {
      terms[at] = terms[at - 1] as ScoredTerm
      at -= 1
    }
    terms[at] = term
  }
}
