import { requireLength, requireRange } from './errors.js'

const BLOCK = 128
const BLOCK_HEADER_BYTES = 3
const EXCEPTION_BYTES = 5
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

/**
 * List that starts at `start` of `bytes`, and the offset just after it. An empty range is an empty list.
 *
 * @param end - First byte that the list may not touch.
 * @throws {CruxError} `BUFFER_TOO_SMALL` when it is cut short, `LENGTH_OUT_OF_RANGE` when counts contradict.
 */
export function decodePForDelta(
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): { ids: Uint32Array; end: number } {
  if (start === end) return { ids: new Uint32Array(0), end }
  requireLength('a posting list', 4, end - start)
  const view = new DataView(bytes.buffer, bytes.byteOffset, end)
  const count = view.getUint32(start, true)
  // A block of 128 takes at least 19 bytes: checked before anything is allocated.
  const most = (Math.floor((end - start - 4) / (BLOCK_HEADER_BYTES + BLOCK / 8)) + 1) * BLOCK
  requireRange(count <= most, 'count', `${count} ids do not fit ${end - start} bytes`)
  const ids = new Uint32Array(count)
  let at = start + 4
  let done = 0
  let previous = 0
  while (done < count) {
    requireLength('a posting block', at + BLOCK_HEADER_BYTES, end)
    const width = view.getUint8(at)
    const exceptions = view.getUint8(at + 1)
    const length = view.getUint8(at + 2)
    requireRange(width >= 1 && width <= 32, 'bit_width', `${width}, expected 1..32`)
    requireRange(
      length >= 1 && length <= BLOCK && length <= count - done,
      'block_len',
      `${length} with ${count - done} ids to come`,
    )
    const packed = at + BLOCK_HEADER_BYTES
    const exceptionsAt = packed + Math.ceil((length * width) / 8)
    const next = exceptionsAt + exceptions * EXCEPTION_BYTES
    requireLength('a posting block', next, end)
    unpack(view, packed, exceptionsAt, width, length, ids, done)
    for (let e = exceptionsAt; e < next; e += EXCEPTION_BYTES) {
      const index = view.getUint8(e)
      requireRange(index < length, 'exception', `index ${index} in a block of ${length}`)
      ids[done + index] = view.getUint32(e + 1, true)
    }
    for (let i = done; i < done + length; i++) {
      previous += ids[i] as number // within the list by the loop's bounds
      ids[i] = previous
    }
    requireRange(previous < 2 ** 32, 'ids', 'a sum of differences exceeds 32 bits')
    done += length
    at = next
  }
  return { ids, end: at }
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

/** Values of `width` bits, lowest bit first, into `ids` from `to` on. */
function unpack(
  view: DataView,
  start: number,
  end: number,
  width: number,
  length: number,
  ids: Uint32Array,
  to: number,
): void {
  // A value of up to 25 bits lies within the four bytes that start at its first byte.
  const mask = 2 ** width - 1
  const safe = end - 4
  let bit = 0
  for (let i = 0; i < length; i++, bit += width) {
    const at = start + (bit >>> 3)
    const shift = bit & 7
    if (width <= 25 && at <= safe) {
      ids[to + i] = (view.getUint32(at, true) >>> shift) & mask
      continue
    }
    let value = 0
    let have = -shift
    for (let byte = at; byte < end && have < width; byte++, have += 8) {
      const eight = view.getUint8(byte)
      value += have < 0 ? eight >>> -have : eight * 2 ** have
    }
    ids[to + i] = value & mask
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
