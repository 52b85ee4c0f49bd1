import type { Token } from '../analyser/analyser.js'
import type { TextRange } from './highlights.js'
import type { QueryTerms } from './query-terms.js'

/** Matches left behind by the window that are kept before they are dropped together. */
const MOST_PASSED = 256

interface Match extends TextRange {
  readonly term: number
}

/**
 * Finds the stretch of a text with the most terms of a query, from its tokens as they come. Among several
 * with equally many the one with more matches wins, then the shortest, then the first.
 */
export class BestWindow {
  /** Empty, at the start of the text, while nothing matches. */
  range: TextRange = { start: 0, end: 0 }
  private bestTerms = 0
  private bestMatches = 0
  /** Matches of the window at hand, from `first` on. */
  private matches: Match[] = []
  private first = 0
  private terms = 0
  private readonly counts: Uint32Array

  /** @param room - Most UTF-16 units from the first to the last match; one match alone may be longer. */
  constructor(
    private readonly query: QueryTerms,
    private readonly room: number,
  ) {
    this.counts = new Uint32Array(query.terms.size)
  }

  take({ term: name, isStop, start, end }: Token): void {
    const term = isStop ? undefined : this.query.terms.get(name)
    if (term === undefined) return
    this.matches.push({ term, start, end })
    if (this.add(term, 1) === 1) this.terms += 1
    let first = this.matches[this.first]
    while (first !== undefined && end - first.start > this.room && first.start < start) {
      if (this.add(first.term, -1) === 0) this.terms -= 1
      this.first += 1
      first = this.matches[this.first]
    }
    if (this.first > MOST_PASSED) {
      this.matches = this.matches.slice(this.first)
      this.first = 0
    }
    if (first === undefined) return
    const matches = this.matches.length - this.first
    const better =
      this.terms - this.bestTerms ||
      matches - this.bestMatches ||
      this.range.end - this.range.start - (end - first.start)
    if (better <= 0) return
    this.bestTerms = this.terms
    this.bestMatches = matches
    this.range = { start: first.start, end }
  }

  private add(term: number, change: number): number {
    const count = (this.counts[term] as number) + change // one count per term
    this.counts[term] = count
    return count
  }
}
