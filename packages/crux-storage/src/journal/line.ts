import { crc32c } from 'crux-segment'
import type { Position } from './journal.js'
import { JSON_BYTES_PER_UNIT, putAscii, putInteger, putJsonString } from './json-bytes.js'

// A line is the record's object with one more last member:
//
//   {"op":"store","fact":{...},"_j":{"s":41,"k":"default/facts/x","t":[0,2],"c":3735928559}}\n
//   `---------- covered by c --'
//
// `"_j"` cannot occur unescaped inside a JSON string, so the last `"_j":{` of a line is ours.

const NEWLINE = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const COLON = 0x3a
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const UNDERSCORE = 0x5f
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LOWER_J = 0x6a

/** Bytes that {@link encodeLine} may need beyond the record and its key's escaped form. */
const TRAILER_SPACE = 112

/** What the journal adds to a record. */
export interface LineTrailer {
  readonly at: Position
  /** Empty for records without a key. */
  readonly key: string
  /** Place in the append that wrote it. A count of 0 marks a line that holds no record, only a position. */
  readonly index: number
  readonly count: number
}

/** A line of ours, found intact. */
export interface ParsedLine extends LineTrailer {
  /** Offset just after the covered bytes: a closing brace put there ends the original record. */
  readonly recordEnd: number
}

/** An upper bound of the bytes of a line. */
export function lineSpace(recordBytes: number, key: string): number {
  return recordBytes + key.length * JSON_BYTES_PER_UNIT + TRAILER_SPACE
}

/**
 * Write one line at `offset`.
 *
 * @param target - Must have {@link lineSpace} bytes from `offset`.
 * @param record - Bytes of one JSON object, braces included.
 * @returns Offset after the line.
 */
export function encodeLine(
  target: Buffer,
  offset: number,
  record: Uint8Array,
  { at, key, index, count }: LineTrailer,
): number {
  target.set(record, offset)
  const covered = record.length - 1
  let end = offset + covered
  if (!isEmptyObject(record)) target[end++] = COMMA
  end = putInteger(target, putAscii(target, end, TRAILER_START), at)
  if (key !== '') end = putJsonString(target, putAscii(target, end, ',"k":'), key)
  if (count !== 1) {
    end = putInteger(target, putAscii(target, end, ',"t":['), index)
    target[end++] = COMMA
    end = putInteger(target, end, count)
    target[end++] = CLOSE_BRACKET
  }
  end = putInteger(target, putAscii(target, end, ',"c":'), crc32c(record, 0, covered))
  return putAscii(target, end, '}}\n')
}

/**
 * Take a line of ours apart.
 *
 * @param from - Offset of the first byte, which is not white space.
 * @param to - Offset after the last byte, newline and white space not included.
 * @returns undefined when there is no trailer, or one that is malformed or does not match the record.
 */
export function parseLine(bytes: Buffer, from: number, to: number): ParsedLine | undefined {
  const start = findTrailer(bytes, from, to)
  if (start < 0) return undefined
  const recordEnd = bytes[start - 1] === COMMA ? start - 1 : start
  const cursor = new Cursor(bytes, start)
  if (!cursor.take(TRAILER_START)) return undefined

  const at = cursor.number()
  const key = cursor.take(',"k":') ? cursor.string(to) : ''
  let index = 0
  let count = 1
  if (cursor.take(',"t":[')) {
    index = cursor.number()
    if (!cursor.take(',')) return undefined
    count = cursor.number()
    if (!cursor.take(']')) return undefined
  }
  if (!cursor.take(',"c":')) return undefined
  const crc = cursor.number()
  if (!cursor.take('}}') || cursor.at !== to) return undefined

  if (key === undefined || at < 1 || index < 0 || (count !== 0 && index >= count)) return undefined
  if (crc !== crc32c(bytes.subarray(from, recordEnd))) return undefined
  return { at, key, index, count, recordEnd }
}

/**
 * Whether a line without a sound trailer is one that another program wrote, and not a damaged one
 * of ours: one JSON object without a member `_j`.
 */
export function isForeignLine(bytes: Buffer, from: number, to: number): boolean {
  if (bytes[from] !== OPEN_BRACE || bytes[to - 1] !== CLOSE_BRACE) return false
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', from, to))
    return typeof value === 'object' && value !== null && !Object.hasOwn(value, '_j')
  } catch {
    return false
  }
}

/** Whether bytes are the object without members. Records begin and end with a brace. */
export function isEmptyObject(record: Uint8Array): boolean {
  for (let i = 1; i < record.length - 1; i++) {
    if (!isWhite(record[i])) return false
  }
  return true
}

/** Whether a byte is JSON white space. */
export function isWhite(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === NEWLINE
}

const TRAILER_START = '"_j":{"s":'
const SHORTEST_TRAILER = '"_j":{"s":1,"c":0}}'.length

/** Offset of the opening quote of the last `"_j":{`, or -1. */
function findTrailer(bytes: Buffer, from: number, to: number): number {
  for (let i = to - SHORTEST_TRAILER; i > from; i--) {
    if (
      bytes[i + 1] === UNDERSCORE &&
      bytes[i + 2] === LOWER_J &&
      bytes[i] === QUOTE &&
      bytes[i + 3] === QUOTE &&
      bytes[i + 4] === COLON &&
      bytes[i - 1] !== BACKSLASH
    ) {
      return i
    }
  }
  return -1
}

class Cursor {
  constructor(
    private readonly bytes: Buffer,
    public at: number,
  ) {}

  take(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      if (this.bytes[this.at + i] !== text.charCodeAt(i)) return false
    }
    this.at += text.length
    return true
  }

  /** Digits as a number; -1 when there are none or too many. */
  number(): number {
    const first = this.at
    let value = 0
    for (;;) {
      const digit = (this.bytes[this.at] ?? 0) - ZERO
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
      this.at++
    }
    return this.at === first || value > Number.MAX_SAFE_INTEGER ? -1 : value
  }

  /** A JSON string; undefined when it is not one. */
  string(limit: number): string | undefined {
    if (this.bytes[this.at] !== QUOTE) return undefined
    const first = this.at + 1
    let end = first
    let isEscaped = false
    while (end < limit && this.bytes[end] !== QUOTE) {
      if (this.bytes[end] === BACKSLASH) {
        isEscaped = true
        end++
      }
      end++
    }
    if (end >= limit) return undefined
    this.at = end + 1
    if (!isEscaped) return this.bytes.toString('utf8', first, end)
    try {
      return String(JSON.parse(this.bytes.toString('utf8', first - 1, end + 1)))
    } catch {
      return undefined
    }
  }
}
