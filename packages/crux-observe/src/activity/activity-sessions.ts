import type { Position } from 'crux-storage'
import type { ActivityEntry } from './activity-entry.js'

/** Most entries kept of one session. */
export const MAX_ENTRIES_OF_SESSION = 5_000

/** How much is held in memory, and for how long. */
export interface ActivityBounds {
  /** Age at which an entry goes, in milliseconds. */
  readonly ttlMs: number
  /** Sessions that are known. */
  readonly maxSessions: number
  /** Bytes of all entries, as stored, with {@link ENTRY_BYTES} for each. */
  readonly maxBytes: number
  readonly maxEntriesOfSession: number
}

/** What an entry takes beside its text. */
export const ENTRY_BYTES = 512

/** An entry in memory. */
export interface KeptEntry {
  readonly entry: ActivityEntry
  /** Its time in microseconds since 1970: higher than that of every entry before it. */
  readonly micros: number
  /** Of its record in the journal. */
  readonly at: Position
  readonly bytes: number
}

/** One session, and the number that its next entry gets. */
export interface ActivitySession {
  readonly tenant: string
  readonly sessionId: string
  nextSeq: number
  /** Oldest first. */
  readonly entries: KeptEntry[]
}

/**
 * The entries that are kept, by session, and the numbers that were given out.
 *
 * Bounded by {@link ActivityBounds}: what exceeds the entries of a session, or is too old, goes first in
 * its session; what exceeds the bytes goes from the session that was idle longest. Such a session still
 * knows its next number. One that is forgotten, because there are too many, raises the number with which
 * unknown sessions begin, so that no number is ever given twice.
 */
export class ActivitySessions {
  /** Highest number that a forgotten session would have given next. */
  private floor = 0
  private lastMicros = 0
  private bytes = 0
  private count = 0
  // In the order of their last entry.
  private readonly sessions = new Map<string, ActivitySession>()

  constructor(private readonly bounds: ActivityBounds) {}

  /** Entries that are kept. */
  get entries(): number {
    return this.count
  }

  get size(): number {
    return this.sessions.size
  }

  get firstSeq(): number {
    return this.floor
  }

  /** The next number of a session, which nobody else gets. */
  takeSeq(tenant: string, sessionId: string): number {
    return this.touch(tenant, sessionId).nextSeq++
  }

  /** A time that no other entry has, in microseconds, now if possible. */
  takeMicros(now: number): number {
    this.lastMicros = Math.max(now * 1000, this.lastMicros + 1)
    return this.lastMicros
  }

  /** Keep an entry, the newest of its session. */
  add(kept: KeptEntry, now: number): void {
    const { entry, micros, bytes } = kept
    const session = this.touch(entry.tenant_id, entry.session_id)
    session.nextSeq = Math.max(session.nextSeq, entry.seq + 1)
    this.lastMicros = Math.max(this.lastMicros, micros)
    session.entries.push(kept)
    this.count++
    this.bytes += bytes
    if (session.entries.length > this.bounds.maxEntriesOfSession) this.dropOldest(session)
    this.trim(session, now)
    this.makeRoom()
  }

  /** Know at least these numbers, which were given out before. */
  remember(floor: number, numbers: readonly SessionNumber[]): void {
    this.floor = Math.max(this.floor, floor)
    for (const { tenant_id, session_id, next_seq } of numbers) {
      const session = this.touch(tenant_id, session_id)
      session.nextSeq = Math.max(session.nextSeq, next_seq)
    }
  }

  /** Numbers that no kept entry tells. */
  *untold(): Iterable<SessionNumber> {
    for (const { tenant, sessionId, nextSeq, entries } of this.sessions.values()) {
      if (entries.length > 0) continue
      yield { tenant_id: tenant, session_id: sessionId, next_seq: nextSeq }
    }
  }

  /** Kept entries of one session; none when it is not known. */
  entriesOf(tenant: string, sessionId: string, now: number): readonly KeptEntry[] {
    const session = this.sessions.get(keyOf(tenant, sessionId))
    if (session === undefined) return []
    this.trim(session, now)
    return session.entries
  }

  /** The sessions of a tenant, the one with the newest entry first. */
  sessionsOf(tenant: string): readonly ActivitySession[] {
    return [...this.sessions.values()].filter((session) => session.tenant === tenant).reverse()
  }

  /** All sessions as they are now. */
  all(): readonly ActivitySession[] {
    return [...this.sessions.values()]
  }

  /** Let go of what is too old. */
  trim(session: ActivitySession, now: number): void {
    const oldest = (now - this.bounds.ttlMs) * 1000
    while ((session.entries[0]?.micros ?? oldest) < oldest) this.dropOldest(session)
  }

  private touch(tenant: string, sessionId: string): ActivitySession {
    const key = keyOf(tenant, sessionId)
    const known = this.sessions.get(key)
    const session = known ?? { tenant, sessionId, nextSeq: this.floor, entries: [] }
    this.sessions.delete(key)
    this.sessions.set(key, session)
    if (known === undefined && this.sessions.size > this.bounds.maxSessions) this.forgetOldest()
    return session
  }

  private forgetOldest(): void {
    for (const [key, session] of this.sessions) {
      while (session.entries.length > 0) this.dropOldest(session)
      this.floor = Math.max(this.floor, session.nextSeq)
      this.sessions.delete(key)
      return
    }
  }

  private makeRoom(): void {
    if (this.bytes <= this.bounds.maxBytes) return
    for (const session of this.sessions.values()) {
      while (session.entries.length > 0) {
        this.dropOldest(session)
        if (this.bytes <= this.bounds.maxBytes) return
      }
    }
  }

  private dropOldest({ entries }: ActivitySession): void {
    const oldest = entries.shift()
    if (oldest === undefined) return
    this.count--
    this.bytes -= oldest.bytes
  }
}

/** What a session's next entry is numbered. */
export interface SessionNumber {
  readonly tenant_id: string
  readonly session_id: string
  readonly next_seq: number
}

/** A tenant holds no slash. */
function keyOf(tenant: string, sessionId: string): string {
  return `${tenant}/${sessionId}`
}
