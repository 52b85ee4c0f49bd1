/** Longer words are cut to this before anything else. */
export const MOST_WORD_UNITS = 1024
/** Longer terms are cut, at a character. */
export const MOST_TERM_BYTES = 128

/** A word holds no other ASCII than this. */
const ASCII = /^[!-~]*$/
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu
const APOSTROPHES = /[\u2018\u2019\u201b\u02bc\uff07]/g
const FINAL_SIGMA = /\u03c2/g
/** The dot that lower-casing leaves of a dotted capital I. */
const DOT_OF_I = /i\u0307/g

/**
 * The one form of all spellings of a word that differ in case, width or composition only.
 *
 * In this order: invisible characters go; typographic apostrophes become `'`; NFKC; full case
 * folding, as lower, upper and lower case in turn with the mappings of the Unicode standard that
 * hold in every language; every sigma becomes the one within words; the dot over an i goes; NFKC.
 */
export function foldCase(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase()
  return word
    .replace(IGNORABLE, '')
    .replace(APOSTROPHES, "'")
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(FINAL_SIGMA, '\u03c3')
    .replace(DOT_OF_I, 'i')
    .normalize('NFKC')
}

/** The longest start of a term, in whole characters, that takes `MOST_TERM_BYTES` of UTF-8. */
export function cutTerm(term: string): string {
  // No unit takes more than three bytes.
  if (term.length * 3 <= MOST_TERM_BYTES) return term
  let bytes = 0
  let end = 0
  for (const character of term) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes > MOST_TERM_BYTES) return term.slice(0, end)
    end += character.length
  }
  return term
}
