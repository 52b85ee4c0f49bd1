import { ASCII_WORD_UNITS, wideWordUnits } from './characters.js'
import { stem } from './stem.js'

/** One word of a text that counts, as version 1 finds it. */
export interface PlainToken {
  /** Stem of the word, lower-cased in ASCII. */
  readonly term: string
  /** Where the word starts in the text, in UTF-16 units. */
  readonly start: number
  /** Where the word ends in the text, exclusive, in UTF-16 units. */
  readonly end: number
}

/**
 * The tokens of a text, in order; the same for documents and queries.
 *
 * Words are runs of letters and digits of any script and apostrophes. Words of one byte are left
 * out; there is no list of stop words. Only ASCII letters are lower-cased.
 */
export function analyse(text: string): readonly PlainToken[] {
  const tokens: PlainToken[] = []
  const length = text.length
  let at = 0
  while (at < length) {
    const start = at
    let hasUpper = false
    let isAscii = true
    while (at < length) {
      const code = text.charCodeAt(at)
      if (code < 0x80) {
        const unit = ASCII_WORD_UNITS[code]
        if (!unit) break
        if (unit !== code) hasUpper = true
        at += 1
      } else {
        const units = wideWordUnits(text, at)
        if (units === 0) break
        isAscii = false
        at += units
      }
    }
    if (at - start > 1 || (at > start && !isAscii)) {
      let word = text.slice(start, at)
      if (hasUpper) word = isAscii ? word.toLowerCase() : lowerAscii(word)
      const bytes = isAscii ? word.length : Buffer.byteLength(word)
      tokens.push({ term: stem(word, bytes), start, end: at })
    }
    // What ended the word is no word; half of a pair of surrogates is passed twice, which is the same.
    at += 1
  }
  return tokens
}

/** Lower-case the ASCII letters only. */
export function lowerAscii(word: string): string {
  return word.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
