import { runNow, type Steps } from '../lexical/term-collector.js'
import {
  eachToken,
  findHighlights,
  type QueryTerms,
  readQueryTerms,
  type TextRange,
} from './match-text.js'
import { cutAtWords } from './word-cuts.js'

/** A stretch of a text that says what it has to do with a query. */
export interface Snippet {
  /** With `…` where text was left out, and a space for every line break or tab. */
  readonly text: string
  /** Words of the query in `text`. */
  readonly highlights: readonly TextRange[]
  /** Where the stretch starts in the whole text, in UTF-16 units; `end` is exclusive. */
  readonly start: number
  readonly end: number
}

/** UTF-16 units of a snippet for which no length is given. */
export const DEFAULT_SNIPPET_LENGTH = 200

const ELLIPSIS = '…'
/** Text read beside a snippet, so that words at its ends are read as in the whole text. */
const CONTEXT = 160

/**
 * The stretch of a text with the most words of a query, and where these stand in it. Among several
 * with equally many the one with more matches wins, then the shortest, then the first; a text
 * without a match gives its beginning. It begins and ends between words, or between characters where
 * a word is too long. In one go: about 100 ms per MiB.
 *
 * @param options.length - Most UTF-16 units, ellipses included; integer >= 8, default 200.
 * @throws {RangeError} When the length is out of range.
 */
export function snippet(
  text: string,
  query: string,
  options: { readonly length?: number } = {},
): Snippet {
  const { length = DEFAULT_SNIPPET_LENGTH } = options
  requireSnippetLength(length)
  return runNow(findSnippet(text, runNow(readQueryTerms(query)), length))
}

/** @throws {RangeError} When the length of a snippet is out of range. */
export function requireSnippetLength(length: number): void {
  if (Number.isSafeInteger(length) && length >= 8) return
  throw new RangeError(`snippet length: expected an integer from 8, got ${length}`)
}

/** {@link snippet} of known terms, yielding where a pause may be taken. */
export function* findSnippet(text: string, query: QueryTerms, length: number): Steps<Snippet> {
  if (text.length <= length) return yield* snippetOf(text, query, { start: 0, end: text.length })
  const room = length - 2 * ELLIPSIS.length
  const best = new BestWindow(query, room)
  if (query.terms.size > 0) {
    yield* eachToken(text, (token) => {
      const term = token.isStop ? undefined : query.terms.get(token.term)
      if (term !== undefined) best.take(term, token.start, token.end)
      return true
    })
  }
  return yield* snippetOf(text, query, cutAtWords(text, best.range, room))
}

function* snippetOf(text: string, query: QueryTerms, { start, end }: TextRange): Steps<Snippet> {
  const before = start > 0 ? ELLIPSIS : ''
  const after = end < text.length ? ELLIPSIS : ''
  const from = spaceBefore(text, start)
  const to = spaceAfter(text, end)
  const shift = from - start + before.length
  const last = before.length + end - start
  const highlights: TextRange[] = []
  for (const range of yield* findHighlights(text.slice(from, to), query)) {
    const clipped = {
      start: Math.max(range.start + shift, before.length),
      end: Math.min(range.end + shift, last),
    }
    if (clipped.start < clipped.end) highlights.push(clipped)
  }
  // One for one, so that the places stay right.
  const shown = text.slice(start, end).replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, ' ')
  return { text: `${before}${shown}${after}`, highlights, start, end }
}

/** A little before a place, behind white space if there is some. */
function spaceBefore(text: string, at: number): number {
  const least = Math.max(at - CONTEXT, 0)
  for (let from = at; from > least; from--) if (isSpace(text.charCodeAt(from - 1))) return from
  return least === 0 ? 0 : at
}

function spaceAfter(text: string, at: number): number {
  const most = Math.min(at + CONTEXT, text.length)
  for (let to = at; to < most; to++) if (isSpace(text.charCodeAt(to))) return to
  return most === text.length ? most : at
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

interface Match extends TextRange {
  readonly term: number
}

/** Finds the best window over the matches of a text as they come. */
class BestWindow {
  range: TextRange = { start: 0, end: 0 }
  private bestTerms = 0
  private bestMatches = 0
  /** Matches of the window at hand, from `first` on. */
  private matches: Match[] = []
  private first = 0
  private terms = 0
  private readonly counts: Uint32Array

  constructor(
    { terms }: QueryTerms,
    private readonly room: number,
  ) {
    this.counts = new Uint32Array(terms.size)
  }

  take(term: number, start: number, end: number): void {
    this.matches.push({ term, start, end })
    if (this.add(term, 1) === 1) this.terms += 1
    let first = this.matches[this.first]
    // One match alone may be longer than the room.
    while (first !== undefined && end - first.start > this.room && first.start < start) {
      if (this.add(first.term, -1) === 0) this.terms -= 1
      this.first += 1
      first = this.matches[this.first]
    }
    if (this.first > 256) {
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
