/** Words of at most this many UTF-8 bytes are their own stem. */
const SHORT_BYTES = 3

/**
 * The stem of a word: at most one English ending taken off or replaced.
 *
 * The endings and the order in which they are tried are part of the index format: a stored index
 * holds hashes of stems, so a change here needs a new analyser version.
 *
 * | Ending | Least bytes before it | Becomes |
 * |---|---|---|
 * | ies, ied | 2 | i |
 * | sses | 0 | ss |
 * | ness | 2 | |
 * | ment, ing | 3 | |
 * | tion | 2 | t |
 * | able, ible, ful, ous, ive, ly, ed, er, es | 3 | |
 * | s, not after s | 3 | |
 *
 * @param word - Lower-cased in ASCII.
 * @param bytes - Length of the word in UTF-8.
 */
export function stem(word: string, bytes: number): string {
  if (bytes <= SHORT_BYTES) return word
  // Each ending is told by its last letter, so that a word meets few comparisons.
  switch (word.charCodeAt(word.length - 1)) {
    case 0x73: // s
      if (bytes >= 5 && word.endsWith('ies')) return word.slice(0, -2)
      if (word.endsWith('sses')) return word.slice(0, -2)
      if (bytes >= 6 && word.endsWith('ness')) return word.slice(0, -4)
      if (bytes >= 6 && word.endsWith('ous')) return word.slice(0, -3)
      if (bytes >= 5 && word.endsWith('es')) return word.slice(0, -2)
      return word.endsWith('ss') ? word : word.slice(0, -1)
    case 0x64: // d
      if (bytes >= 5 && word.endsWith('ied')) return word.slice(0, -2)
      return bytes >= 5 && word.endsWith('ed') ? word.slice(0, -2) : word
    case 0x74: // t
      return bytes >= 7 && word.endsWith('ment') ? word.slice(0, -4) : word
    case 0x67: // g
      return bytes >= 6 && word.endsWith('ing') ? word.slice(0, -3) : word
    case 0x6e: // n
      return bytes >= 6 && word.endsWith('tion') ? word.slice(0, -3) : word
    case 0x65: // e
      if (bytes >= 7 && (word.endsWith('able') || word.endsWith('ible'))) return word.slice(0, -4)
      return bytes >= 6 && word.endsWith('ive') ? word.slice(0, -3) : word
    case 0x6c: // l
      return bytes >= 6 && word.endsWith('ful') ? word.slice(0, -3) : word
    case 0x79: // y
      return bytes >= 5 && word.endsWith('ly') ? word.slice(0, -2) : word
    case 0x72: // r
      return bytes >= 5 && word.endsWith('er') ? word.slice(0, -2) : word
    default:
      return word
  }
}
