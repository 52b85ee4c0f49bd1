const RESERVED = /^[^\p{L}\p{N}_]*(?:__agent::|__ops::|__bootstrap__::)/u
const SHOWN_INSTEAD = '[reserved]'

/**
 * The text in one line, without names that only their owner or the daemon may read.
 *
 * White space becomes single spaces. A word that begins with a reserved prefix, whatever punctuation
 * stands before it, is replaced as a whole.
 */
export function scrubReserved(text: string): string {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => (RESERVED.test(word) ? SHOWN_INSTEAD : word))
    .join(' ')
}
