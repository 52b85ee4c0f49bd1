import type { StorageFile } from '../fs/storage-fs.js'
import type { JournalRecord, Position } from './journal.js'
import type { KeyTable } from './key-table.js'
import { encodeLine, type LineTrailer, lineSpace } from './line.js'
import { OffsetIndex } from './offset-index.js'
import { type ScannedRecord, scanJournal } from './scan.js'

/** What a rewritten journal file holds. */
export interface Rewritten {
  readonly end: number
  /** Highest position used, by a record that is there or was. */
  readonly last: Position
  readonly index: OffsetIndex
  /** The records of `keep`, at their new positions. */
  readonly kept: readonly ScannedRecord[]
}

const FLUSH_BYTES = 1024 * 1024
const NO_RECORD = Buffer.from('{}')

/** The record that takes the place of another; undefined when none does. */
export type Replace = (record: ScannedRecord) => ScannedRecord | undefined

/**
 * Write the appends of a journal file to an empty one, each record replaced or left out, and sync it.
 *
 * Every line gets an explicit position. Damaged lines are left out: they may hold what is to go,
 * and copies of them are in quarantine.
 *
 * @param keep - Records to add at the end, as one append.
 * @param keys - An empty table, filled with the positions of the new file.
 */
export async function rewriteJournal(
  source: StorageFile | undefined,
  until: { readonly end: number; readonly last: Position },
  target: StorageFile,
  replace: Replace,
  keep: readonly JournalRecord[],
  keys: KeyTable,
): Promise<Rewritten> {
  const index = new OffsetIndex()
  let space = Buffer.allocUnsafeSlow(FLUSH_BYTES * 2)
  let used = 0
  let written = 0
  let last = 0

  const flush = async (): Promise<undefined> => {
    await target.write([space.subarray(0, used)], written)
    written += used
    used = 0
    return undefined
  }
  const line = (bytes: Uint8Array, trailer: LineTrailer): void => {
    const need = used + lineSpace(bytes.length, trailer.key)
    if (need > space.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(need, space.length * 2))
      space.copy(grown, 0, 0, used)
      space = grown
    }
    used = encodeLine(space, used, bytes, trailer)
    last = trailer.at
  }
  const add = (records: readonly ScannedRecord[]): void => {
    records.forEach(({ at, key, bytes }, place) => {
      line(bytes, { at, key, index: place, count: records.length })
      if (key !== '') keys.set(key, at)
    })
    index.note(last, written + used)
  }

  if (source !== undefined) {
    await scanJournal(
      source,
      { from: 0, to: until.end, after: 0 },
      {
        append(records) {
          add(records.flatMap((record) => replace(record) ?? []))
          return used >= FLUSH_BYTES ? flush() : undefined
        },
        async damaged() {},
      },
    )
  }
  const kept = keep.map((record, place) => ({
    key: record.key,
    bytes: record.bytes,
    at: until.last + 1 + place,
  }))
  add(kept)
  if (last < until.last) {
    // The newest positions belonged to erased records: a line without a record keeps the count,
    // so that they are not given out again after a restart.
    line(NO_RECORD, { at: until.last, key: '', index: 0, count: 0 })
  }
  await flush()
  await target.sync()
  index.note(last, written)
  return { end: written, last, index, kept }
}
