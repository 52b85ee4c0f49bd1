/** Set bits of a 32-bit word. */
export function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/**
 * The documents of a long list as one bit each, and how many come before each word of them, so that
 * a document's place in the list, or its absence, is found in a few steps.
 */
export interface BitRanks {
  /** One bit per document of the view, lowest first. */
  readonly bits: Uint32Array
  /** Postings before the documents of each word. */
  readonly ranks: Uint32Array
  /** Postings that the bits stand for. */
  readonly length: number
}

/**
 * Bits of an ascending list.
 *
 * @param length - Postings of `docs` that count.
 * @param size - Documents of the view; all of `docs` are below it.
 * @param start - Bits of a list of which this one is a continuation; not changed.
 */
export function rankBits(
  docs: Uint32Array,
  length: number,
  size: number,
  start: BitRanks | undefined,
): BitRanks {
  const words = (size + 31) >>> 5
  const bits = new Uint32Array(words)
  const ranks = new Uint32Array(words)
  let from = 0
  if (start !== undefined) {
    bits.set(start.bits)
    ranks.set(start.ranks)
    from = start.length
  }
  for (let i = from; i < length; i++) {
    const doc = docs[i] as number // below `length`, as every index here is below that of its array
    bits[doc >>> 5] = (bits[doc >>> 5] as number) | (1 << (doc & 31))
  }
  const firstWord = from === 0 ? 0 : (docs[from - 1] as number) >>> 5
  let rank = firstWord === 0 ? 0 : (ranks[firstWord] as number)
  for (let word = firstWord; word < words; word++) {
    ranks[word] = rank
    rank += bitsIn(bits[word] as number)
  }
  return { bits, ranks, length }
}

/** Place of a document in the list, or -1. */
export function placeOf({ bits, ranks }: BitRanks, doc: number): number {
  const word = bits[doc >>> 5] as number
  const bit = 1 << (doc & 31)
  if ((word & bit) === 0) return -1
  return (ranks[doc >>> 5] as number) + bitsIn(word & (bit - 1))
}
