/**
 * Values of the Unicode property Word_Break, one number each (UAX 29, table 3). 0 is kept for "not
 * asked yet".
 */
export const WORD_BREAK = {
  other: 1,
  cr: 2,
  lf: 3,
  newline: 4,
  extend: 5,
  zwj: 6,
  format: 7,
  katakana: 8,
  hebrewLetter: 9,
  aLetter: 10,
  singleQuote: 11,
  doubleQuote: 12,
  midNumLet: 13,
  midLetter: 14,
  midNum: 15,
  numeric: 16,
  extendNumLet: 17,
  regionalIndicator: 18,
  wSegSpace: 19,
} as const

/** The bits of {@link characterClass} that hold the Word_Break value. */
export const CLASS_MASK = 0x1f
/** Extended_Pictographic, which rule WB3c asks for. */
export const IS_PICTOGRAPHIC = 0x20
/** A letter or a digit: a word holds at least one. */
export const IS_WORDY = 0x40
/** A letter of a script that is written without spaces between words. */
export const IS_UNSPACED = 0x80
/** A capital or title-case letter. */
export const IS_UPPER = 0x100
/** A digit or another number. */
export const IS_DIGIT = 0x200

/** What is known about the code points of each plane; asked once each, 128 KiB a plane. */
let planes: (Uint16Array | undefined)[] | undefined

/**
 * Word_Break value of a code point, with the bits above. A lone surrogate is `other`.
 *
 * Values follow the properties of the engine's Unicode version; characters with a value of their
 * own are those of Unicode 17.
 */
export function characterClass(code: number): number {
  planes ??= new Array<Uint16Array | undefined>(17)
  let plane = planes[code >>> 16]
  if (plane === undefined) {
    plane = new Uint16Array(0x10000)
    planes[code >>> 16] = plane
  }
  const known = plane[code & 0xffff] as number // a plane has a place for each 16 bits
  if (known !== 0) return known
  const found = askClass(code)
  plane[code & 0xffff] = found
  return found
}

const PICTOGRAPHIC = /\p{Extended_Pictographic}/u
const WORDY = /[\p{L}\p{N}]/u
const KATAKANA = /[\p{Script=Katakana}\u3031-\u3035\u309b\u309c\u30a0\u30fc\uff70]/u
const IDEOGRAPH_OR_HIRAGANA = /[\p{Ideographic}\p{Script=Han}\p{Script=Hiragana}]/u
/**
 * Line_Break=SA, which regular expressions cannot ask for: what is alphabetic and no digit in these
 * scripts. (New Tai Lue has one more digit, a lone `No`, which is Numeric.)
 */
const COMPLEX_CONTEXT =
  /(?=\p{Alphabetic})(?!\p{N})[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}\p{Script=Tai_Viet}\p{Script=Ahom}]/u
const EXTEND = /[\p{Grapheme_Extend}\p{Mc}\p{Emoji_Modifier}]/u
const REGIONAL_INDICATOR = /\p{Regional_Indicator}/u
const NEWLINES = [0x0b, 0x0c, 0x85, 0x2028, 0x2029]
const MID_NUM_LET = /[.\u2018\u2019\u2024\ufe52\uff07\uff0e]/u
const MID_LETTER = /[:\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a]/u
const MID_NUM = /[,;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe50\ufe54\uff0c\uff1b]/u
/** Signs before a number, which count as a part of it. */
const NUMBER_SIGN = /[\u0600-\u0605\u06dd\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u
const NUMERIC = /[\p{Nd}\u066b\u19da]/u
const EXTEND_NUM_LET = /[\p{Pc}\u202f]/u
const W_SEG_SPACE = /[ \u1680\u2000-\u2006\u2008-\u200a\u205f\u3000]/u
const HEBREW_LETTER = /(?=\p{Script=Hebrew})\p{Lo}/u
/** Letters by use that are not alphabetic by property. */
const MORE_LETTERS =
  /[\u00b8\u02c2-\u02c5\u02d2-\u02d7\u02de\u02df\u02e5-\u02eb\u02ed\u02ef-\u02ff\u055a-\u055c\u055e\u058a\u05f3\u070f\ua708-\ua716\ua720\ua721\ua789\ua78a\uab5b]/u

function askClass(code: number): number {
  const character = String.fromCodePoint(code)
  let bits: number = wordBreakOf(code, character)
  if (PICTOGRAPHIC.test(character)) bits |= IS_PICTOGRAPHIC
  if (WORDY.test(character)) {
    bits |= IS_WORDY
    if (/[\p{Lu}\p{Lt}]/u.test(character)) bits |= IS_UPPER
    if (/\p{N}/u.test(character)) bits |= IS_DIGIT
    const isUnspaced =
      COMPLEX_CONTEXT.test(character) ||
      KATAKANA.test(character) ||
      IDEOGRAPH_OR_HIRAGANA.test(character)
    if (isUnspaced) bits |= IS_UNSPACED
  }
  return bits
}

/** The first that fits: classes named earlier take characters out of those named later. */
function wordBreakOf(code: number, character: string): number {
  if (code === 0x0d) return WORD_BREAK.cr
  if (code === 0x0a) return WORD_BREAK.lf
  if (NEWLINES.includes(code)) return WORD_BREAK.newline
  if (code === 0x200d) return WORD_BREAK.zwj
  if (EXTEND.test(character)) return WORD_BREAK.extend
  if (REGIONAL_INDICATOR.test(character)) return WORD_BREAK.regionalIndicator
  if (code === 0x27) return WORD_BREAK.singleQuote
  if (code === 0x22) return WORD_BREAK.doubleQuote
  if (MID_NUM_LET.test(character)) return WORD_BREAK.midNumLet
  if (MID_LETTER.test(character)) return WORD_BREAK.midLetter
  if (MID_NUM.test(character)) return WORD_BREAK.midNum
  if (NUMERIC.test(character) || NUMBER_SIGN.test(character)) return WORD_BREAK.numeric
  if (KATAKANA.test(character)) return WORD_BREAK.katakana
  if (HEBREW_LETTER.test(character)) return WORD_BREAK.hebrewLetter
  if (EXTEND_NUM_LET.test(character)) return WORD_BREAK.extendNumLet
  if (W_SEG_SPACE.test(character)) return WORD_BREAK.wSegSpace
  if (MORE_LETTERS.test(character)) return WORD_BREAK.aLetter
  // A zero width space is where a line may break: it separates.
  if (/\p{Cf}/u.test(character)) return code === 0x200b ? WORD_BREAK.other : WORD_BREAK.format
  const isLetter =
    /\p{Alphabetic}/u.test(character) &&
    !/[\p{Ideographic}\p{Script=Hiragana}]/u.test(character) &&
    !COMPLEX_CONTEXT.test(character)
  return isLetter ? WORD_BREAK.aLetter : WORD_BREAK.other
}
