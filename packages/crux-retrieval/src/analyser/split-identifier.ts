import { ASCII_KINDS, DIGIT, LOWER, UPPER } from './ascii-kinds.js'
import {
  CLASS_MASK,
  characterClass,
  IS_DIGIT,
  IS_UPPER,
  IS_WORDY,
  WORD_BREAK,
} from './word-break-classes.js'

/** A word that falls into more parts is rather a code than a name, and stays whole. */
export const MOST_PARTS = 16
/** As does one with more numbers in it, such as a checksum. */
const MOST_NUMBERS = 2

/**
 * Where the parts of a word end that its capitals and digits set apart: `getUserById`,
 * `HTTPServer2`, `utf8`.
 *
 * A part ends before a capital behind a small letter, between a letter and a digit, and before the
 * last of several capitals that small letters follow. One small letter alone behind several
 * capitals is a part of its own, but an `s` belongs to them (`URLs`). Marks go with the
 * character before; punctuation inside a word holds both its sides together.
 *
 * @param ends - Filled with the ends, in UTF-16 units; the last is `end`.
 */
export function splitIdentifier(text: string, start: number, end: number, ends: number[]): void {
  ends.length = 0
  let kind = 0
  let capitals = 0
  let lastCapital = start
  let numbers = 0
  let isHeld = false
  let at = start
  while (at < end) {
    const code = text.codePointAt(at) ?? 0
    const found = kindOf(code)
    const units = code > 0xffff ? 2 : 1
    if (found !== 0) {
      if (found === DIGIT && kind !== DIGIT) numbers += 1
      if (kind !== 0 && kind !== found && !isHeld) {
        if (found !== LOWER || kind !== UPPER) ends.push(at)
        else if (capitals > 1) {
          const isAlone = at + units >= end || isOther(text.codePointAt(at + units) ?? 0)
          if (!isAlone) ends.push(lastCapital)
          else if (code !== 0x73) ends.push(at)
        }
      }
      if (found === UPPER) {
        capitals = kind === UPPER && !isHeld ? capitals + 1 : 1
        lastCapital = at
      }
      kind = found
      isHeld = false
    } else if (isPunctuation(code)) isHeld = true
    at += units
  }
  ends.push(end)
  if (ends.length > MOST_PARTS || numbers > MOST_NUMBERS) {
    ends.length = 0
    ends.push(end)
  }
}

/** 0 for what goes with the character before. */
function kindOf(code: number): number {
  if (code < 0x80) return (ASCII_KINDS[code] as number) & (LOWER | UPPER | DIGIT)
  const bits = characterClass(code)
  if (bits & IS_UPPER) return UPPER
  if (bits & IS_DIGIT) return DIGIT
  return bits & IS_WORDY ? LOWER : 0
}

/** What stands inside a word and is no mark, such as the point of the Catalan `l·l`. */
function isPunctuation(code: number): boolean {
  const found = characterClass(code) & CLASS_MASK
  return found !== WORD_BREAK.extend && found !== WORD_BREAK.format && found !== WORD_BREAK.zwj
}

/** Whether a capital or a digit. */
function isOther(code: number): boolean {
  return (kindOf(code) & (UPPER | DIGIT)) !== 0
}
