import { BLOCK, BLOCK_HEADER_BYTES, EXCEPTION_BYTES } from './layout.js'

/** Of so many values, place floor(9 n / 10) of the sorted ones is the last. */
const SHORT_LIST = 10
/** Bits that fit 32 beside the up to 7 that wait for their byte to fill. */
const WIDEST_IN_ONE = 25

/** Arrays that hold one block at a time, kept as most lists are far shorter than it takes to make them. */
interface Scratch {
  readonly deltas: Uint32Array
  readonly perWidth: Uint8Array
}

let scratch: Scratch | undefined

/**
 * PForDelta bytes of an ascending list of 32-bit numbers. Empty for an empty list.
 *
 * Blocks of up to 128 differences are packed with as many bits as nine tenths of them need; the
 * others follow as exceptions.
 *
 * @throws {RangeError} When the list descends.
 * @see Zukowski et al., "Super-Scalar RAM-CPU Cache Compression" (2006)
 */
export function encodePForDelta(ids: Uint32Array): Uint8Array {
  const target = new Uint8Array(maxPForDeltaBytes(ids.length))
  return target.slice(0, writePForDelta(target, 0, ids))
}

/** Most bytes that a list of `count` ids takes. */
export function maxPForDeltaBytes(count: number): number {
  if (count === 0) return 0
  const blocks = Math.ceil(count / BLOCK)
  // Nine tenths of a block, rounded down, are never exceptions.
  const exceptions = Math.ceil(count / 10) + blocks
  return 4 + blocks * (BLOCK_HEADER_BYTES + 1) + count * 4 + exceptions * EXCEPTION_BYTES
}

/**
 * {@link encodePForDelta} of `ids[from .. to]` into zeroed bytes of `target` from `at` on;
 * {@link maxPForDeltaBytes} are enough.
 *
 * @returns Offset just after the list.
 */
export function writePForDelta(
  target: Uint8Array,
  at: number,
  ids: Uint32Array,
  from = 0,
  to = ids.length,
): number {
  const count = to - from
  if (count === 0) return at
  writeU32(target, at, count)
  // Nine tenths of so few are all but the last, which the largest is: no exceptions, one block.
  if (count <= SHORT_LIST) return writeShortList(target, at + 4, ids, from, to)
  let end = at + 4
  let previous = 0
  scratch ??= { deltas: new Uint32Array(BLOCK), perWidth: new Uint8Array(33) }
  const { deltas } = scratch
  for (let start = from; start < to; start += BLOCK) {
    const length = Math.min(BLOCK, to - start)
    for (let i = 0; i < length; i++) {
      const id = ids[start + i] as number // within the list by the loop's bounds
      if (id < previous) throw descending(previous, id)
      deltas[i] = id - previous
      previous = id
    }
    end = writeBlock(target, end, scratch, length)
  }
  return end
}

/** The only block of a list of at most {@link SHORT_LIST} ids. Most lists of an index are that short. */
function writeShortList(
  target: Uint8Array,
  at: number,
  ids: Uint32Array,
  from: number,
  to: number,
): number {
  let any = 0
  let previous = 0
  for (let i = from; i < to; i++) {
    const id = ids[i] as number // within the list, here and below
    if (id < previous) throw descending(previous, id)
    any |= id - previous
    previous = id
  }
  const width = any === 0 ? 1 : 32 - Math.clz32(any)
  target[at] = width
  target[at + 2] = to - from
  let end = at + BLOCK_HEADER_BYTES
  if (width > WIDEST_IN_ONE) {
    previous = 0
    for (let i = from, bit = 0; i < to; i++, bit += width) {
      packBits(target, end, bit, width, (ids[i] as number) - previous)
      previous = ids[i] as number
    }
    return end + Math.ceil(((to - from) * width) / 8)
  }
  let waiting = 0
  let bits = 0
  previous = 0
  for (let i = from; i < to; i++) {
    const id = ids[i] as number
    waiting |= (id - previous) << bits
    previous = id
    bits += width
    while (bits >= 8) {
      target[end++] = waiting
      waiting >>>= 8
      bits -= 8
    }
  }
  if (bits > 0) target[end++] = waiting
  return end
}

function writeBlock(target: Uint8Array, at: number, scratch: Scratch, length: number): number {
  const { deltas } = scratch
  const width = chooseWidth(scratch, length)
  const largest = 2 ** width - 1
  const packed = at + BLOCK_HEADER_BYTES
  const exceptionsAt = packed + ((length * width + 7) >>> 3)
  let end = exceptionsAt
  let exceptions = 0
  let byte = packed
  let waiting = 0
  let bits = 0
  for (let i = 0; i < length; i++) {
    const delta = deltas[i] as number // within the block by the loop's bounds
    const isException = delta > largest
    if (isException) {
      target[end] = i
      writeU32(target, end + 1, delta)
      end += EXCEPTION_BYTES
      exceptions++
    }
    if (width > WIDEST_IN_ONE) {
      if (!isException) packBits(target, packed, i * width, width, delta)
      continue
    }
    if (!isException) waiting |= delta << bits
    bits += width
    while (bits >= 8) {
      target[byte++] = waiting
      waiting >>>= 8
      bits -= 8
    }
  }
  if (bits > 0) target[byte] = waiting
  target[at] = width
  target[at + 1] = exceptions
  target[at + 2] = length
  return end
}

/** Bits of the value that stands at nine tenths of the sorted block; at least 1. */
function chooseWidth({ deltas, perWidth }: Scratch, length: number): number {
  // Bit lengths ascend with values, so a count per bit length replaces the sort.
  perWidth.fill(0)
  for (let i = 0; i < length; i++) {
    const bits = 32 - Math.clz32(deltas[i] as number)
    perWidth[bits] = (perWidth[bits] as number) + 1
  }
  let left = Math.floor((length * 9) / 10)
  let width = 0
  while (left >= (perWidth[width] as number)) {
    left -= perWidth[width] as number
    width++
  }
  return Math.max(width, 1)
}

function packBits(
  target: Uint8Array,
  start: number,
  bit: number,
  width: number,
  value: number,
): void {
  let rest = value
  let left = width
  let byte = start + (bit >>> 3)
  let shift = bit & 7
  while (left > 0) {
    target[byte] = (target[byte] as number) | ((rest << shift) & 0xff)
    const taken = 8 - shift
    rest = rest >>> taken
    left -= taken
    shift = 0
    byte++
  }
}

function writeU32(target: Uint8Array, at: number, value: number): void {
  target[at] = value
  target[at + 1] = value >>> 8
  target[at + 2] = value >>> 16
  target[at + 3] = value >>> 24
}

function descending(previous: number, id: number): RangeError {
  return new RangeError(`ids must ascend: ${id} follows ${previous}`)
}
