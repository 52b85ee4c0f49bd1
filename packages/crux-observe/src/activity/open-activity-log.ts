import { createHash } from 'node:crypto'
import type { Journal, Position } from 'crux-storage'
import {
  type Caller,
  type Clock,
  CruxError,
  createPauser,
  hasCode,
  requireReadableTenant,
  requireWriter,
} from 'crux-types'
import type { ObserveErrorCode } from '../errors.js'
import type { RecordSigner } from '../observations/sign-record.js'
import {
  ACTIVITY_SCHEMA,
  type ActivityEntry,
  type ActivityInput,
  ANONYMOUS_ACTOR,
} from './activity-entry.js'
import {
  activityDigest,
  activityEntryId,
  decodeActivityLine,
  encodeActivityLine,
  isNumbering,
  numbering,
} from './activity-line.js'
import type { ActivityLog } from './activity-log.js'
import { findHolding, findRecent, findTurn } from './activity-reads.js'
import { type ActivityVerification, signActivity, verifyActivity } from './activity-receipt.js'
import {
  type ActivityBounds,
  ActivitySessions,
  ENTRY_BYTES,
  MAX_ENTRIES_OF_SESSION,
  type SessionNumber,
} from './activity-sessions.js'
import { parseMicroTime, toMicroTime } from './micro-time.js'
import { scrubReserved } from './scrub-reserved.js'

export interface ActivityLogOptions {
  /** For this log alone: the stream is rewritten while the log is open. */
  readonly journal: Journal
  readonly clock: Clock
  /** How long an entry is kept, in seconds. */
  readonly ttlSeconds: number
  /** The daemon's key, by which receipts are checked; with `isOn` each new entry gets one. */
  readonly signing?: { readonly signer: RecordSigner; readonly isOn: boolean }
  /** Told of journal lines that were skipped; without stored text. */
  readonly onWarning?: (message: string) => void
  /** In place of the bounds that the README states, for tests. */
  readonly bounds?: Partial<Omit<ActivityBounds, 'ttlMs'>>
}

/** Stream of the log's journal. */
export const ACTIVITY_STREAM = 'journal'

const MAX_SESSIONS = 10_000
const MAX_BYTES = 64 * 1024 * 1024
/** Numbers in one record. */
const NUMBERS_PER_RECORD = 1_000
/** Times that a number is taken anew because another writer had it. */
const MAX_ATTEMPTS = 8

/**
 * The activity log over its journal: what is there is loaded, and what is not kept any more is taken off
 * the disk.
 *
 * @throws {CruxError} The journal's codes.
 */
