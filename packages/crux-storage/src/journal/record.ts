import { CruxError } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import type { JournalRecord } from './journal.js'

/** Largest record, in bytes. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024

const NEWLINE = 0x0a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

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
  for (const { key, bytes } of records) {
    if (streamOfKey(key) !== stream) {
      throw invalid(key, `all records of an append belong to one stream, here '${stream}'`)
    }
    if (bytes.length > MAX_RECORD_BYTES) {
      throw invalid(key, `a record has at most ${MAX_RECORD_BYTES} bytes, this one ${bytes.length}`)
    }
    if (bytes[0] !== OPEN_BRACE || bytes.at(-1) !== CLOSE_BRACE || bytes.includes(NEWLINE)) {
      throw invalid(key, 'a record is one JSON object on one line')
    }
  }
  return stream
}

function invalid(key: string, why: string): CruxError<StorageErrorCode> {
  return new CruxError('JOURNAL_RECORD_INVALID', `journal record ${key}: ${why}`, {
    data: { key },
  })
}
