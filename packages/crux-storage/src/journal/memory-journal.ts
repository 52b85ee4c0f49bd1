import { CruxError } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import type { Expectation, Journal, JournalRecord, Position } from './journal.js'
import { checkRecords } from './record.js'

interface Stored {
  readonly record: JournalRecord
  readonly at: Position
}

interface Follower {
  readonly apply: (record: JournalRecord, at: Position) => void
  readonly signal: AbortSignal
}

interface Stream {
  records: Stored[]
  next: Position
  readonly lastByKey: Map<string, Position>
  readonly followers: Set<Follower>
  snapshot: { at: Position; chunks: readonly Uint8Array[] } | undefined
}

/** A journal that lives as long as the process: for tests and for use without a disk. */
export function createMemoryJournal(): Journal {
  const streams = new Map<string, Stream>()
  let isClosed = false

  const stream = (name: string): Stream => {
    let found = streams.get(name)
    if (found === undefined) {
      found = {
        records: [],
        next: 1,
        lastByKey: new Map(),
        followers: new Set(),
        snapshot: undefined,
      }
      streams.set(name, found)
    }
    return found
  }

  return {
    async append(records, expect = []) {
      if (isClosed) throw closed()
      const target = stream(checkRecords(records))
      checkExpectations(target.lastByKey, expect)
      const stored = records.map((record) => ({ record, at: target.next++ }))
      for (const entry of stored) {
        target.records.push(entry)
        target.lastByKey.set(entry.record.key, entry.at)
      }
      // Durability takes a turn of the event loop elsewhere; take one here too.
      await Promise.resolve()
      for (const follower of target.followers) {
        if (follower.signal.aborted) target.followers.delete(follower)
        else for (const entry of stored) follower.apply(entry.record, entry.at)
      }
      return stored.map((entry) => entry.at)
    },

    async follow(name, from, apply, signal) {
      if (isClosed) throw closed()
      const target = stream(name)
      for (const entry of target.records) {
        if (entry.at > from) apply(entry.record, entry.at)
      }
      target.followers.add({ apply, signal })
      return { caughtUp: target.next - 1 }
    },

    async saveSnapshot(name, at, state) {
      const chunks: Uint8Array[] = []
      for await (const chunk of state) chunks.push(Uint8Array.from(chunk))
      stream(name).snapshot = { at, chunks }
    },

    async loadSnapshot(name) {
      const snapshot = streams.get(name)?.snapshot
      return snapshot && { at: snapshot.at, state: iterate(snapshot.chunks) }
    },

    async erase(name, keys, keep) {
      if (isClosed) throw closed()
      const target = stream(name)
      const gone = new Set(keys)
      if (keep.length > 0) checkRecords(keep)
      target.records = target.records.filter((entry) => !gone.has(entry.record.key))
      for (const key of gone) target.lastByKey.delete(key)
      for (const record of keep) {
        const at = target.next++
        target.records.push({ record, at })
        target.lastByKey.set(record.key, at)
      }
      target.snapshot = undefined
    },

    async close() {
      isClosed = true
    },
  }
}

/** @throws {CruxError} `JOURNAL_CONFLICT` for the first expectation that does not hold. */
export function checkExpectations(
  lastByKey: ReadonlyMap<string, Position>,
  expect: readonly Expectation[],
): void {
  for (const { key, last } of expect) {
    const actual = lastByKey.get(key) ?? 'none'
    if (actual !== last) {
      throw new CruxError<StorageErrorCode>(
        'JOURNAL_CONFLICT',
        `journal key ${key} is at ${actual}, expected ${last}; read it again and retry`,
        { data: { key, last: actual } },
      )
    }
  }
}

function closed(): CruxError<StorageErrorCode> {
  return new CruxError('JOURNAL_CLOSED', 'the journal is closed')
}

async function* iterate(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks
}
