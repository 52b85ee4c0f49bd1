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

/** Postings marked between two looks at the clock: under 1 ms. */
const SLICE = 128 * 1024

/**
 * Bits of an ascending list. Yields where a pause may be taken.
 *
 * @param length - Postings of `docs` that count.
 * @param size - Documents of the view; all of `docs` are below it.
 * @param start - Bits of a list of which this one is a continuation; not changed.
 */
export function* rankBits(
  docs: Uint32Array,
  length: number,
  size: number,
  start: BitRanks | undefined,
): Generator<void, BitRanks> {
  const words = (size + 31) >>> 5
  const bits = new Uint32Array(words)
  const ranks = new Uint32Array(words)
  let from = 0
  if (start !== undefined) {
    bits.set(start.bits)
    ranks.set(start.ranks)
    from = start.length
  }
  const firstWord = from === 0 ? 0 : (docs[from - 1] as number) >>> 5 // `from` is below `length`
  for (let at = from; at < length; at += SLICE) {
    setBits(bits, docs, at, Math.min(at + SLICE, length))
    yield
  }
  countBits(bits, ranks, firstWord)
  return { bits, ranks, length }
}

// In the loops below every index is below the length of its array.

function setBits(bits: Uint32Array, docs: Uint32Array, from: number, to: number): void {
  // Bits of one word are gathered before they are stored, so that no step waits for the store before it.
  let at = (docs[from] as number) >>> 5
  let word = bits[at] as number
  for (let i = from; i < to; i++) {
    const doc = docs[i] as number
    if (doc >>> 5 !== at) {
      bits[at] = word
      at = doc >>> 5
      word = 0
    }
    word |= 1 << (doc & 31)
  }
  bits[at] = word
}

function countBits(bits: Uint32Array, ranks: Uint32Array, firstWord: number): void {
  let rank = firstWord === 0 ? 0 : (ranks[firstWord] as number)
  for (let word = firstWord; word < bits.length; word++) {
    ranks[word] = rank
    rank += bitsIn(bits[word] as number)
  }
}

/** Place of a document in the list, or -1. */
export function placeOf({ bits, ranks }: BitRanks, doc: number): number {
  const word = bits[doc >>> 5] as number
  const bit = 1 << (doc & 31)
  if ((word & bit) === 0) return -1
  return (ranks[doc >>> 5] as number) + bitsIn(word & (bit - 1))
}
