import { type Journal, type StorageErrorCode, streamOfKey } from 'crux-storage'
import { type Clock, hasCode } from 'crux-types'

/** What happens on a journal, for snapshots, health and metrics. */
export interface JournalEvents {
  /** A record was applied: replayed or new. `bytes` is its size. */
  applied(stream: string, bytes: number): void
  /** An append was durable, `seconds` after it was asked for. */
  appended(stream: string, seconds: number): void
  /** An append failed for a reason of the storage, not of its writer. */
  failed(error: unknown): void
}

const WRITERS_OWN: readonly StorageErrorCode[] = [
  'JOURNAL_CONFLICT',
  'JOURNAL_RECORD_INVALID',
  'JOURNAL_CLOSED',
]

/** The same journal, with its traffic reported. */
export function watchJournal(journal: Journal, events: JournalEvents, clock: Clock): Journal {
  return {
    async append(records, expect) {
      const started = clock.now()
      try {
        const positions = await journal.append(records, expect)
        events.appended(
          streamOfKey(records[0]?.key ?? '') ?? 'unknown',
          (clock.now() - started) / 1000,
        )
        return positions
      } catch (error) {
        if (!hasCode(error, ...WRITERS_OWN)) events.failed(error)
        throw error
      }
    },
    follow: (stream, from, apply, signal) =>
      journal.follow(
        stream,
        from,
        (record, at) => {
          apply(record, at)
          events.applied(stream, record.bytes.byteLength)
        },
        signal,
      ),
    saveSnapshot: (stream, at, state) => journal.saveSnapshot(stream, at, state),
    loadSnapshot: (stream) => journal.loadSnapshot(stream),
    erase: (stream, keys, keep) => journal.erase(stream, keys, keep),
    rewrite: (stream, edit) => journal.rewrite(stream, edit),
    close: () => journal.close(),
  }
}
