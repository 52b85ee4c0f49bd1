import {
  type Analyser,
  analyserOf,
  DEFAULT_ANALYSER_VERSION,
  type Token,
} from '../analyser/analyser.js'
import type { Steps } from '../lexical/term-collector.js'

/** UTF-16 units read between two looks at the clock. */
const SLICE = 8192
/** UTF-16 units of a piece of text that is remembered; most words are shorter. */
const MOST_PIECE_UNITS = 48
/** Pieces remembered. */
const MOST_PIECES = 8192

/** UTF-16 units searched for white space between two looks at the clock. */
const SEARCH_SLICE = 256 * 1024

/** A token of a text, with its place in that text. */
export type FoundToken = Pick<Token, 'term' | 'start' | 'end' | 'kind' | 'isStop' | 'position'>

/** The tokens of a piece of text that have to do with the query, from its start. */
interface Piece {
  readonly tokens: readonly Token[]
  /** Words in it, whether they have to do with the query or not. */
  readonly words: number
}

/** The terms of a query, to be looked for in texts. */
export class QueryTerms {
  /** Terms that are scored, numbered from 0. */
  readonly terms = new Map<string, number>()
  /** Words that count only between others. */
  readonly stops = new Set<string>()
  private readonly analyser: Analyser = analyserOf(DEFAULT_ANALYSER_VERSION)
  private readonly pieces = new Map<string, Piece>()

  /** The terms of a query, yielding where a pause may be taken. */
  static *of(query: string): Steps<QueryTerms> {
    const found = new QueryTerms()
    const stream = found.analyser.stream(query)
    const take = ({ term, isStop }: Token) => {
      if (isStop) found.stops.add(term)
      else if (!found.terms.has(term)) found.terms.set(term, found.terms.size)
    }
    while (stream.read(SLICE, take)) yield
    return found
  }

  /** Whether a token of a text is one of the query. */
  private has({ term, isStop }: Token): boolean {
    return isStop ? this.stops.has(term) : this.terms.has(term)
  }

  /**
   * Give the tokens of a text that have to do with the query, and those beside them in one word, to
   * `take`, in order, until it returns false.
   *
   * No token spans white space: so the text is read piece by piece, and each piece analysed once.
   */
  *find(text: string, take: (token: FoundToken) => boolean): Steps<void> {
    let position = 0
    let nextPause = SLICE
    for (let at = 0; at < text.length; ) {
      const end = yield* pieceEnd(text, at)
      if (end - at > MOST_PIECE_UNITS) {
        position = yield* this.findInLong(text.slice(at, end), at, position, take)
        if (position < 0) return
      } else if (end > at) {
        const { tokens, words } = this.readPiece(text.slice(at, end))
        for (const token of tokens) if (!take(moved(token, at, position))) return
        position += words
      }
      at = end + 1
      if (at < nextPause) continue
      nextPause = at + SLICE
      yield
    }
  }

  /** @returns Words up to the end of the piece; -1 when no more are wanted. */
  private *findInLong(
    text: string,
    at: number,
    position: number,
    take: (token: FoundToken) => boolean,
  ): Steps<number> {
    const stream = this.analyser.stream(text)
    let isWanted = true
    let words = 0
    const takeMoved = (token: Token) => {
      words = Math.max(words, wordsUpTo(token))
      if (isWanted) isWanted = take(moved(token, at, position))
    }
    while (stream.read(SLICE, takeMoved) && isWanted) yield
    return isWanted ? position + words : -1
  }

  private readPiece(text: string): Piece {
    const known = this.pieces.get(text)
    if (known !== undefined) return known
    const piece = this.pieceOf(this.analyser.analyse(text))
    if (this.pieces.size === MOST_PIECES) this.pieces.clear()
    this.pieces.set(text, piece)
    return piece
  }

  private pieceOf(tokens: readonly Token[]): Piece {
    const words = tokens.reduce((most, token) => Math.max(most, wordsUpTo(token)), 0)
    return { tokens: tokens.some((token) => this.has(token)) ? tokens : [], words }
  }
}

/** Where the next ASCII white space is, from `at` on; else the end. */
function* pieceEnd(text: string, at: number): Steps<number> {
  let end = at
  while (end < text.length && !isSpace(text.charCodeAt(end))) {
    end += 1
    if (end % SEARCH_SLICE === 0) yield
  }
  return end
}

/** Words of a text up to the end of a token: a compound and a gram are none of their own. */
function wordsUpTo({ kind, position }: Token): number {
  return kind === 'word' || kind === 'part' ? position + 1 : 0
}

/** ASCII white space, which no token spans. */
export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function moved(token: Token, at: number, position: number): FoundToken {
  const { term, kind, isStop } = token
  return {
    term,
    kind,
    isStop,
    start: token.start + at,
    end: token.end + at,
    position: token.position + position,
  }
}
