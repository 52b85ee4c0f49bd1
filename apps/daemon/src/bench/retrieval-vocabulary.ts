/** Numbers from a seed; the same everywhere. */
export interface RandomSource {
  /** The next number; 0 <= n < 1, multiples of 2^-32. */
  next(): number
  /** The next whole number of `from` to `to`, both included. */
  between(from: number, to: number): number
}

/**
 * Start a sequence of numbers.
 *
 * @param seed - Whole number; its lower 32 bits count.
 * @see Blackman & Vigna, "Scrambled linear pseudorandom number generators" (2021): xoshiro128**
 */
export function createRandomSource(seed: number): RandomSource {
  let a = mixed(seed)
  let b = mixed(a)
  let c = mixed(b)
  let d = mixed(c) | 1 // never all zero
  const next = (): number => {
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotated(d, 11)
    return result / 2 ** 32
  }
  return { next, between: (from, to) => from + Math.floor(next() * (to - from + 1)) }
}

function rotated(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by))
}

/** A number far from its neighbours' (the finaliser of MurmurHash3, after a step of the golden ratio). */
function mixed(value: number): number {
  let bits = (value + 0x9e3779b9) | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}

/** Words whose n-th is used 1/n as often as the first. */
export interface ZipfVocabulary {
  /** By rank, most used first. */
  readonly words: readonly string[]
  /**
   * A rank of `from <= rank < to` as often as its word is used.
   *
   * @param at - 0 <= at < 1.
   */
  rankAt(at: number, from?: number, to?: number): number
  /** Expected uses of a word in one text of `tokens` words. */
  usesIn(tokens: number, rank: number): number
}

/** No vowel but these, so that no word ends as an English ending does and stems leave all as they are. */
const VOWELS = ['a', 'o', 'u']
const CONSONANTS = ['b', 'd', 'f', 'g', 'h', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'w', 'z']
const SYLLABLES = CONSONANTS.flatMap((consonant) => VOWELS.map((vowel) => consonant + vowel))
/** Words of one syllable would be English: do, no, so, to. */
const LEAST_SYLLABLES = 2

/** Make a vocabulary of `size` different, pronounceable words; frequent ones are short. */
export function createZipfVocabulary(size: number): ZipfVocabulary {
  const words = Array.from({ length: size }, (_, rank) => wordOf(rank))
  /** Sum of the weights before each rank. */
  const sums = new Float64Array(size + 1)
  for (let rank = 0; rank < size; rank++) sums[rank + 1] = sumAt(sums, rank) + 1 / (rank + 1)
  const total = sumAt(sums, size)
  /** By an even part of all weight: the rank that it starts in, so that a draw takes a step or two. */
  const starts = new Uint32Array(size)
  for (let part = 0, rank = 0; part < size; part++) {
    while (sumAt(sums, rank + 1) <= (part / size) * total) rank += 1
    starts[part] = rank
  }
  return {
    words,
    rankAt(at, from = 0, to = size) {
      const low = sumAt(sums, from)
      const wanted = low + at * (sumAt(sums, to) - low)
      let rank = Math.max(
        from,
        starts[Math.min(Math.floor((wanted / total) * size), size - 1)] ?? 0,
      )
      // The start may lie one part too far by rounding.
      while (rank > from && sumAt(sums, rank) > wanted) rank -= 1
      while (rank < to - 1 && sumAt(sums, rank + 1) <= wanted) rank += 1
      return rank
    },
    usesIn: (tokens, rank) => tokens / (rank + 1) / total,
  }
}

function sumAt(sums: Float64Array, rank: number): number {
  return sums[rank] as number // 0 <= rank <= size at every call
}

function wordOf(rank: number): string {
  let left = rank
  let syllables = LEAST_SYLLABLES
  for (let count = SYLLABLES.length ** syllables; left >= count; count *= SYLLABLES.length) {
    left -= count
    syllables += 1
  }
  let word = ''
  for (; syllables > 0; syllables--) {
    word += SYLLABLES[left % SYLLABLES.length]
    left = Math.floor(left / SYLLABLES.length)
  }
  return word
}
