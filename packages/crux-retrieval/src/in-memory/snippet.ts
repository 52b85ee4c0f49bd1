import { runNow, type Steps } from 'crux-types'
import { BestWindow } from './best-window.js'
import { Highlights, type TextRange } from './highlights.js'
import { eachToken, type QueryTerms, readQueryTerms } from './query-terms.js'
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
 * a word is too long. In one go: about 50 ms per MiB.
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
  const terms = runNow(readQueryTerms(query))
  const marks = runNow(markText(text, terms, { snippetLength: length }))
  return marks.snippet ?? { text, highlights: [], start: 0, end: text.length }
}

/** @throws {RangeError} When the length of a snippet is out of range. */
export function requireSnippetLength(length: number): void {
  if (Number.isSafeInteger(length) && length >= 8) return
  throw new RangeError(`snippet length: expected an integer from 8, got ${length}`)
}

/** What to find in a text. */
export interface WantedMarks {
  /** Length of the snippet; undefined for none. */
  readonly snippetLength?: number | undefined
  readonly highlights?: boolean
}

/** Where the words of a query stand in a text, as far as it is asked for. */
export interface TextMarks {
  readonly snippet: Snippet | undefined
  readonly highlights: readonly TextRange[] | undefined
}

/** Look for the words of a query in a text, reading it once; yields where a pause may be taken. */
export function* markText(text: string, query: QueryTerms, wanted: WantedMarks): Steps<TextMarks> {
  const { snippetLength: length } = wanted
  const room = length === undefined ? 0 : length - 2 * ELLIPSIS.length
  const window =
    length === undefined || text.length <= length ? undefined : new BestWindow(query, room)
  const highlights = wanted.highlights === true ? new Highlights(query) : undefined
  if (query.terms.size > 0 && (window !== undefined || highlights !== undefined)) {
    yield* eachToken(text, (token) => {
      window?.take(token)
      highlights?.take(token)
      return window !== undefined || highlights?.isFull === false
    })
  }
  const range =
    window === undefined ? { start: 0, end: text.length } : cutAtWords(text, window.range, room)
  return {
    snippet: length === undefined ? undefined : yield* snippetOf(text, query, range),
    highlights: highlights?.ranges,
  }
}

function* snippetOf(text: string, query: QueryTerms, { start, end }: TextRange): Steps<Snippet> {
  const before = start > 0 ? ELLIPSIS : ''
  const after = end < text.length ? ELLIPSIS : ''
  const from = spaceBefore(text, start)
  const to = spaceAfter(text, end)
  const shift = from - start + before.length
  const last = before.length + end - start
  const highlights: TextRange[] = []
  const near = yield* markText(text.slice(from, to), query, { highlights: true })
  for (const range of near.highlights ?? []) {
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
