const APOSTROPHE = 0x27
const ALPHANUMERIC = /[\p{Alphabetic}\p{N}]/u

/**
 * For each ASCII code the unit that stands for it in a word, lower-cased; 0 where it ends a word.
 * The apostrophe belongs to words.
 */
export const ASCII_WORD_UNITS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const isUpper = code >= 0x41 && code <= 0x5a
  const isLower = code >= 0x61 && code <= 0x7a
  const isDigit = code >= 0x30 && code <= 0x39
  if (isUpper) return code + 32
  return isLower || isDigit || code === APOSTROPHE ? code : 0
})

const SEPARATOR = 1
const WORD = 2
/** What is known about each code point of the basic plane; asked once each, 64 KiB at most. */
let known: Uint8Array | undefined

/**
 * UTF-16 units, 1 or 2, of the character at `at` when it belongs to a word; 0 when it ends one.
 *
 * For characters past ASCII. A word holds letters and digits of any script; a lone surrogate is
 * neither.
 */
export function wideWordUnits(text: string, at: number): number {
  const code = text.codePointAt(at) ?? 0
  if (code > 0xffff) return ALPHANUMERIC.test(String.fromCodePoint(code)) ? 2 : 0
  known ??= new Uint8Array(0x10000)
  let kind = known[code]
  if (!kind) {
    kind = ALPHANUMERIC.test(String.fromCharCode(code)) ? WORD : SEPARATOR
    known[code] = kind
  }
  return kind === WORD ? 1 : 0
}
