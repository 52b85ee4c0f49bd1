import type { Steps } from 'crux-types'
import { analyserOf, DEFAULT_ANALYSER_VERSION, type Token } from '../analyser/analyser.js'

/** UTF-16 units analysed between two looks at the clock. */
const SLICE = 8192

/** The terms of a query, to be looked for in texts. */
export interface QueryTerms {
  /** Terms that are scored, numbered from 0. */
  readonly terms: ReadonlyMap<string, number>
  /** Words that count only between others. */
  readonly stops: ReadonlySet<string>
}

/** The terms of a query, yielding where a pause may be taken. */
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

/** Give the tokens of a text to `take`, in order, until it returns false; yields as well. */
export function* eachToken(text: string, take: (token: Token) => boolean): Steps<void> {
  // Words that were read before are not remembered: looking them up takes longer than reading them.
  const stream = analyserOf(DEFAULT_ANALYSER_VERSION).stream(text)
  let isWanted = true
  const takeWanted = (token: Token) => {
    if (isWanted) isWanted = take(token)
  }
  while (stream.read(SLICE, takeWanted) && isWanted) yield
}
