import type { Pause } from './slices.js'
import { cutUtf8 } from './text.js'

/**
 * Store estimator: UTF-8 bytes over four, rounded up. Charged against token budgets.
 *
 * About four characters a token; comparable between calls to one daemon, not with a model's own count.
 */
export function storeTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

/** Dispatch estimator: UTF-8 bytes over four, rounded down, at least 1. Used for accounting. */
export function dispatchTokens(text: string): number {
  return Math.max(Math.floor(Buffer.byteLength(text) / 4), 1)
}

/** Says what texts cost against a token budget. */
export interface TokenCounter {
  /** `chars4`, or the name of a model's vocabulary. */
  readonly id: string
  /** Tokens of a text; the same whenever it is asked. Awaited for long texts. */
  count(text: string, pause: Pause): number | Promise<number>
  /** Tokens of a row of an answer, as its JSON. */
  countRow(json: string, pause: Pause): number | Promise<number>
  /** The longest start of a text that costs no more, cut between characters. */
  cut(text: string, tokens: number, pause: Pause): string | Promise<string>
}

/** The usual counter: four bytes a token, without a vocabulary. */
export const CHARS4: TokenCounter = Object.freeze({
  id: 'chars4',
  count: storeTokens,
  countRow: dispatchTokens,
  cut: (text: string, tokens: number) => cutUtf8(text, tokens * 4),
})

// The time that a vocabulary takes for text without spaces grows with the square of its length.
const PIECE_LENGTH = 512

/**
 * A counter over a model's vocabulary. Long texts are counted in pieces of 512 characters, with pauses
 * between, which adds about a token for each.
 *
 * @param count - Tokens of a text of at most 512 UTF-16 units, whatever it holds.
 */
export function vocabularyCounter(id: string, count: (text: string) => number): TokenCounter {
  const countText = (text: string, pause: Pause): number | Promise<number> =>
    text.length <= PIECE_LENGTH ? count(text) : countPieces(text, pause)
  const countPieces = async (text: string, pause: Pause): Promise<number> => {
    let tokens = 0
    for (const piece of piecesOf(text)) {
      tokens += count(piece)
      await pause()
    }
    return tokens
  }
  return {
    id,
    count: countText,
    countRow: countText,
    async cut(text, budget, pause) {
      let left = budget
      let end = 0
      for (const piece of piecesOf(text)) {
        const tokens = count(piece)
        if (tokens > left) return text.slice(0, end + fittingLength(piece, left, count))
        left -= tokens
        end += piece.length
        await pause()
      }
      return text
    },
  }
}

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + PIECE_LENGTH, text.length)
    if (end < text.length && isInsidePair(text, end)) end--
    yield text.slice(at, end)
    at = end
  }
}

/** Most units of a piece that cost no more than this, found by halving. */
function fittingLength(piece: string, tokens: number, count: (text: string) => number): number {
  let fits = 0
  let tooLong = piece.length
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >>> 1
    if (count(piece.slice(0, middle)) <= tokens) fits = middle
    else tooLong = middle
  }
  // A shorter text may, rarely, cost more.
  while (fits > 0 && (isInsidePair(piece, fits) || count(piece.slice(0, fits)) > tokens)) fits--
  return fits
}

/** Whether a place lies between the two units of one character. */
function isInsidePair(text: string, at: number): boolean {
  const unit = text.charCodeAt(at - 1)
  return unit >= 0xd800 && unit <= 0xdbff
}
