/**
 * Signs of rotated vectors, one bit each: what is left of a vector when only the side of each of
 * many random planes is kept. Two vectors agree in the more signs the smaller their angle is.
 *
 * Bit `j` of a code is bit `j & 31` of word `j >>> 5`. The first 256 bits lie apart, so that the
 * first look at all vectors reads nothing else.
 */
export interface BinaryCodes {
  /** {@link COARSE_WORDS} per vector. */
  readonly coarse: Int32Array
  /** The remaining words of each vector. */
  readonly rest: Int32Array
}

/** Words of a code that the first look reads. */
export const COARSE_WORDS = 8

/** A fixed rotation of vectors of one dimension. */
export interface Rotation {
  /** Bits of a code; a multiple of 256, at least 512. */
  readonly bits: number
  /**
   * Rotate a vector, up to its length.
   *
   * @param vectors - Read from `at`, as many numbers as the dimension.
   * @param into - `bits` numbers, overwritten.
   */
  rotate(vectors: Float32Array | Float64Array, at: number, into: Float64Array): void
}

/** Least numbers of one rotation, so that short vectors get as many planes as long ones. */
const LEAST_BLOCK = 256
/** One block of 256 was measured to lose twice as many of the nearest as two. */
const LEAST_BITS = 512
/** With two, more of the nearest of sparse vectors were lost. */
const ROUNDS = 3
/** Fixed, so that codes are the same everywhere. */
const SEED = 0x43525558
const ROWS_PER_SLICE = 64

/**
 * The rotation for vectors of `dim` numbers; always the same.
 *
 * Padded with zeros to a power of two, the vector goes three times through random changes of sign
 * and a Walsh-Hadamard transform: n log n steps where a random matrix takes n².
 *
 * @see Ailon & Chazelle, "The Fast Johnson-Lindenstrauss Transform" (2009)
 */
export function createRotation(dim: number): Rotation {
  const block = 2 ** Math.ceil(Math.log2(Math.max(dim, LEAST_BLOCK)))
  const bits = Math.max(block, LEAST_BITS)
  const signs = randomSigns(bits * ROUNDS)
  return {
    bits,
    rotate: (vectors, at, into) => {
      for (let start = 0; start < bits; start += block) {
        for (let i = 0; i < dim; i++) into[start + i] = vectors[at + i] as number // by contract
        into.fill(0, start + dim, start + block)
        for (let round = 0; round < ROUNDS; round++) {
          flip(into, start, block, signs, round * bits + start)
          transform(into, start, block)
        }
      }
    },
  }
}

/** Make the codes of vectors that lie row after row. Yields where a pause may be taken. */
export function* encodeRows(
  rotation: Rotation,
  vectors: Float32Array,
  dim: number,
): Generator<void, BinaryCodes> {
  const rows = vectors.length / dim
  const restWords = rotation.bits / 32 - COARSE_WORDS
  const coarse = new Int32Array(rows * COARSE_WORDS)
  const rest = new Int32Array(rows * restWords)
  const rotated = new Float64Array(rotation.bits)
  for (let row = 0; row < rows; row++) {
    if (row > 0 && row % ROWS_PER_SLICE === 0) yield
    rotation.rotate(vectors, row * dim, rotated)
    packSigns(rotated, 0, coarse, row * COARSE_WORDS, COARSE_WORDS)
    packSigns(rotated, COARSE_WORDS * 32, rest, row * restWords, restWords)
  }
  return { coarse, rest }
}

/** Write 32 signs per word, set where the number is above 0. */
export function packSigns(
  from: Float64Array,
  start: number,
  into: Int32Array,
  at: number,
  words: number,
): void {
  for (let word = 0; word < words; word++) {
    let bits = 0
    const first = start + word * 32
    for (let j = 0; j < 32; j++) bits |= ((from[first + j] as number) > 0 ? 1 : 0) << j
    into[at + word] = bits
  }
}

function flip(
  numbers: Float64Array,
  start: number,
  length: number,
  signs: Float64Array,
  from: number,
): void {
  for (let i = 0; i < length; i++) {
    numbers[start + i] = (numbers[start + i] as number) * (signs[from + i] as number)
  }
}

/** Walsh-Hadamard transform in place, two levels per step through the numbers. */
function transform(x: Float64Array, start: number, length: number): void {
  const end = start + length
  let half = 1
  for (; half * 4 <= length; half *= 4) {
    for (let i = start; i < end; i += half * 4) {
      for (let j = i; j < i + half; j++) {
        const a = x[j] as number
        const b = x[j + half] as number
        const c = x[j + half * 2] as number
        const d = x[j + half * 3] as number
        x[j] = a + b + (c + d)
        x[j + half] = a - b + (c - d)
        x[j + half * 2] = a + b - (c + d)
        x[j + half * 3] = a - b - (c - d)
      }
    }
  }
  if (half === length) return
  for (let j = start; j < start + half; j++) {
    const a = x[j] as number
    const b = x[j + half] as number
    x[j] = a + b
    x[j + half] = a - b
  }
}

/** 1 or -1 each, from a small xorshift generator: quality hardly matters, sameness does. */
function randomSigns(count: number): Float64Array {
  let state = SEED
  return Float64Array.from({ length: count }, () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state < 0 ? -1 : 1
  })
}
