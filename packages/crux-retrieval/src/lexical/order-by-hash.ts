/** Hashes that share a bucket, about: sorting them takes about 0.1 ms. */
const BUCKET_SIZE = 1024
/** Hashes between two looks at the clock. */
const SLICE = 32 * 1024
/** Bits of a place that are always free beside the upper half of a hash: 32 + 21 bits fit a double. */
const PLACE_BITS = 21

/**
 * Places of 64-bit hashes by ascending hash; equal ones stay in order. Yields where a pause may be taken.
 *
 * Hashes are spread evenly, so that their highest bits deal them into buckets of about equal size.
 * Within one, sorting numbers is far faster than sorting big integers by a comparison: the rest of
 * the upper half is sorted with the place in the lower bits, and only the rare equal halves are
 * compared in full.
 */
export function* orderByHash(full: BigUint64Array): Generator<void, Uint32Array> {
  // Little-endian like every platform that Node runs on: the upper half is the second word.
  const halves = new Uint32Array(full.buffer, full.byteOffset, full.length * 2)
  const bits = Math.max(0, Math.ceil(Math.log2(full.length / BUCKET_SIZE)))
  const buckets: Buckets = {
    width: 2 ** (32 - bits),
    // Twice the buckets, half the width of each: the bits left for places grow with their number.
    places: 2 ** (PLACE_BITS + bits),
    ends: new Uint32Array(2 ** bits),
  }
  const { ends, places } = buckets
  for (let from = 0; from < full.length; from += SLICE) {
    countEach(halves, from, Math.min(from + SLICE, full.length), buckets)
    yield
  }
  let end = 0
  for (let bucket = 0; bucket < ends.length; bucket++) {
    const start = end
    end += ends[bucket] as number
    ends[bucket] = start // moves to the end while the keys are dealt
  }
  const keys = new Float64Array(full.length)
  for (let from = 0; from < full.length; from += SLICE) {
    dealEach(halves, from, Math.min(from + SLICE, full.length), buckets, keys)
    yield
  }
  const order = new Uint32Array(full.length)
  let start = 0
  for (const bucketEnd of ends) {
    keys.subarray(start, bucketEnd).sort()
    for (let i = start; i < bucketEnd; i++) {
      insert(order, start, i, (keys[i] as number) % places, halves)
    }
    start = bucketEnd
    yield
  }
  return order
}

interface Buckets {
  /** Numbers of 32 bits that one bucket takes. */
  readonly width: number
  /** Above every place. */
  readonly places: number
  readonly ends: Uint32Array
}

// In the loops below every index is under the length of its array.

function countEach(halves: Uint32Array, from: number, to: number, { width, ends }: Buckets): void {
  for (let place = from; place < to; place++) {
    const bucket = Math.floor((halves[place * 2 + 1] as number) / width)
    ends[bucket] = (ends[bucket] as number) + 1
  }
}

function dealEach(
  halves: Uint32Array,
  from: number,
  to: number,
  { width, places, ends }: Buckets,
  keys: Float64Array,
): void {
  for (let place = from; place < to; place++) {
    const upper = halves[place * 2 + 1] as number
    const bucket = Math.floor(upper / width)
    const at = ends[bucket] as number
    keys[at] = (upper % width) * places + place
    ends[bucket] = at + 1
  }
}

/** Put a place at the end of what is sorted; nearly so: only what differs in the lower half alone moves. */
function insert(
  order: Uint32Array,
  start: number,
  end: number,
  place: number,
  halves: Uint32Array,
): void {
  let at = end
  for (; at > start; at--) {
    const before = order[at - 1] as number
    if (halves[before * 2 + 1] !== halves[place * 2 + 1]) break
    if ((halves[before * 2] as number) <= (halves[place * 2] as number)) break
    order[at] = before
  }
  order[at] = place
}
