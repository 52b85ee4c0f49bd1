import { outOfRange, tooShort } from '../errors.js'
import { viewOf } from '../little-endian.js'
import { BLOCK, BLOCK_HEADER_BYTES, EXCEPTION_BYTES } from './layout.js'

/** Bytes of the shortest whole block: one bit a value, no exceptions. */
const LEAST_BLOCK_BYTES = BLOCK_HEADER_BYTES + BLOCK / 8
/** Eight values of up to so many bits are had with two reads of four bytes. */
const NARROW = 8
/** A value of so many bits lies within the four bytes that start at its first. */
const WIDEST_IN_ONE = 25

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
  const view = viewOf(bytes)
  const ids = new Uint32Array(countPForDelta(view, start, end))
  return { ids, end: readPForDelta(view, start, end, ids, 0, ids.length) }
}

/**
 * Ids in the list that starts at `start`, by its own word; no more than fit its bytes.
 *
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `LENGTH_OUT_OF_RANGE`.
 */
export function countPForDelta(view: DataView, start: number, end: number): number {
  if (start === end) return 0
  if (end - start < 4) throw tooShort('a posting list', 4, end - start, start)
  const count = view.getUint32(start, true)
  const most = (Math.floor((end - start - 4) / LEAST_BLOCK_BYTES) + 1) * BLOCK
  if (count > most) throw outOfRange('count', `${count} ids do not fit ${end - start} bytes`, start)
  return count
}

/**
 * Decode the list that starts at `start` into `ids` from `to` on, allocating nothing.
 *
 * @param end - First byte that the list may not touch.
 * @param count - What {@link countPForDelta} gave; `ids` has room for as many.
 * @returns Offset just after the list.
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `LENGTH_OUT_OF_RANGE`.
 */
export function readPForDelta(
  view: DataView,
  start: number,
  end: number,
  ids: Uint32Array,
  to: number,
  count: number,
): number {
  if (count === 0) return Math.min(start + 4, end)
  let at = start + 4
  let done = 0
  let previous = 0
  while (done < count) {
    if (at + BLOCK_HEADER_BYTES > end) {
      throw tooShort('a posting block', BLOCK_HEADER_BYTES, end - at, at)
    }
    const width = view.getUint8(at)
    const exceptions = view.getUint8(at + 1)
    const length = view.getUint8(at + 2)
    if (width < 1 || width > 32) throw outOfRange('bit_width', `${width}, expected 1..32`, at)
    if (length < 1 || length > BLOCK || length > count - done) {
      throw outOfRange('block_len', `${length} with ${count - done} ids to come`, at + 2)
    }
    const packed = at + BLOCK_HEADER_BYTES
    const exceptionsAt = packed + ((length * width + 7) >>> 3)
    const next = exceptionsAt + exceptions * EXCEPTION_BYTES
    if (next > end) throw tooShort('a posting block', next - at, end - at, at)
    const first = to + done
    unpack(view, packed, exceptionsAt, width, length, ids, first)
    for (let e = exceptionsAt; e < next; e += EXCEPTION_BYTES) {
      const index = view.getUint8(e)
      if (index >= length) {
        throw outOfRange('exception', `index ${index} in a block of ${length}`, e)
      }
      ids[first + index] = view.getUint32(e + 1, true)
    }
    for (let i = first; i < first + length; i++) {
      previous += ids[i] as number // within the caller's room, by the length's check
      ids[i] = previous
    }
    if (previous >= 2 ** 32) throw outOfRange('ids', 'a sum of differences exceeds 32 bits', at)
    done += length
    at = next
  }
  return at
}

/**
 * Values of `width` bits, lowest bit first, into `ids` from `to` on. Reads of four bytes may go past `end`,
 * but not past the view; the bits that they bring from there are masked off.
 */
function unpack(
  view: DataView,
  start: number,
  end: number,
  width: number,
  length: number,
  ids: Uint32Array,
  to: number,
): void {
  const safe = view.byteLength - 4
  let i = 0
  let bit = 0
  if (width <= NARROW) {
    // Eight values take `width` bytes, so that each eight start on a byte; the fifth at half of that.
    const mask = (1 << width) - 1
    const half = width >>> 1
    const shift = (width & 1) << 2
    let at = start
    for (; i + 8 <= length && at + half <= safe; i += 8, at += width) {
      const o = to + i
      const low = view.getUint32(at, true)
      ids[o] = low & mask
      ids[o + 1] = (low >>> width) & mask
      ids[o + 2] = (low >>> (width * 2)) & mask
      ids[o + 3] = (low >>> (width * 3)) & mask
      const high = view.getUint32(at + half, true) >>> shift
      ids[o + 4] = high & mask
      ids[o + 5] = (high >>> width) & mask
      ids[o + 6] = (high >>> (width * 2)) & mask
      ids[o + 7] = (high >>> (width * 3)) & mask
    }
    bit = i * width
  }
  if (width <= WIDEST_IN_ONE) {
    const mask = (1 << width) - 1
    for (; i < length; i++, bit += width) {
      const at = start + (bit >>> 3)
      if (at > safe) break
      ids[to + i] = (view.getUint32(at, true) >>> (bit & 7)) & mask
    }
  }
  for (; i < length; i++, bit += width) ids[to + i] = bitsAt(view, start, end, bit, width)
}

/** One value, byte by byte: wide ones, and those at the very end of the bytes. */
function bitsAt(view: DataView, start: number, end: number, bit: number, width: number): number {
  let value = 0
  let have = -(bit & 7)
  for (let byte = start + (bit >>> 3); byte < end && have < width; byte++, have += 8) {
    const eight = view.getUint8(byte)
    value += have < 0 ? eight >>> -have : eight * 2 ** have
  }
  return value % 2 ** width
}
