/**
 * Characters that separate terms: Unicode property White_Space.
 *
 * `\s` differs from it: it has the byte order mark and lacks the next-line control.
 */
const WHITE_SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

/** The terms of a query: lower-cased, cut at white space, each once. */
export function termsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().split(WHITE_SPACE))].filter((term) => term !== '')
}

/**
 * Bytes of the white space character at `at` in UTF-8; 0 when there is none.
 *
 * @param end - End of the text, which is well-formed up to there.
 */
export function whiteSpaceAt(bytes: Uint8Array, at: number, end: number): number {
  // In range by the caller's promise; reading past the end gives undefined, which equals nothing.
  const first = bytes[at] as number
  if (first <= 0x20) return first === 0x20 || (first >= 0x09 && first <= 0x0d) ? 1 : 0
  if (first < 0xc2 || at + 1 >= end) return 0
  const second = bytes[at + 1] as number
  if (first === 0xc2) return second === 0x85 || second === 0xa0 ? 2 : 0
  if (at + 2 >= end) return 0
  const third = bytes[at + 2] as number
  if (first === 0xe1) return second === 0x9a && third === 0x80 ? 3 : 0
  if (first === 0xe3) return second === 0x80 && third === 0x80 ? 3 : 0
  if (first !== 0xe2) return 0
  if (second === 0x81) return third === 0x9f ? 3 : 0
  if (second !== 0x80) return 0
  return third <= 0x8a || third === 0xa8 || third === 0xa9 || third === 0xaf ? 3 : 0
}
