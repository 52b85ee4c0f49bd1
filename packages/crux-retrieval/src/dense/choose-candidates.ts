import { type BinaryCodes, COARSE_WORDS, packSigns, type Rotation } from './binary-codes.js'

/** The coded vectors of one segment, numbered from `base`. */
export interface CodedPart {
  readonly base: number
  readonly rows: number
  readonly codes: BinaryCodes
  /** One byte per vector, 1 where it may be chosen; undefined when all may. */
  readonly mask: Uint8Array | undefined
}

/** How many times the candidates wanted get a second look. */
const SECOND_LOOK = 8
/** Distance of a vector that may not be chosen; above all others. */
const FAR = COARSE_WORDS * 32 + 1
/** Steps into which an estimate is cut. */
const ESTIMATE_STEPS = 32 * 1024
const MOST_KEYS = 64 * 1024
const SLICE_ROWS = 64 * 1024
const SLICE_ESTIMATES = 4 * 1024

/**
 * Numbers of the vectors that are probably nearest, ascending. Yields where a pause may be taken.
 *
 * First look, at all: in how many of 256 signs a vector differs from the query. Second look, at
 * eight times as many as are wanted: the query's own numbers, not only their signs, summed with the
 * signs of all bits of the vector, which halves the error of the first.
 *
 * @param size - Above every number of the parts; numbers of no part are never chosen.
 * @param wanted - Most numbers chosen; integer >= 0.
 */
export function* chooseCandidates(
  parts: readonly CodedPart[],
  size: number,
  query: Float64Array,
  rotation: Rotation,
  wanted: number,
): Generator<void, Uint32Array> {
  const rotated = new Float64Array(rotation.bits)
  rotation.rotate(query, 0, rotated)
  const distances = new Uint16Array(size).fill(FAR)
  const code = new Int32Array(COARSE_WORDS)
  packSigns(rotated, 0, code, 0, COARSE_WORDS)
  for (const part of parts) {
    for (let from = 0; from < part.rows; from += SLICE_ROWS) {
      const to = Math.min(from + SLICE_ROWS, part.rows)
      countDifferences(part.codes.coarse, from, to, code, distances, part.base)
      if (part.mask !== undefined) putFar(part.mask, from, to, distances, part.base)
      yield
    }
  }
  const pool = yield* smallest(distances, FAR, wanted * SECOND_LOOK)
  const steps = new Uint16Array(pool.length)
  const sums = signSums(rotated)
  let at = 0
  for (const part of parts) {
    while (at < pool.length && (pool[at] as number) < part.base + part.rows) {
      const until = Math.min(pool.length, at + SLICE_ESTIMATES)
      at = estimateEach(part, pool, at, until, sums, steps)
      yield
    }
  }
  const chosen = yield* smallest(steps, ESTIMATE_STEPS, wanted)
  return chosen.map((place) => pool[place] as number) // places are below the length
}

/**
 * Places of the smallest keys, ascending; of equal ones at the limit the first. Keys at or above
 * `keys` are never taken.
 */
export function* smallest(
  values: Uint16Array,
  keys: number,
  limit: number,
): Generator<void, Uint32Array> {
  const counts = new Uint32Array(MOST_KEYS) // of all numbers of 16 bits: no key needs a check
  for (let from = 0; from < values.length; from += SLICE_ROWS) {
    const to = Math.min(from + SLICE_ROWS, values.length)
    for (let i = from; i < to; i++) {
      const key = values[i] as number
      counts[key] = (counts[key] as number) + 1
    }
    yield
  }
  let below = 0 // how many keys are smaller than `edge`
  let edge = 0
  while (edge < keys && below + (counts[edge] as number) <= limit) {
    below += counts[edge] as number
    edge += 1
  }
  let atEdge = edge === keys ? 0 : limit - below
  const places = new Uint32Array(below + atEdge)
  let taken = 0
  for (let from = 0; from < values.length; from += SLICE_ROWS) {
    const to = Math.min(from + SLICE_ROWS, values.length)
    for (let i = from; i < to; i++) {
      const key = values[i] as number
      if (key > edge || (key === edge && atEdge === 0)) continue
      if (key === edge) atEdge -= 1
      places[taken++] = i
    }
    yield
  }
  return places
}

/**
 * In how many of 256 bits each code differs from the query's: 8 words are added up bit by bit
 * into ones, twos, fours and eights before any bits are counted, which halves the steps.
 *
 * @see Warren, "Hacker's Delight", 2nd ed. (2012), 5-1
 */
