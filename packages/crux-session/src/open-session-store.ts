import { forEachStateLine, type Journal, type Position } from 'crux-storage'
import {
  assertTenant,
  type Caller,
  type Clock,
  CruxError,
  createPauser,
  DEFAULT_TENANT,
  hasCode,
  parseTime,
  requireWriter,
  storedSessionId,
  toStoredTime,
  visibleSessionId,
} from 'crux-types'
import type { SessionErrorCode } from './errors.js'
import { sessionKey } from './session-key.js'
import {
  decodeSessionLine,
  encodeSessionLine,
  type SessionLine,
  type SessionRecord,
} from './session-record.js'
import type { Session, SessionStore } from './session-store.js'

/** Largest state, in UTF-8 bytes of its compact JSON. */
export const MAX_SESSION_STATE_BYTES = 1024 * 1024

export interface SessionStoreOptions {
  readonly journal: Journal
  readonly clock: Clock
  /** Told of journal lines that were skipped; without stored text. */
  readonly onWarning?: (message: string) => void
}

const STREAM = 'sessions'
const MAX_DATE_MS = 8_640_000_000_000_000
/** Deletes that a reap has in flight at once. */
const REAP_WIDTH = 256

/** A session in memory; the state stays text, so that nobody can change it from outside. */
interface Kept {
  readonly record: Omit<SessionRecord, 'state'>
  readonly stateJson: string
  /** Milliseconds since 1970-01-01 UTC; undefined when it does not expire. */
  readonly expiresAt: number | undefined
  /** Position of the record that wrote it; undefined when that had no key. */
  readonly at: Position | undefined
}

/**
 * Sessions over the journal stream `sessions`.
 *
 * Loads the newest snapshot, replays what follows it, and keeps following the journal until closed.
 *
 * @throws {CruxError} the journal's codes.
 */
export async function openSessionStore(options: SessionStoreOptions): Promise<SessionStore> {
  const { journal, clock } = options
  const onWarning = options.onWarning ?? (() => {})
  const tenants = new Map<string, Map<string, Kept>>()
  const following = new AbortController()
  let applied: Position = 0

  const apply = (line: SessionLine, at: Position | undefined): void => {
    const tenant = (line.op === 'store' ? line.session.tenant : line.tenant) ?? DEFAULT_TENANT
    const sessions = tenants.get(tenant) ?? new Map<string, Kept>()
    if (line.op === 'delete') {
      sessions.delete(line.session_id)
      return
    }
    const { state, ...record } = line.session
    const expiresAt = record.expires_at ? parseTime(record.expires_at) : undefined
    sessions.set(record.session_id, {
      record,
      stateJson: JSON.stringify(state ?? null),
      expiresAt,
      at,
    })
    tenants.set(tenant, sessions)
  }

  const applyBytes = (bytes: Uint8Array, at: Position | undefined, from: string): void => {
    const line = decodeSessionLine(bytes)
    if (typeof line === 'string') onWarning(`sessions: skipped a line at ${from}: ${line}`)
    else apply(line, at)
  }

  const snapshot = await journal.loadSnapshot(STREAM)
  if (snapshot !== undefined) {
    const pause = createPauser()
    await forEachStateLine(snapshot.state, (line) => {
      const { at, bytes } = readSnapshotLine(line)
      applyBytes(bytes, at, 'the snapshot')
      return pause()
    })
    applied = snapshot.at
  }
  await journal.follow(
    STREAM,
    applied,
    (record, at) => {
      applyBytes(record.bytes, record.key === '' ? undefined : at, `position ${at}`)
      applied = at
    },
    following.signal,
  )

  const sessionsOf = (caller: Caller): ReadonlyMap<string, Kept> =>
    tenants.get(caller.tenant) ?? new Map<string, Kept>()

  return {
    async save(caller, input) {
      requireWriter(caller)
      assertTenant(caller.tenant)
      const storedId = storedSessionId(caller, input.sessionId)
      const stateJson = stateToJson(input.state)
      const now = clock.now()
      const record: Omit<SessionRecord, 'state'> = {
        session_id: storedId,
        ...tenantMember(caller.tenant),
        updated_at: toStoredTime(now),
        total_tokens: Math.ceil(Buffer.byteLength(stateJson) / 4),
        ...expiry(now, input.ttlSeconds),
        archived: false,
      }
      const line: SessionLine = {
        op: 'store',
        session: { ...record, state: JSON.parse(stateJson) },
      }
      const key = sessionKey(caller.tenant, storedId)
      await journal.append([{ key, bytes: encodeSessionLine(line) }])
      return toSession(input.sessionId, record, stateJson)
    },

    async get(caller, sessionId) {
      const kept = sessionsOf(caller).get(storedSessionId(caller, sessionId))
      return kept && toSession(sessionId, kept.record, kept.stateJson)
    },

    async list(caller, { includeArchived = false } = {}) {
      const ids: string[] = []
      const pause = createPauser()
      for (const [storedId, { record }] of sessionsOf(caller)) {
        const id = visibleSessionId(caller, storedId)
        if (id !== undefined && (includeArchived || !record.archived)) ids.push(id)
        await pause()
      }
      return ids.sort()
    },

    async reap() {
      const now = clock.now()
      const expired: { tenant: string; storedId: string; at: Position | undefined }[] = []
      for (const [tenant, sessions] of tenants) {
        for (const [storedId, { expiresAt, at }] of sessions) {
          if (expiresAt !== undefined && expiresAt <= now) expired.push({ tenant, storedId, at })
        }
      }
      let reaped = 0
      for (let i = 0; i < expired.length; i += REAP_WIDTH) {
        const batch = expired.slice(i, i + REAP_WIDTH).map(async ({ tenant, storedId, at }) => {
          const key = sessionKey(tenant, storedId)
          const bytes = encodeSessionLine({
            op: 'delete',
            session_id: storedId,
            ...tenantMember(tenant),
          })
          try {
            // A session that was saved again in the meantime has a newer position, and stays.
            await journal.append([{ key, bytes }], [{ key, last: at ?? 'none' }])
            reaped++
          } catch (error) {
            if (!hasCode(error, 'JOURNAL_CONFLICT')) throw error
          }
        })
        await Promise.all(batch)
      }
      return reaped
    },

    stats() {
      let sessions = 0
      for (const kept of tenants.values()) sessions += kept.size
      return { sessions }
    },

    async snapshot() {
      // Copied in one go, so that it is the state at exactly `applied`.
      const kept = [...tenants.values()].flatMap((sessions) => [...sessions.values()])
      await journal.saveSnapshot(STREAM, applied, writeSnapshot(kept))
    },

    async close() {
      following.abort()
    },
  }
}

