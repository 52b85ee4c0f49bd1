import { CLASS_MASK, characterClass, IS_PICTOGRAPHIC, WORD_BREAK } from './word-break-classes.js'

const {
  other,
  cr,
  lf,
  newline,
  extend,
  zwj,
  format,
  katakana,
  hebrewLetter,
  aLetter,
  singleQuote,
  doubleQuote,
  midNumLet,
  midLetter,
  midNum,
  numeric,
  extendNumLet,
  regionalIndicator,
  wSegSpace,
} = WORD_BREAK

/**
 * Places where a text may be cut between words by UAX 29, in UTF-16 units, ascending, both ends
 * included; none for an empty text.
 *
 * @see https://unicode.org/reports/tr29/#Word_Boundaries
 */
export function wordBreaks(text: string): number[] {
  if (text === '') return []
  const breaks = [0]
  for (let at = 0; at < text.length; ) {
    at = nextWordBreak(text, at, text.length)
    breaks.push(at)
  }
  return breaks
}

/**
 * The first word break after `at`, which is a break itself.
 *
 * @param limit - No character that starts here or later is looked at, as if the text ended; above `at`.
 * @param stop - Told each code point inside the word and whether a number goes on around it; true
 *   ends the word before it. For callers that cut more finely than the rules.
 */
export function nextWordBreak(
  text: string,
  at: number,
  limit: number,
  stop?: (code: number, isInNumber: boolean) => boolean,
): number {
  let code = text.codePointAt(at) ?? 0
  let raw = characterClass(code) & CLASS_MASK
  // WB4 lets the rules see through marks: `left` and `before` are the last two that count.
  let left = raw
  let before: number = other
  let indicators = raw === regionalIndicator ? 1 : 0
  let end = at + unitsOf(code)
  while (end < limit) {
    code = text.codePointAt(end) ?? 0
    const bits = characterClass(code)
    const right = bits & CLASS_MASK
    const units = unitsOf(code)
    if (isLine(raw) || isLine(right)) {
      if (!(raw === cr && right === lf)) return end // WB3, WB3a, WB3b
    } else if (isIgnored(right)) {
      raw = right // WB4
      end += units
      continue
    } else {
      const isPicture = raw === zwj && (bits & IS_PICTOGRAPHIC) !== 0 // WB3c
      const isSpace = raw === wSegSpace && right === wSegSpace // WB3d
      const isPair = left === regionalIndicator && right === left && indicators % 2 === 1 // WB15, WB16
      const joins =
        isPicture ||
        isSpace ||
        isPair ||
        joinsWord(before, left, right, () => nextClass(text, end + units, limit))
      if (!joins || stop?.(code, left === numeric)) return end
    }
    indicators = right === regionalIndicator ? indicators + 1 : 0
    before = left
    left = right
    raw = right
    end += units
  }
  return end
}

/** WB5 to WB13b: whether `right` belongs to the word that ends with `before` and `left`. */
function joinsWord(before: number, left: number, right: number, next: () => number): boolean {
  switch (right) {
    case aLetter:
    case hebrewLetter:
      if (isLetter(left) || left === numeric || left === extendNumLet) return true // WB5, WB10, WB13b
      if (isLetter(before) && isMidLetter(left)) return true // WB7
      return right === hebrewLetter && left === doubleQuote && before === hebrewLetter // WB7c
    case numeric:
      if (left === numeric || isLetter(left) || left === extendNumLet) return true // WB8, WB9, WB13b
      return before === numeric && isMidNumber(left) // WB11
    case katakana:
      return left === katakana || left === extendNumLet // WB13, WB13b
    case extendNumLet: // WB13a
      return isLetter(left) || left === numeric || left === katakana || left === extendNumLet
    case singleQuote:
      if (left === hebrewLetter) return true // WB7a
      break
    case doubleQuote:
      return left === hebrewLetter && next() === hebrewLetter // WB7b
  }
  if (isLetter(left) && isMidLetter(right)) return isLetter(next()) // WB6
  if (left === numeric && isMidNumber(right)) return next() === numeric // WB12
  return false // WB999
}

/** Class of the next code point that counts; `other` at the end. */
function nextClass(text: string, from: number, limit: number): number {
  for (let at = from; at < limit; ) {
    const code = text.codePointAt(at) ?? 0
    const found = characterClass(code) & CLASS_MASK
    if (!isIgnored(found)) return found
    at += unitsOf(code)
  }
  return other
}

const isLine = (found: number): boolean => found === cr || found === lf || found === newline
const isIgnored = (found: number): boolean => found === extend || found === format || found === zwj
const isLetter = (found: number): boolean => found === aLetter || found === hebrewLetter
const isMidLetter = (found: number): boolean =>
  found === midLetter || found === midNumLet || found === singleQuote
const isMidNumber = (found: number): boolean =>
  found === midNum || found === midNumLet || found === singleQuote
const unitsOf = (code: number): number => (code > 0xffff ? 2 : 1)