function countDifferences(
  codes: Int32Array,
  from: number,
  to: number,
  query: Int32Array,
  distances: Uint16Array,
  base: number,
): void {
  const [q0 = 0, q1 = 0, q2 = 0, q3 = 0, q4 = 0, q5 = 0, q6 = 0, q7 = 0] = query
  // Every index is below the length of its array.
  for (let row = from, at = from * COARSE_WORDS; row < to; row++, at += COARSE_WORDS) {
    const a = (codes[at] as number) ^ q0
    const b = (codes[at + 1] as number) ^ q1
    const c = (codes[at + 2] as number) ^ q2
    const d = (codes[at + 3] as number) ^ q3
    const e = (codes[at + 4] as number) ^ q4
    const f = (codes[at + 5] as number) ^ q5
    const g = (codes[at + 6] as number) ^ q6
    const h = (codes[at + 7] as number) ^ q7
    const ab = a ^ b
    const abc = ab ^ c
    const twosOfAbc = (a & b) | (ab & c)
    const de = d ^ e
    const def = de ^ f
    const twosOfDef = (d & e) | (de & f)
    const sixes = abc ^ def
    const seven = sixes ^ g
    const twosOfSeven = (abc & def) | (sixes & g)
    const ones = seven ^ h
    const twosOfOnes = seven & h
    const pair = twosOfAbc ^ twosOfDef
    const three = pair ^ twosOfSeven
    const foursOfThree = (twosOfAbc & twosOfDef) | (pair & twosOfSeven)
    const twos = three ^ twosOfOnes
    const foursOfTwos = three & twosOfOnes
    const fours = foursOfThree ^ foursOfTwos
    const eights = foursOfThree & foursOfTwos
    // Per byte at most 8 * (1 + 2 + 4 + 8).
    const bytes =
      bitsPerByte(ones) +
      (bitsPerByte(twos) << 1) +
      (bitsPerByte(fours) << 2) +
      (bitsPerByte(eights) << 3)
    const pairs = (bytes & 0xff00ff) + ((bytes >>> 8) & 0xff00ff)
    distances[base + row] = (pairs + (pairs >>> 16)) & 0xffff
  }
}

function bitsPerByte(word: number): number {
  const twos = word - ((word >>> 1) & 0x55555555)
  const fours = (twos & 0x33333333) + ((twos >>> 2) & 0x33333333)
  return (fours + (fours >>> 4)) & 0x0f0f0f0f
}

function putFar(
  mask: Uint8Array,
  from: number,
  to: number,
  distances: Uint16Array,
  base: number,
): void {
  for (let row = from; row < to; row++) if (mask[row] === 0) distances[base + row] = FAR
}

/** Sums of the query's numbers, looked up instead of added. */
interface SignSums {
  /**
   * For each 8 numbers and each value of a byte: the numbers added where the bit is set, taken off
   * where it is not. Whole numbers of 16 bits, so that the tables of 512 numbers take 32 KiB.
   */
  readonly table: Int16Array
  /** The largest sum over all bytes. */
  readonly reach: number
}

const LARGEST_SUM = 32767

function signSums(numbers: Float64Array): SignSums {
  const bytes = numbers.length / 8 // codes are whole bytes
  const reaches = Float64Array.from({ length: bytes }, (_, byte) =>
    numbers.subarray(byte * 8, byte * 8 + 8).reduce((sum, x) => sum + Math.abs(x), 0),
  )
  const largest = reaches.reduce((most, reach) => Math.max(most, reach), 0)
  const scale = largest > 0 ? LARGEST_SUM / largest : 0
  const table = new Int16Array(bytes * 256)
  const sums = new Float64Array(256)
  for (let byte = 0; byte < bytes; byte++) {
    sums[0] = 0
    for (let bit = 0; bit < 8; bit++) {
      sums[0] = (sums[0] as number) - (numbers[byte * 8 + bit] as number) * scale
    }
    for (let value = 1; value < 256; value++) {
      const lowest = 31 - Math.clz32(value & -value)
      const without = sums[value & (value - 1)] as number
      sums[value] = without + 2 * scale * (numbers[byte * 8 + lowest] as number)
    }
    for (let value = 0; value < 256; value++) {
      table[byte * 256 + value] = Math.round(sums[value] as number)
    }
  }
  return { table, reach: reaches.reduce((sum, reach) => sum + reach, 0) * scale }
}

/** Estimates of those in the pool from `at` that are of this part; returns where it stopped. */
function estimateEach(
  { base, rows, codes: { coarse, rest } }: CodedPart,
  pool: Uint32Array,
  at: number,
  until: number,
  { table, reach }: SignSums,
  steps: Uint16Array,
): number {
  const restWords = table.length / 1024 - COARSE_WORDS
  const scale = reach > 0 ? (ESTIMATE_STEPS - 1) / (2 * reach) : 0
  let next = at
  for (; next < until && (pool[next] as number) < base + rows; next++) {
    const row = (pool[next] as number) - base
    const estimate =
      sumWords(coarse, row * COARSE_WORDS, COARSE_WORDS, table, 0) +
      sumWords(rest, row * restWords, restWords, table, COARSE_WORDS * 1024)
    // Rounding may carry an estimate a hair beyond its reach.
    const step = Math.floor((reach - estimate) * scale)
    steps[next] = Math.min(Math.max(step, 0), ESTIMATE_STEPS - 1)
  }
  return next
}

/** Four bytes per word looked up in four tables of 256, which start at `first`. */
function sumWords(
  codes: Int32Array,
  at: number,
  words: number,
  table: Int16Array,
  first: number,
): number {
  let even = 0
  let odd = 0
  for (let i = 0, from = first; i < words; i++, from += 1024) {
    const word = codes[at + i] as number
    even = (even + (table[from + (word & 255)] as number)) | 0
    odd = (odd + (table[from + 256 + ((word >>> 8) & 255)] as number)) | 0
    even = (even + (table[from + 512 + ((word >>> 16) & 255)] as number)) | 0
    odd = (odd + (table[from + 768 + (word >>> 24)] as number)) | 0
  }
  return even + odd
}
