import type { Caller } from 'crux-types'
import type { ActivityEntry, ActivityInput, ActivityKind } from './activity-entry.js'
import type { ActivityVerification } from './activity-receipt.js'
import type { ActivityRow } from './activity-row.js'

/** Most rows of one answer. */
export const MAX_ACTIVITY_ROWS = 200

/** Which entries are meant; those that the caller may not read are never among them. */
export interface ActivityQuery {
  /** The caller's home when absent. */
  readonly tenantId?: string | undefined
  /** All sessions of the tenant when absent. */
  readonly sessionId?: string | undefined
  /** Only numbers above this one. */
  readonly since?: number | undefined
  /** Only times below this one, in microseconds: where a page goes on. */
  readonly before?: number | undefined
  /** Only these kinds; all when absent. */
  readonly kinds?: readonly ActivityKind[] | undefined
}

/** The newest of the entries that a query means. */
export interface ActivityPage {
  /** Newest first, at most {@link MAX_ACTIVITY_ROWS}. */
  readonly rows: readonly ActivityRow[]
  /** How many there are in all. */
  readonly total: number
}

/** Most entries that {@link ActivityLog.find} gives. */
export const MAX_ACTIVITY_FOUND = 100

/** What happened in one turn of a session. */
export interface ActivityTurn {
  readonly sessionId: string
  /** Oldest first. */
  readonly entries: readonly ActivityEntry[]
  /** There were more than fit into one answer. */
  readonly isTruncated: boolean
}

/** What agents and their hosts said that they did, by session. */
export interface ActivityLog {
  /**
   * Keep an entry; durable when it resolves. Its author is the caller, whatever the request says.
   *
   * @throws {CruxError} `READ_ONLY_CALLER`, `TENANT_INVALID`, `TENANT_FORBIDDEN`, `ACTIVITY_NEEDS_IDENTITY`, and the
   *   journal's codes.
   */
  record(caller: Caller, tenantId: string | undefined, input: ActivityInput): Promise<ActivityEntry>
  /** @throws {CruxError} `TENANT_INVALID`, `TENANT_FORBIDDEN`. */
  recent(caller: Caller, query: ActivityQuery): Promise<ActivityPage>
  /**
   * A turn of the session that has the newest entry with this turn id; undefined when none has one that
   * the caller may read.
   *
   * @throws {CruxError} `TENANT_INVALID`, `TENANT_FORBIDDEN`.
   */
  turn(
    caller: Caller,
    query: Pick<ActivityQuery, 'tenantId' | 'sessionId'> & { readonly turnId: string },
  ): Promise<ActivityTurn | undefined>
  /** Hold entries against their receipts, one finding for each. */
  verify(entries: readonly ActivityEntry[]): Promise<readonly ActivityVerification[]>
  /**
   * Entries of the caller's home that it may read and whose text holds one of these values, in whatever
   * white space; at most {@link MAX_ACTIVITY_FOUND}.
   *
   * @throws the signal's reason.
   */
  find(
    caller: Caller,
    values: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ActivityEntry[]>
  /**
   * Take entries that are not kept any more off the disk.
   *
   * @returns How many were taken off: none while fewer are gone than kept, unless `isForced`.
   */
  compact(isForced?: boolean): Promise<number>
  stats(): { readonly sessions: number; readonly entries: number }
  close(): Promise<void>
}
