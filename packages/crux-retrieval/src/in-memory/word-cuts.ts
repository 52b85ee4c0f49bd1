import type { TextRange } from './highlights.js'

/** Text looked at beside a cut. */
const CONTEXT = 64

/**
 * A stretch of a text around a range, about as long as there is room, that begins and ends between
 * words; between characters where a word does not fit. Never within a pair of surrogates.
 *
 * @param room - Most UTF-16 units; at least 1, and less than the text has.
 */
export function cutAtWords(text: string, { start, end }: TextRange, room: number): TextRange {
  const around = Math.max(room - (end - start), 0)
  // More of what follows: what comes before a word is less often about it.
  const wanted = Math.max(start - Math.floor(around / 3), 0)
  const from = Math.min(wanted, Math.max(text.length - room, 0), start)
  const to = Math.min(from + room, text.length)
  const first = cutForward(text, from, start)
  // Something is shown, also where no word fits.
  const last = cutBack(text, to, Math.max(Math.min(end, to), first + 1))
  return trim(text, { start: first, end: last })
}

/** The first place between words from `at` on, if it is not behind `latest`; else between characters. */
function cutForward(text: string, at: number, latest: number): number {
  if (at <= 0) return 0
  for (const kind of ['word', 'grapheme'] as const) {
    const piece = pieceAt(text, at, kind)
    if (piece.start === at) return at
    if (piece.isWhole && piece.end <= latest) return piece.end
    if (kind === 'grapheme') return piece.start
  }
  return at
}

/** The last place between words up to `at`, if it is not before `earliest`; else between characters. */
function cutBack(text: string, at: number, earliest: number): number {
  if (at >= text.length) return text.length
  const word = pieceAt(text, at, 'word')
  if (word.start === at || (word.isWhole && word.start >= earliest)) return word.start
  const character = pieceAt(text, at, 'grapheme')
  return character.start >= earliest ? character.start : character.end
}

interface Piece extends TextRange {
  /** False when it may go on where the text looked at ends. */
  readonly isWhole: boolean
}

/** The word, run of spaces or sign, or the character, that holds a place within the text. */
function pieceAt(text: string, at: number, by: 'word' | 'grapheme'): Piece {
  const from = Math.max(at - CONTEXT, 0)
  const to = Math.min(at + CONTEXT, text.length)
  const found = segmenter(by)
    .segment(text.slice(from, to))
    .containing(at - from)
  const start = from + (found?.index ?? at - from)
  const end = start + (found?.segment.length ?? 1)
  const isWhole = (start > from || from === 0) && (end < to || to === text.length)
  return { start, end, isWhole }
}

function trim(text: string, { start, end }: TextRange): TextRange {
  const shown = text.slice(start, end)
  const from = start + (shown.length - shown.trimStart().length)
  return from >= end ? { start, end } : { start: from, end: start + shown.trimEnd().length }
}

const segmenters: { word?: Intl.Segmenter; grapheme?: Intl.Segmenter } = {}

/** Made at first use, which takes a few milliseconds. */
function segmenter(granularity: 'word' | 'grapheme'): Intl.Segmenter {
  const made = segmenters[granularity] ?? new Intl.Segmenter('und', { granularity })
  segmenters[granularity] = made
  return made
}
