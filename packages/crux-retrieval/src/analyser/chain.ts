import {
  ALPHANUMERIC,
  ASCII_KINDS,
  DIGIT,
  isApostrophe,
  joinerEnd,
  LOWER,
  UPPER,
} from './ascii-kinds.js'
import { MOST_WORD_UNITS } from './fold-case.js'
import {
  CLASS_MASK,
  characterClass,
  IS_UNSPACED,
  IS_WORDY,
  WORD_BREAK,
} from './word-break-classes.js'
import { nextWordBreak } from './word-breaks.js'

/** Words of a chain; what follows is another chain. */
const MOST_CHAIN_WORDS = 64

/**
 * The words that are joined without white space, as in `user_id` or a path; most often one.
 *
 * One object is filled anew for each chain.
 */
export class Chain {
  /** Words in the chain; 0 when no letter or digit was found. */
  words = 0
  /** By word: where it starts and ends, in UTF-16 units. */
  readonly starts: number[] = []
  readonly ends: number[] = []
  /** By word: whether it may split inside, by its capitals or digits. */
  readonly mixed: boolean[] = []
  isAscii = false
  /** Where to read on. */
  next = 0

  /**
   * Fill in the chain that starts at a character for which {@link startsWord} is true.
   *
   * @param isFast - Whether ASCII may be read by its table; the result is the same.
   */
  scan(text: string, at: number, isFast: boolean): void {
    this.isAscii = isFast && this.scanAscii(text, at)
    if (!this.isAscii) this.scanAny(text, at)
  }

  /** @returns False when a character past ASCII was met, and the chain must be scanned anew. */
  private scanAscii(text: string, from: number): boolean {
    const { length } = text
    this.words = 0
    let at = from
    for (;;) {
      const start = at
      const limit = Math.min(start + MOST_WORD_UNITS, length)
      let kind = 0
      let kinds = 0
      let laterKinds = 0
      while (at < limit) {
        const code = text.charCodeAt(at)
        if (code >= 0x80) return false
        const found = (ASCII_KINDS[code] as number) & ALPHANUMERIC // the table has 128 places
        if (found === 0) {
          if (kind !== DIGIT || at + 1 === limit || !isInNumber(code)) break
          const next = text.charCodeAt(at + 1)
          if (next >= 0x80) return false
          if (ASCII_KINDS[next] !== DIGIT) break
        } else {
          kind = found
          kinds |= found
          if (at > start) laterKinds |= found
        }
        at += 1
      }
      const hasHump = (laterKinds & UPPER) !== 0 && (kinds & LOWER) !== 0
      const hasNumber = (kinds & DIGIT) !== 0 && kinds !== DIGIT
      this.add(start, at, hasHump || hasNumber)
      if (this.words === MOST_CHAIN_WORDS || at - start >= MOST_WORD_UNITS) break
      const end = joinerEnd(text, at)
      const next = text.charCodeAt(end)
      if (next >= 0x80) return false
      if (end === at || !((ASCII_KINDS[next] ?? 0) & ALPHANUMERIC)) break
      at = end
    }
    this.next = at
    return true
  }

  private scanAny(text: string, from: number): void {
    this.words = 0
    let at = from
    for (;;) {
      const limit = Math.min(at + MOST_WORD_UNITS, text.length)
      const end = withoutPunctuation(text, at, nextWordBreak(text, at, limit, endsWord))
      if (!hasLetterOrDigit(text, at, end)) {
        if (this.words === 0) this.next = end
        return
      }
      this.add(at, end, true)
      this.next = end
      if (this.words === MOST_CHAIN_WORDS || end - at >= MOST_WORD_UNITS) return
      at = joinerEnd(text, end)
      if (at === end || at >= text.length || !startsWord(text.codePointAt(at) ?? 0)) return
    }
  }

  private add(start: number, end: number, isMixed: boolean): void {
    const { words } = this
    this.starts[words] = start
    this.ends[words] = end
    this.mixed[words] = isMixed
    this.words = words + 1
  }
}

/** Whether a word may start with a code point; characters written without spaces are no words. */
export function startsWord(code: number): boolean {
  if (code < 0x80) return ((ASCII_KINDS[code] as number) & ALPHANUMERIC) !== 0
  const bits = characterClass(code)
  if (bits & IS_UNSPACED || isApostrophe(code)) return false
  if (bits & IS_WORDY) return true
  const found = bits & CLASS_MASK
  return found === WORD_BREAK.aLetter || found === WORD_BREAK.numeric
}

/** What may stand between two digits of one number: . , ; ' */
function isInNumber(code: number): boolean {
  return code === 0x2e || code === 0x2c || code === 0x3b || code === 0x27
}

/** Cuts words at joiners, which UAX 29 leaves inside when letters are on both sides. */
function endsWord(code: number, isNumber: boolean): boolean {
  if (code === 0x5f || code === 0x2bc) return true
  if (code === 0x2e || code === 0x3a || isApostrophe(code)) return !isNumber
  return code >= 0x80 && (characterClass(code) & IS_UNSPACED) !== 0
}

/** The end of a word less what stands behind its last letter, digit or mark of one. */
function withoutPunctuation(text: string, start: number, end: number): number {
  let last = end
  for (let at = end; at > start; ) {
    const isPair = at - start > 1 && (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00
    at -= isPair ? 2 : 1
    switch (characterClass(text.codePointAt(at) ?? 0) & CLASS_MASK) {
      case WORD_BREAK.extend:
      case WORD_BREAK.format:
      case WORD_BREAK.zwj:
        break
      case WORD_BREAK.singleQuote:
      case WORD_BREAK.doubleQuote:
      case WORD_BREAK.midLetter:
      case WORD_BREAK.midNum:
      case WORD_BREAK.midNumLet:
      case WORD_BREAK.extendNumLet:
        last = at
        break
      default:
        return last
    }
  }
  return end
}

function hasLetterOrDigit(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.codePointAt(at) ?? 0
    if (characterClass(code) & IS_WORDY) return true
    if (code > 0xffff) at += 1
  }
  return false
}
