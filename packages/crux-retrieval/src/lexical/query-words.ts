import { analyserOf, type Token } from '../analyser/analyser.js'
import type { AnalyserVersion } from './tenant-view.js'
import type { TermList } from './term-list.js'

/** A query of more UTF-16 units is analysed in slices. */
export const LONG_QUERY = 4096
/** UTF-16 units of a query analysed between two looks at the clock. */
const SLICE = 4096

/** A query as one analyser sees it: its tokens and, once they are looked up, their lists. */
export interface AnalysedQuery {
  readonly version: AnalyserVersion
  readonly tokens: readonly Token[]
  /** One per token; undefined for a stop word, which is not looked up. */
  readonly lists: (TermList | undefined)[]
}

/** Analyse a query in one go. */
export function analyseQuery(version: AnalyserVersion, query: string): AnalysedQuery {
  return { version, tokens: analyserOf(version).analyse(query), lists: [] }
}

/** {@link analyseQuery}, yielding where a pause may be taken. */
export function* analyseQueryInSlices(
  version: AnalyserVersion,
  query: string,
): Generator<void, AnalysedQuery> {
  const stream = analyserOf(version).stream(query)
  const tokens: Token[] = []
  const take = (token: Token) => {
    tokens.push(token)
  }
  while (stream.read(SLICE, take)) yield
  return { version, tokens, lists: [] }
}

/** Which words of a query the corpus knows. */
export interface WordCoverage {
  /** Words known over all words; 0 when there are none. */
  readonly score: number
  /** Words that are not known, as written, in order. */
  readonly missingTokens: readonly string[]
  readonly onlyStopWords: boolean
}

/**
 * Coverage of the words of a query: of those that stand alone and of the parts of compounds. A compound
 * as a whole, or two neighbouring characters, may miss where their parts are known.
 *
 * @param query - The text that was analysed.
 * @param main - Its tokens with their lists; stop words count neither way.
 * @param other - The same query by another analyser, for an index with segments of both: a word is
 *   known as well when a token there that shares characters with it is.
 */
export function coverageOf(
  query: string,
  { tokens, lists }: AnalysedQuery,
  other: AnalysedQuery | undefined,
): WordCoverage {
  let words = 0
  const missing: string[] = []
  let otherAt = 0
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token // `i` is below the length
    if (token.isStop || !isWord(tokens, i)) continue
    words += 1
    const list = lists[i]
    if (list !== undefined && list.df > 0) continue
    if (other !== undefined) {
      while (endsBefore(other.tokens[otherAt], token)) otherAt += 1
      if (isKnownThere(other, otherAt, token)) continue
    }
    missing.push(query.slice(token.start, token.end))
  }
  return {
    score: words === 0 ? 0 : (words - missing.length) / words,
    missingTokens: missing,
    onlyStopWords: words === 0 && tokens.length > 0,
  }
}

/** True for what counts as one word: also a compound of nothing but stop words. */
function isWord(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at] as Token // the caller's index
  if (token.kind === 'word' || token.kind === 'part') return true
  if (token.kind === 'gram') return false
  for (let i = at + 1; i < tokens.length; i++) {
    const part = tokens[i] as Token // `i` is below the length
    if (part.start >= token.end) break
    if (part.kind === 'part' && !part.isStop) return false
  }
  return true
}

function endsBefore(token: Token | undefined, { start }: Token): boolean {
  return token !== undefined && token.end <= start
}

function isKnownThere({ tokens, lists }: AnalysedQuery, from: number, { end }: Token): boolean {
  for (let i = from; i < tokens.length; i++) {
    const token = tokens[i] as Token // `i` is below the length
    if (token.start >= end) return false
    const list = lists[i]
    if (list !== undefined && list.df > 0) return true
  }
  return false
}
