/** Bits of {@link ASCII_KINDS}. */
export const LOWER = 1
export const UPPER = 2
export const DIGIT = 4
export const JOINER = 8
/** Any character of a word. */
export const ALPHANUMERIC = LOWER | UPPER | DIGIT

const JOINERS = "-_./\\:@+#~'&=?%"

/** What each ASCII code is to an identifier; 0 for what stands between words. */
export const ASCII_KINDS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 0x61 && code <= 0x7a) return LOWER
  if (code >= 0x41 && code <= 0x5a) return UPPER
  if (code >= 0x30 && code <= 0x39) return DIGIT
  return JOINERS.includes(String.fromCharCode(code)) ? JOINER : 0
})

/** Whether a code stands for an apostrophe: the typewriter's or one of the typographic ones. */
export function isApostrophe(code: number): boolean {
  return (
    code === 0x27 ||
    (code >= 0x2bc &&
      (code === 0x2019 || code === 0x2018 || code === 0x2bc || code === 0x201b || code === 0xff07))
  )
}

/** Most underscores that join two words. */
const MOST_UNDERSCORES = 8

/**
 * Where the joiner ends that starts at `at`; `at` when there is none. Whether a word follows is
 * for the caller to see.
 *
 * A joiner is one of `- _ . / \ : @ + # ~ ' & = ? %` or one of `://`, `::`, `:\`, `->`, or up to
 * eight underscores. Typographic apostrophes count as `'`.
 */
export function joinerEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (!(code < 0x80)) return isApostrophe(code) ? at + 1 : at
  if (ASCII_KINDS[code] !== JOINER) return at
  const next = text.charCodeAt(at + 1)
  switch (code) {
    case 0x3a: // :
      if (next === 0x3a || next === 0x5c) return at + 2
      return next === 0x2f && text.charCodeAt(at + 2) === 0x2f ? at + 3 : at + 1
    case 0x2d: // -
      return next === 0x3e ? at + 2 : at + 1
    case 0x5f: {
      let end = at + 1
      while (end < at + MOST_UNDERSCORES && text.charCodeAt(end) === 0x5f) end += 1
      return end
    }
    default:
      return at + 1
  }
}

/**
 * Whether the joiner between two words only loosely holds them together, as `/` in a path; the
 * others, `-`, `_`, `.` and the apostrophe, make one name of them.
 */
export function isLooseJoiner(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code === 0x2d) return text.charCodeAt(at + 1) === 0x3e
  return code !== 0x5f && code !== 0x2e && !isApostrophe(code)
}
