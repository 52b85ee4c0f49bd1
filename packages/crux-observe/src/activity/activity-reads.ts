import { type Caller, createPauser } from 'crux-types'
import type { ActivityEntry } from './activity-entry.js'
import {
  type ActivityPage,
  type ActivityQuery,
  type ActivityTurn,
  MAX_ACTIVITY_FOUND,
  MAX_ACTIVITY_ROWS,
} from './activity-log.js'
import { activityRow } from './activity-row.js'
import type { ActivitySessions, KeptEntry } from './activity-sessions.js'
import { scrubReserved } from './scrub-reserved.js'

/** JSON of the entries of one turn, in UTF-16 units; at least one is given. */
const MAX_TURN_UNITS = 1024 * 1024
/** Rows that are gathered before the newest of them are chosen. */
const GATHERED = 10 * MAX_ACTIVITY_ROWS

/** Where entries are looked for. */
interface Place {
  readonly tenant: string
  readonly sessionId?: string | undefined
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: number
}

/** The newest entries that a query means and the caller may read. */
export async function findRecent(
  sessions: ActivitySessions,
  caller: Caller,
  query: Omit<ActivityQuery, 'tenantId'> & Place,
): Promise<ActivityPage> {
  const { since = -1, before = Number.POSITIVE_INFINITY, kinds } = query
  const pause = createPauser()
  let newest: KeptEntry[] = []
  let total = 0
  for (const entries of placesOf(sessions, query)) {
    let taken = 0
    for (const kept of entries.toReversed()) {
      const { seq, kind } = kept.entry
      if (seq <= since) break
      if (kept.micros >= before || kinds?.includes(kind) === false) continue
      if (!mayRead(caller, kept.entry)) continue
      total++
      if (taken++ < MAX_ACTIVITY_ROWS) newest.push(kept)
    }
    if (newest.length > GATHERED) newest = newestOf(newest)
    await pause()
  }
  return { rows: newestOf(newest).map(activityRow), total }
}

/** The turn of that name with the newest entry. */
export async function findTurn(
  sessions: ActivitySessions,
  caller: Caller,
  query: Place & { readonly turnId: string },
): Promise<ActivityTurn | undefined> {
  const pause = createPauser()
  let found: readonly KeptEntry[] = []
  for (const entries of placesOf(sessions, query)) {
    const ofTurn = entries.filter(
      ({ entry }) => entry.turn_id === query.turnId && mayRead(caller, entry),
    )
    if ((ofTurn.at(-1)?.micros ?? -1) > (found.at(-1)?.micros ?? -1)) found = ofTurn
    await pause()
  }
  const [first] = found
  if (first === undefined) return undefined
  const entries: ActivityEntry[] = []
  let units = 0
  for (const { entry } of found) {
    units += JSON.stringify(entry).length
    if (entries.length > 0 && units > MAX_TURN_UNITS) break
    entries.push(entry)
    await pause()
  }
  return {
    sessionId: first.entry.session_id,
    entries,
    isTruncated: entries.length < found.length,
  }
}

/** Entries that the caller may read and whose text holds one of the values. */
export async function findHolding(
  sessions: ActivitySessions,
  caller: Caller,
  query: Place & { readonly values: readonly string[]; readonly signal: AbortSignal },
): Promise<readonly ActivityEntry[]> {
  const { values, signal } = query
  const pause = createPauser({ signal })
  // As entries keep their text.
  const wanted = values.map(scrubReserved).filter((value) => value !== '')
  const found: ActivityEntry[] = []
  if (wanted.length === 0) return found
  for (const entries of placesOf(sessions, query)) {
    for (const { entry } of entries) {
      const waiting = pause()
      if (waiting !== undefined) await waiting
      if (!mayRead(caller, entry) || !wanted.some((value) => entry.text.includes(value))) continue
      found.push(entry)
      if (found.length === MAX_ACTIVITY_FOUND) return found
    }
  }
  return found
}

/** The entries of each session that is meant, oldest first, as they are when asked for. */
function* placesOf(
  sessions: ActivitySessions,
  { tenant, sessionId, now }: Place,
): Iterable<readonly KeptEntry[]> {
  if (sessionId !== undefined) {
    yield [...sessions.entriesOf(tenant, sessionId, now)]
    return
  }
  for (const session of sessions.sessionsOf(tenant)) {
    yield [...sessions.entriesOf(tenant, session.sessionId, now)]
  }
}

function newestOf(kept: KeptEntry[]): KeptEntry[] {
  return kept.sort((a, b) => b.micros - a.micros).slice(0, MAX_ACTIVITY_ROWS)
}

/** What is private is read by its author alone, and by nobody where no author was proven. */
function mayRead({ identity, aliases }: Caller, entry: ActivityEntry): boolean {
  if (!entry.private) return true
  return (
    identity !== null &&
    (entry.actor_passport === identity || aliases.includes(entry.actor_passport))
  )
}