export async function openActivityLog(options: ActivityLogOptions): Promise<ActivityLog> {
  const { journal, clock, ttlSeconds, signing } = options
  const onWarning = options.onWarning ?? (() => {})
  const sessions = new ActivitySessions({
    ttlMs: ttlSeconds * 1000,
    maxSessions: MAX_SESSIONS,
    maxBytes: MAX_BYTES,
    maxEntriesOfSession: MAX_ENTRIES_OF_SESSION,
    ...options.bounds,
  })
  const following = new AbortController()
  let applied: Position = 0
  /** Entries in the journal, kept or not. */
  let stored = 0
  let numbers: readonly Position[] = []

  const apply = (bytes: Uint8Array, at: Position): void => {
    applied = at
    const line = decodeActivityLine(bytes)
    if (line === undefined) onWarning(`activity: skipped a line at position ${at}`)
    else if (isNumbering(line)) sessions.remember(line.floor, line.sessions)
    else {
      stored++
      const micros = parseMicroTime(line.created_at) ?? 0
      const kept = { entry: line, micros, at, bytes: bytes.length + ENTRY_BYTES }
      sessions.add(kept, clock.now())
    }
  }
  await journal.follow(
    ACTIVITY_STREAM,
    0,
    (record, at) => apply(record.bytes, at),
    following.signal,
  )

  async function append(
    caller: Caller,
    tenant: string,
    input: ActivityInput,
  ): Promise<ActivityEntry> {
    const entry = entryOf(caller, tenant, input, {
      seq: sessions.takeSeq(tenant, input.session_id),
      micros: sessions.takeMicros(clock.now()),
      signer: signing?.isOn === true ? signing.signer : undefined,
    })
    const key = entryKey(entry)
    // Another writer may have taken the number: then there is a record under this key.
    await journal.append([{ key, bytes: encodeActivityLine(entry) }], [{ key, last: 'none' }])
    return entry
  }

  /** Put the numbers that only memory knows into the journal. */
  async function keepNumbers(): Promise<void> {
    const untold = [...sessions.untold()]
    if (untold.length === 0 && sessions.firstSeq === 0) {
      numbers = []
      return
    }
    const records = inParts(untold).map((part) => ({
      key: NUMBERING_KEY,
      bytes: encodeActivityLine(numbering(sessions.firstSeq, part)),
    }))
    numbers = await journal.append(records)
  }

  let compacting: Promise<unknown> = Promise.resolve()
  async function compactNow(isForced: boolean): Promise<number> {
    const pause = createPauser()
    for (const session of sessions.all()) {
      sessions.trim(session, clock.now())
      await pause()
    }
    const gone = stored - sessions.entries
    if (gone === 0 || (!isForced && gone <= sessions.entries)) return 0
    await keepNumbers()
    const keep = new Set(numbers)
    const until = applied
    for (const { entries } of sessions.all()) {
      for (const { at } of entries) keep.add(at)
      await pause()
    }
    let dropped = 0
    await journal.rewrite(ACTIVITY_STREAM, ({ bytes }, at) => {
      if (at > until || keep.has(at)) return bytes
      const line = decodeActivityLine(bytes)
      // Not understood here, so not ours to drop.
      if (line === undefined) return bytes
      if (!isNumbering(line)) dropped++
      return undefined
    })
    stored -= dropped
    return dropped
  }

  const log: ActivityLog = {
    async record(caller, tenantId, input) {
      requireWriter(caller)
      // Who may write here at all may do so in every tenant within its reach.
      const tenant = requireReadableTenant(caller, tenantId ?? caller.tenant)
      if (input.private && caller.identity === null) {
        throw new CruxError<ObserveErrorCode>(
          'ACTIVITY_NEEDS_IDENTITY',
          'a private entry is read by its author alone, and nothing proves who that is; leave out private, or send a token that names a passport',
        )
      }
      for (let attempt = 1; ; attempt++) {
        try {
          return await append(caller, tenant, input)
        } catch (error) {
          if (!hasCode(error, 'JOURNAL_CONFLICT') || attempt === MAX_ATTEMPTS) throw error
        }
      }
    },
    recent: async (caller, { tenantId, ...query }) =>
      findRecent(sessions, caller, {
        ...query,
        tenant: requireReadableTenant(caller, tenantId ?? caller.tenant),
        now: clock.now(),
      }),
    turn: async (caller, { tenantId, ...query }) =>
      findTurn(sessions, caller, {
        ...query,
        tenant: requireReadableTenant(caller, tenantId ?? caller.tenant),
        now: clock.now(),
      }),
    async verify(entries) {
      const pause = createPauser()
      const verified: ActivityVerification[] = []
      for (const entry of entries) {
        verified.push(verifyActivity(entry, signing?.signer))
        await pause()
      }
      return verified
    },
    find: async (caller, values, signal) =>
      findHolding(sessions, caller, { values, signal, tenant: caller.tenant, now: clock.now() }),
    compact(isForced = false) {
      const compacted = compacting.then(() => compactNow(isForced))
      compacting = compacted.catch(() => undefined)
      return compacted
    },
    stats: () => ({ sessions: sessions.size, entries: sessions.entries }),
    async close() {
      following.abort()
      await compacting
    },
  }
  await log.compact(true)
  return log
}

const NUMBERING_KEY = `default/${ACTIVITY_STREAM}/numbering`

function entryKey({ tenant_id, session_id, seq }: ActivityEntry): string {
  const session = createHash('sha256').update(session_id).digest('base64url').slice(0, 24)
  return `${tenant_id}/${ACTIVITY_STREAM}/${session}-${seq}`
}

function entryOf(
  caller: Caller,
  tenant: string,
  input: ActivityInput,
  {
    seq,
    micros,
    signer,
  }: { readonly seq: number; readonly micros: number; readonly signer: RecordSigner | undefined },
): ActivityEntry {
  const { turn_id, refs, meta } = input
  const facts = {
    tenant_id: tenant,
    session_id: input.session_id,
    seq,
    kind: input.kind,
    text: scrubReserved(input.text),
    created_at: toMicroTime(micros),
  }
  const digest = activityDigest(facts)
  const entry_id = activityEntryId(digest)
  return {
    schema: ACTIVITY_SCHEMA,
    entry_id,
    ...facts,
    ...(turn_id === undefined ? {} : { turn_id }),
    actor_passport: caller.identity ?? ANONYMOUS_ACTOR,
    refs: { ...refs, receipt_ids: [...(refs.receipt_ids ?? []), entry_id] },
    meta: meta.intent === undefined ? meta : { ...meta, intent: scrubReserved(meta.intent) },
    private: input.private,
    ...(signer === undefined ? {} : { receipt: signActivity(digest, signer) }),
  }
}

/** At least one part, for what stands beside the numbers. */
function inParts(numbers: readonly SessionNumber[]): SessionNumber[][] {
  const parts: SessionNumber[][] = []
  for (let i = 0; i === 0 || i < numbers.length; i += NUMBERS_PER_RECORD) {
    parts.push(numbers.slice(i, i + NUMBERS_PER_RECORD))
  }
  return parts
}
