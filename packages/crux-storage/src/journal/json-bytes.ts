import type { Buffer } from 'node:buffer'

// JSON written unit by unit: putting a text together and then making bytes of it takes several times
// as long, and leaves its pieces to the garbage collector.

const SPACE = 0x20
const QUOTE = 0x22
const ZERO = 0x30
const BACKSLASH = 0x5c
const TILDE = 0x7e
const BILLION = 1_000_000_000

/** Most bytes of one UTF-16 unit within a JSON string: those of `\u0000`. */
export const JSON_BYTES_PER_UNIT = 6

/** Write a text that holds ASCII characters only, as it is; returns the offset after it. */
export function putAscii(target: Buffer, offset: number, text: string): number {
  for (let i = 0; i < text.length; i++) target[offset + i] = text.charCodeAt(i)
  return offset + text.length
}

/** Write a safe integer from 0 on in decimal; returns the offset after it. */
export function putInteger(target: Buffer, offset: number, value: number): number {
  if (value >= BILLION) {
    // The rest fits into 32 bits, whose remainders are not computed as those of floats.
    const high = Math.floor(value / BILLION)
    return putDigits(target, putInteger(target, offset, high), value - high * BILLION, 9)
  }
  let count = 1
  for (let limit = 10; value >= limit; limit *= 10) count++
  return putDigits(target, offset, value, count)
}

/**
 * Write a text as JSON string, as `JSON.stringify` would; returns the offset after it.
 *
 * @param target - Must have {@link JSON_BYTES_PER_UNIT} bytes a unit, and two, from `offset`.
 */
export function putJsonString(target: Buffer, offset: number, text: string): number {
  target[offset] = QUOTE
  const start = offset + 1
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < SPACE || unit > TILDE || unit === QUOTE || unit === BACKSLASH) {
      return offset + target.write(JSON.stringify(text), offset)
    }
    target[start + i] = unit
  }
  target[start + text.length] = QUOTE
  return start + text.length + 1
}

function putDigits(target: Buffer, offset: number, value: number, count: number): number {
  let rest = value | 0
  for (let i = offset + count - 1; i >= offset; i--) {
    target[i] = ZERO + (rest % 10)
    rest = (rest / 10) | 0
  }
  return offset + count
}
