/**
 * Per-stream sequence number of a record: 1 for the first, strictly increasing, kept across erase
 * and snapshots; never a byte offset.
 */
export type Position = number

/** One change, to be kept for ever or until erased. */
export interface JournalRecord {
  /** `<tenant>/<stream>/<id>`: the unit of compare-and-set. Empty for a line that another program wrote without one. */
  readonly key: string
  /** UTF-8 bytes of one JSON object, on one line. */
  readonly bytes: Uint8Array
}

/** What the writer believes the newest position of a key to be. */
export interface Expectation {
  readonly key: string
  readonly last: Position | 'none'
}

/** What {@link Journal.rewrite} asks for each record. */
export type RecordEdit = (record: JournalRecord, at: Position) => Uint8Array | undefined

/** What {@link Journal.rewrite} did. */
export interface RewriteReport {
  readonly changed: number
  readonly dropped: number
  readonly filesRemoved: number
}

/**
 * An append-only log of records in named streams: the only place where state changes.
 *
 * `crux-storage` has two implementations, `openFileJournal` and `createMemoryJournal`, held to one
 * contract suite (`crux-storage/testing`). No code above may assume a path, a file, or that it is
 * the only writer.
 */
export interface Journal {
  /**
   * Append records of one stream: all of them survive a crash or none. Resolves once they are
   * durable and every `follow` of the stream has applied them in this process.
   *
   * @param records - At least one; all keys name the same stream.
   * @param expect - Checked against the newest accepted position of each key, queued appends included.
   * @returns One position per record, in order.
   * @throws {CruxError} `JOURNAL_CONFLICT` when an expectation fails (nothing is written); `JOURNAL_POISONED`
   *   after a failed write, which rejects it and all queued after it; `JOURNAL_RECORD_INVALID`; `JOURNAL_CLOSED`.
   */
  append(
    records: readonly JournalRecord[],
    expect?: readonly Expectation[],
  ): Promise<readonly Position[]>

  /**
   * Hand every durable record of a stream after `from` to `apply`: once, in order, those already
   * there and, from then on, new ones. The only way in which projections change.
   *
   * @param from - 0 for all, else the position of a snapshot.
   * @param signal - Ends the following.
   * @returns Resolves when everything durable at the call has been applied.
   */
  follow(
    stream: string,
    from: Position,
    apply: (record: JournalRecord, at: Position) => void,
    signal: AbortSignal,
  ): Promise<{ readonly caughtUp: Position }>

  /** Keep the state that records up to `at` determine, so that a start need not replay them. Replaces an older snapshot atomically. */
  saveSnapshot(stream: string, at: Position, state: AsyncIterable<Uint8Array>): Promise<void>

  /** The newest intact snapshot; undefined when there is none. `state` gives the saved bytes, in chunks of any size. */
  loadSnapshot(
    stream: string,
  ): Promise<{ readonly at: Position; readonly state: AsyncIterable<Uint8Array> } | undefined>

  /**
   * Rewrite a stream without the records of these keys, except the ones in `keep`, which replace
   * them. Positions of other records stay; snapshots of the stream and what recovery set aside of it are
   * dropped. Durable when it resolves.
   */
  erase(stream: string, keys: readonly string[], keep: readonly JournalRecord[]): Promise<void>

  /**
   * Rewrite a stream with the bytes that `edit` gives for each record; keys and positions stay.
   * Followers are not told, so an edit takes away only what the state no longer shows.
   *
   * Snapshots of the stream are dropped, and so is all that recovery set aside of it: cut-off ends,
   * copies of damaged lines, unfinished files. Durable when it resolves, and as a whole: after a
   * crash before that, all records stand as they were. Running it again finishes what was left.
   *
   * @param edit - Called once a record, in order; gives its bytes to leave it as it is, undefined to
   *   drop it.
   * @returns Bytes of records that were changed or dropped, and files that were removed.
   * @throws {CruxError} `JOURNAL_RECORD_INVALID` when an edit gives no record; nothing is changed then.
   */
  rewrite(stream: string, edit: RecordEdit): Promise<RewriteReport>

  /** Finish what is queued and release everything; safe to call twice. */
  close(): Promise<void>
}
