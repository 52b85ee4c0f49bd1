import type { Token } from '../analyser/analyser.js'
import type { QueryTerms } from './query-terms.js'

/** A stretch of a text, in UTF-16 units; `end` is exclusive. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** Most ranges that are given for one text. */
export const MOST_HIGHLIGHTS = 10_000

/**
 * Finds where words of a query stand in a text, from its tokens as they come: in order, and as one
 * range where they touch or overlap. A stop word counts where it stands between words that match,
 * with nothing but such words between.
 */
export class Highlights {
  readonly ranges: { start: number; end: number }[] = []
  /** Stop words behind a match, which count once another match follows. */
  private between: TextRange[] = []
  /** Position of the last word of the run at hand; words that follow it have the next. */
  private runEnd = Number.NEGATIVE_INFINITY
  /** Where the last compound that matches ends: its parts match with it. */
  private compoundEnd = 0

  constructor(private readonly query: QueryTerms) {}

  /** Whether there are {@link MOST_HIGHLIGHTS}, and no more are taken. */
  get isFull(): boolean {
    return this.ranges.length === MOST_HIGHLIGHTS
  }

  take(token: Token): void {
    if (this.isFull) return
    const { term, kind, isStop, end, position } = token
    const isMatch = !isStop && this.query.terms.has(term)
    if (kind === 'compound' || kind === 'gram') {
      if (!isMatch) return
      this.closeRun(position)
      this.put(token)
      if (kind === 'compound') {
        this.compoundEnd = end
        // Its first word has the same position, and goes on with the run.
        this.runEnd = position - 1
      }
    } else if (isMatch || end <= this.compoundEnd) {
      this.closeRun(position)
      if (isMatch) this.put(token)
      this.runEnd = position
    } else if (isStop && position === this.runEnd + 1 && this.query.stops.has(term)) {
      this.between.push(token)
      this.runEnd = position
    } else {
      this.runEnd = Number.NEGATIVE_INFINITY
      this.between = []
    }
  }

  /** A match at this position: what waits belongs to it when it stands right before. */
  private closeRun(position: number): void {
    if (this.between.length === 0) return
    if (position === this.runEnd + 1) for (const range of this.between) this.put(range)
    this.between = []
  }

  private put({ start, end }: TextRange): void {
    const last = this.ranges.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else if (!this.isFull) this.ranges.push({ start, end })
  }
}
