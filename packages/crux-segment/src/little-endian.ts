import { formatError, outOfRange } from './errors.js'

const TWO_32 = 2 ** 32

/**
 * A copy of a range. (`slice` of a `Buffer` is a view, which would hold or change the caller's bytes.)
 */
export function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.subarray(start, end))
}

/** A view of exactly these bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * The u64 at `at` as a number.
 *
 * @param offset - Where that is in the file, for the message.
 * @throws {CruxError} `LENGTH_OUT_OF_RANGE` above 2^53 - 1, which no count or length of ours reaches.
 */
export function readU64(view: DataView, at: number, field: string, offset?: number): number {
  const value = view.getUint32(at + 4, true) * TWO_32 + view.getUint32(at, true)
  // Asked first, here and wherever there are many: to put a message together costs more than the rest.
  if (value > Number.MAX_SAFE_INTEGER) throw outOfRange(field, `${value} is above 2^53 - 1`, offset)
  return value
}

/** Write an integer of 0..2^53 - 1 as u64. @throws {RangeError} On any other number. */
export function writeU64(view: DataView, at: number, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`expected an integer of 0..2^53 - 1, got ${value}`)
  }
  view.setUint32(at, value % TWO_32, true)
  view.setUint32(at + 4, Math.floor(value / TWO_32), true)
}

/** The value, when it fits an unsigned field of 16 or 32 bits. @throws {RangeError} Otherwise. */
export function checkUint(value: number, bits: 16 | 32, field: string): number {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
    throw new RangeError(`${field}: expected an integer of 0..2^${bits} - 1, got ${value}`)
  }
  return value
}

/** The same bytes as a `Buffer`, which reads and writes text. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * Text of UTF-8 bytes, a byte order mark included.
 *
 * @param offset - Where they are in the file, for the message.
 * @throws {CruxError} `INVALID_UTF8`.
 */
export function readUtf8(
  bytes: Buffer,
  start: number,
  end: number,
  field: string,
  offset?: number,
): string {
  const text = bytes.toString('utf8', start, end)
  // Malformed input turns into U+FFFD; only then the bytes need a closer look.
  if (text.includes('\ufffd') && !isUtf8(bytes.subarray(start, end))) {
    throw formatError('INVALID_UTF8', `${field} is not UTF-8`, {
      field,
      ...(offset !== undefined && { offset }),
    })
  }
  return text
}

/** True when the bytes are well-formed UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
