import { analyserOf, DEFAULT_ANALYSER_VERSION, type Token } from '../analyser/analyser.js'
import type { Steps } from '../lexical/term-collector.js'

/** A stretch of a text, in UTF-16 units; `end` is exclusive. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** The words of a query, to be looked for in texts. */
export interface QueryTerms {
  /** Terms that are scored, numbered from 0. */
  readonly terms: ReadonlyMap<string, number>
  /** Words that are matched only between others. */
  readonly stops: ReadonlySet<string>
}

/** UTF-16 units analysed between two looks at the clock. */
const SLICE = 4096

/** Most ranges that are given for one text. */
export const MOST_HIGHLIGHTS = 10_000

/** The terms of a query. */
export function* readQueryTerms(query: string): Steps<QueryTerms> {
  const terms = new Map<string, number>()
  const stops = new Set<string>()
  yield* eachToken(query, ({ term, isStop }) => {
    if (isStop) stops.add(term)
    else if (!terms.has(term)) terms.set(term, terms.size)
    return true
  })
  return { terms, stops }
}

/**
 * Where words of the query stand in a text, in order; those that touch or overlap are one range. A
 * stop word counts where it stands between words that match, with nothing but such words between.
 *
 * @param most - Ranges after which no more are looked for.
 */
export function* findHighlights(
  text: string,
  query: QueryTerms,
  most: number = MOST_HIGHLIGHTS,
): Steps<readonly TextRange[]> {
  const found = new Highlights(query)
  if (query.terms.size > 0) {
    yield* eachToken(text, (token) => {
      found.take(token)
      return found.ranges.length <= most
    })
  }
  return found.ranges.slice(0, most)
}

/** Give the tokens of a text to `take` until it returns false. */
export function* eachToken(text: string, take: (token: Token) => boolean): Steps<void> {
  const stream = analyserOf(DEFAULT_ANALYSER_VERSION).stream(text)
  let isWanted = true
  const takeWanted = (token: Token) => {
    if (isWanted) isWanted = take(token)
  }
  while (stream.read(SLICE, takeWanted) && isWanted) yield
}

class Highlights {
  readonly ranges: { start: number; end: number }[] = []
  /** Stop words behind a match, which count once another match follows. */
  private between: TextRange[] = []
  /** Position of the last word of the run at hand; words that follow it have the next. */
  private runEnd = Number.NEGATIVE_INFINITY
  /** Where the last compound that matches ends: its parts match with it. */
  private compoundEnd = 0

  constructor(private readonly query: QueryTerms) {}

  take(token: Token): void {
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
    else this.ranges.push({ start, end })
  }
}
