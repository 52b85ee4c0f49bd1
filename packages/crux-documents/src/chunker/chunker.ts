import { type MarkdownSection, markdownSections } from './markdown-sections.js'

/** A passage of a document, ready to be ingested. */
export interface Chunk {
  /**
   * `c00001` for the first chunk of a document, then counting up: equal text gives equal ids, and
   * an edit changes the ids of no chunk before it.
   */
  readonly chunkId: string
  /** `document.slice(start, end)`; never blank, no white space around it. */
  readonly text: string
  /** Titles of the headings that enclose the passage, outermost first. */
  readonly headingPath: readonly string[]
  /** UTF-16 offsets into the document. */
  readonly start: number
  readonly end: number
}

/** Longest chunk, in Unicode characters. */
export const MAX_CHUNK_CHARACTERS = 1800
/** A long text is cut no earlier than this many characters into a chunk. */
export const MIN_CUT_CHARACTERS = 1200
/** Characters that a chunk repeats from the end of the one before it. */
export const CHUNK_OVERLAP_CHARACTERS = 180

/**
 * Cut plain text into overlapping chunks, at a blank line where one is near, else at white space.
 *
 * @returns Chunks in order; none for blank text.
 */
export function chunkText(text: string): readonly Chunk[] {
  return chunksOf(text, [{ start: 0, end: text.length, headingPath: [] }])
}

/**
 * Cut Markdown into chunks that never cross an ATX heading; long sections are cut like plain text.
 *
 * @returns Chunks in order, with the titles of the headings around them; none for blank text.
 */
export function chunkMarkdown(text: string): readonly Chunk[] {
  return chunksOf(text, markdownSections(text))
}

function chunksOf(text: string, sections: readonly MarkdownSection[]): readonly Chunk[] {
  const chunks: Chunk[] = []
  for (const { start, end, headingPath } of sections) {
    for (const window of windows(text, start, end)) {
      const chunkId = `c${String(chunks.length + 1).padStart(5, '0')}`
      chunks.push({ chunkId, text: text.slice(window.start, window.end), headingPath, ...window })
    }
  }
  return chunks
}

interface Span {
  readonly start: number
  readonly end: number
}

function* windows(text: string, from: number, to: number): Generator<Span> {
  const whole = trimmed(text, from, to)
  let start = whole.start
  while (start < whole.end) {
    const ideal = forward(text, start, whole.end, MAX_CHUNK_CHARACTERS)
    const end = ideal === whole.end ? ideal : cutBefore(text, start, ideal)
    const span = trimmed(text, start, end)
    if (span.start < span.end) yield span
    if (end === whole.end) return
    const next = backward(text, end, CHUNK_OVERLAP_CHARACTERS)
    start = next > start ? next : end
  }
}

/** Where to end a window that starts at `start` and may reach to `ideal`. */
function cutBefore(text: string, start: number, ideal: number): number {
  const earliest = forward(text, start, ideal, MIN_CUT_CHARACTERS)
  let afterSpace: number | undefined
  for (let at = ideal; at >= earliest; at--) {
    if (isAfterBlankLine(text, at)) return at
    if (afterSpace === undefined && isSpace(text, at - 1)) afterSpace = at
  }
  return afterSpace ?? ideal
}

/** A blank line is two line breaks in a row; CR LF counts as one break. */
function isAfterBlankLine(text: string, at: number): boolean {
  if (text[at - 1] !== '\n') return false
  return text[at - 2] === '\n' || (text[at - 2] === '\r' && text[at - 3] === '\n')
}

const SPACE = /\s/

function isSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit === 32 || (unit >= 9 && unit <= 13) || (unit > 127 && SPACE.test(text.charAt(at)))
}

function trimmed(text: string, from: number, to: number): Span {
  let start = from
  let end = to
  while (start < end && isSpace(text, start)) start++
  while (end > start && isSpace(text, end - 1)) end--
  return { start, end }
}

/** The offset `characters` after `at`, at most `limit`; surrogate pairs are one character. */
function forward(text: string, at: number, limit: number, characters: number): number {
  let offset = at
  for (let n = 0; n < characters && offset < limit; n++) {
    offset += isPair(text, offset) ? 2 : 1
  }
  return Math.min(offset, limit)
}

function backward(text: string, at: number, characters: number): number {
  let offset = at
  for (let n = 0; n < characters && offset > 0; n++) {
    offset -= offset > 1 && isPair(text, offset - 2) ? 2 : 1
  }
  return offset
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