function toSession(
  sessionId: string,
  record: Omit<SessionRecord, 'state'>,
  stateJson: string,
): Session {
  return {
    sessionId,
    state: JSON.parse(stateJson) as unknown,
    updatedAt: record.updated_at,
    totalTokens: record.total_tokens,
    expiresAt: record.expires_at ?? null,
    archived: record.archived,
  }
}

function tenantMember(tenant: string): { tenant?: string } {
  return tenant === DEFAULT_TENANT ? {} : { tenant }
}

function stateToJson(state: unknown): string {
  let json: string | undefined
  let cause: unknown
  try {
    json = JSON.stringify(state)
  } catch (error) {
    cause = error
  }
  if (json === undefined) {
    throw new CruxError<SessionErrorCode>(
      'SESSION_STATE_INVALID',
      'session state is not a JSON value; send an object, array, string, number, boolean or null',
      { cause },
    )
  }
  const bytes = Buffer.byteLength(json)
  if (bytes > MAX_SESSION_STATE_BYTES) {
    throw new CruxError<SessionErrorCode>(
      'SESSION_TOO_LARGE',
      `session state has ${bytes} bytes of JSON; at most ${MAX_SESSION_STATE_BYTES} are kept, so store less or split it`,
      { data: { bytes, maxBytes: MAX_SESSION_STATE_BYTES } },
    )
  }
  return json
}

function expiry(now: number, ttlSeconds: number | undefined): { expires_at?: string } {
  if (ttlSeconds === undefined) return {}
  const at = now + ttlSeconds * 1000
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < 0 || at > MAX_DATE_MS) {
    throw new CruxError<SessionErrorCode>(
      'SESSION_TTL_INVALID',
      `ttl_seconds is ${ttlSeconds}; expected a whole number of seconds from 0 that ends before the year 275760`,
      { data: { ttlSeconds } },
    )
  }
  return { expires_at: toStoredTime(at) }
}

/** Lines of `<position or -> <store line>`. */
async function* writeSnapshot(kept: readonly Kept[]): AsyncIterable<Uint8Array> {
  for (const { record, stateJson, at } of kept) {
    const line: SessionLine = {
      op: 'store',
      session: { ...record, state: JSON.parse(stateJson) as unknown },
    }
    yield Buffer.from(`${at ?? '-'} ${JSON.stringify(line)}\n`)
  }
}

/** A line that `writeSnapshot` wrote. */
function readSnapshotLine(line: Buffer): { at: Position | undefined; bytes: Uint8Array } {
  const space = line.indexOf(0x20)
  const at = line.toString('latin1', 0, space)
  return { at: at === '-' ? undefined : Number(at), bytes: line.subarray(space + 1) }
}
