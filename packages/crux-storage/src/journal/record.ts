import { CruxError } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import type { Expectation, JournalRecord, Position } from './journal.js'

/** Largest record, in bytes. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024

const NEWLINE = 0x0a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

// A stream's name becomes a file's name.
const STREAM = /^[A-Za-z0-9_-]{1,64}$/

/** The stream named by a key `<tenant>/<stream>/<id>`; undefined when the key is malformed. */
export function streamOfKey(key: string): string | undefined {
  const first = key.indexOf('/')
  const second = key.indexOf('/', first + 1)
  if (first <= 0 || second <= first + 1 || second === key.length - 1) return undefined
  return key.slice(first + 1, second)
}

/**
 * Check records of one append.
 *
 * @returns The one stream that all keys name.
 * @throws {CruxError} `JOURNAL_RECORD_INVALID`.
 */
export function checkRecords(records: readonly JournalRecord[]): string {
  const first = records[0]
  if (first === undefined) throw invalid('', 'an append needs at least one record')
  const stream = streamOfKey(first.key)
  if (stream === undefined) throw invalid(first.key, 'a key has the form <tenant>/<stream>/<id>')
  assertStream(stream)
  for (const record of records) {
    const { key } = record
    if (streamOfKey(key) !== stream) {
      throw invalid(key, `all records of an append belong to one stream, here '${stream}'`)
    }
    assertBytes(record)
  }
  return stream
}

/** @throws {CruxError} `JOURNAL_RECORD_INVALID` unless the bytes are one JSON object on one line. */
export function assertBytes({ key, bytes }: JournalRecord): void {
  if (bytes.length > MAX_RECORD_BYTES) {
    throw invalid(key, `a record has at most ${MAX_RECORD_BYTES} bytes, this one ${bytes.length}`)
  }
  if (bytes[0] !== OPEN_BRACE || bytes.at(-1) !== CLOSE_BRACE || bytes.includes(NEWLINE)) {
    throw invalid(key, 'a record is one JSON object on one line')
  }
}

/**
 * Check the records that an erasure of a stream keeps; there may be none.
 *
 * @throws {CruxError} `JOURNAL_RECORD_INVALID`.
 */
export function checkKept(stream: string, keep: readonly JournalRecord[]): void {
  if (keep.length > 0 && checkRecords(keep) !== stream) {
    throw invalid(keep[0]?.key ?? '', `records to keep belong to the erased stream '${stream}'`)
  }
}

/** @throws {CruxError} `JOURNAL_RECORD_INVALID` unless it is 1 to 64 letters, digits, `_` or `-`. */
export function assertStream(stream: string): void {
  if (!STREAM.test(stream)) {
    throw invalid(stream, 'a stream is named by 1 to 64 letters, digits, _ or -')
  }
}

/**
 * Check what a writer expects.
 *
 * @param positionOf - Newest accepted position of a key.
 * @throws {CruxError} `JOURNAL_CONFLICT` for the first expectation that does not hold.
 */
export function checkExpectations(
  positionOf: (key: string) => Position | undefined,
  expect: readonly Expectation[],
): void {
  for (const { key, last } of expect) {
    const actual = positionOf(key) ?? 'none'
    if (actual !== last) {
      throw new CruxError<StorageErrorCode>(
        'JOURNAL_CONFLICT',
        `journal key ${key} is at ${actual}, expected ${last}; read it again and retry`,
        { data: { key, last: actual } },
      )
    }
  }
}

function invalid(key: string, why: string): CruxError<StorageErrorCode> {
  return new CruxError('JOURNAL_RECORD_INVALID', `journal record ${key}: ${why}`, {
    data: { key },
  })
}
