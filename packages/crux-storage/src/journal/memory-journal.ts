import { Follower, LiveFollowers } from './followers.js'
import type { Journal, JournalRecord, Position } from './journal.js'
import { closed } from './journal-failures.js'
import { assertBytes, assertStream, checkExpectations, checkKept, checkRecords } from './record.js'

interface Stored {
  readonly record: JournalRecord
  readonly at: Position
}

interface Stream {
  records: Stored[]
  next: Position
  readonly lastByKey: Map<string, Position>
  readonly followers: LiveFollowers
  snapshot: { readonly at: Position; readonly chunks: readonly Uint8Array[] } | undefined
}

/** A journal that lives as long as the process: for tests and for use without a disk. */
export function createMemoryJournal(): Journal {
  const streams = new Map<string, Stream>()
  let isClosed = false

  const open = (name: string): Stream => {
    if (isClosed) throw closed()
    assertStream(name)
    const found = streams.get(name)
    if (found !== undefined) return found
    const fresh: Stream = {
      records: [],
      next: 1,
      lastByKey: new Map(),
      followers: new LiveFollowers(),
      snapshot: undefined,
    }
    streams.set(name, fresh)
    return fresh
  }
  const store = (stream: Stream, records: readonly JournalRecord[]): readonly Position[] =>
    records.map((record) => {
      const at = stream.next++
      stream.records.push({ record, at })
      stream.lastByKey.set(record.key, at)
      return at
    })

  return {
    async append(records, expect = []) {
      if (isClosed) throw closed()
      const stream = open(checkRecords(records))
      checkExpectations((key) => stream.lastByKey.get(key), expect)
      const positions = store(stream, records)
      // Durability takes a turn of the event loop elsewhere; take one here too.
      await null
      stream.followers.give(records, positions)
      return positions
    },

    async follow(name, from, apply, signal) {
      const stream = open(name)
      signal.throwIfAborted()
      const follower = new Follower(from, apply, signal)
      for (const { record, at } of stream.records) follower.take(record, at)
      follower.throwFailure()
      signal.throwIfAborted()
      stream.followers.add(follower)
      return { caughtUp: stream.next - 1 }
    },

    async saveSnapshot(name, at, state) {
      const stream = open(name)
      if (!(at >= 0 && at < stream.next)) {
        throw new RangeError(`snapshot at position ${at}, expected 0 to ${stream.next - 1}`)
      }
      const chunks: Uint8Array[] = []
      for await (const chunk of state) chunks.push(Uint8Array.from(chunk))
      if (stream.snapshot === undefined || stream.snapshot.at <= at)
        stream.snapshot = { at, chunks }
    },

    async loadSnapshot(name) {
      const { snapshot } = open(name)
      return snapshot && { at: snapshot.at, state: iterate(snapshot.chunks) }
    },

    async erase(name, keys, keep) {
      const stream = open(name)
      checkKept(name, keep)
      const gone = new Set(keys)
      stream.records = stream.records.filter(({ record }) => !gone.has(record.key))
      for (const key of gone) stream.lastByKey.delete(key)
      stream.snapshot = undefined
      stream.followers.give(keep, store(stream, keep))
    },

    async rewrite(name, edit) {
      const stream = open(name)
      let changed = 0
      let dropped = 0
      const records = stream.records.flatMap(({ record, at }) => {
        const bytes = edit(record, at)
        if (bytes === record.bytes) return { record, at }
        if (bytes === undefined) {
          dropped++
          return []
        }
        changed++
        const edited = { ...record, bytes }
        assertBytes(edited)
        return { record: edited, at }
      })
      stream.records = records
      stream.lastByKey.clear()
      for (const { record, at } of records) stream.lastByKey.set(record.key, at)
      stream.snapshot = undefined
      return { changed, dropped, filesRemoved: 0 }
    },

    async close() {
      isClosed = true
    },
  }
}

async function* iterate(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks
}
