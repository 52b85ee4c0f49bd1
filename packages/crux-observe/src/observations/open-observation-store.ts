import { randomUUID } from 'node:crypto'
import { type LineLogs, openLineLogs, type StorageFs } from 'crux-storage'
import {
  type Caller,
  type Clock,
  CruxError,
  createPauser,
  DEFAULT_TENANT,
  parseTime,
  requireWriter,
  toStoredTime,
} from 'crux-types'
import type { ObserveErrorCode } from '../errors.js'
import {
  type Acknowledgement,
  type Observation,
  type ObservationInput,
  readLine,
  readObservation,
} from './observation.js'
import type { ObservationQuery, ObservationStore, ObservedSession } from './observation-store.js'
import { observedSessions } from './observed-sessions.js'
import { prepareRecord } from './prepare-record.js'
import {
  ledgerSession,
  logName,
  mayHoldTenant,
  readableAs,
  readableSession,
  writableSession,
} from './session-reach.js'
import {
  type ChainEnd,
  HASH_PREFIX,
  type RecordHash,
  type RecordSigner,
  signRecord,
  type UnsignedRecord,
} from './sign-record.js'
import { verifyRecord } from './verify-record.js'

/** Largest payload when nobody says otherwise, in bytes of its compact JSON. */
export const DEFAULT_PAYLOAD_BYTES = 1024 * 1024
/** Most bytes of records in one answer. */
const MAX_PAGE_BYTES = 1024 * 1024
/** What a search for texts looks through, and finds, at most. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024
const MAX_FOUND = 100

export interface ObservationStoreOptions {
  /** Folder of the files, one for each session. */
  readonly dir: string
  readonly clock: Clock
  readonly signer: RecordSigner
  readonly hashes: RecordHash
  /** Default 1 MiB. */
  readonly maxPayloadBytes?: number
  readonly fs?: StorageFs
  /** Told of what recovery did; without recorded text. */
  readonly onWarning?: (message: string) => void
}

/**
 * Records in one file of JSON lines for each session. Nothing of them is held in memory but where the chains
 * of the files last written to have got.
 */
export function openObservationStore(options: ObservationStoreOptions): ObservationStore {
  const { clock, maxPayloadBytes = DEFAULT_PAYLOAD_BYTES } = options
  const logs: LineLogs<ChainEnd> = openLineLogs({ ...options, tailOf: chainEndOf })

  const append = async (
    caller: Caller,
    storedId: string,
    inputs: readonly ObservationInput[],
  ): Promise<readonly Acknowledgement[]> => {
    requireWriter(caller)
    const pause = createPauser()
    const records: UnsignedRecord[] = []
    for (const input of inputs) {
      const ts = toStoredTime(clock.now())
      const about = { caller, storedId, observationId: randomUUID(), ts, maxPayloadBytes, pause }
      records.push(await prepareRecord(input, about))
    }
    const log = logName(caller.tenant, storedId)
    const appended = records.map(async (record) => {
      const acknowledged: Acknowledgement[] = []
      await logs.append(log, (tail) => {
        const signed = signRecord(record, tail, options)
        acknowledged.push(signed.acknowledged)
        return { line: signed.line, tail: signed.end }
      })
      return acknowledged
    })
    return (await Promise.all(appended)).flat()
  }

  /** The records of a session that the caller may read, in pieces. */
  const readSession = async function* (
    caller: Caller,
    sessionId: string,
    signal: AbortSignal | undefined,
    mayMatch: (line: Buffer) => boolean = () => true,
  ): AsyncIterable<{ readonly record: Observation; readonly bytes: number }> {
    const storedId = readableSession(caller, sessionId)
    if (storedId === undefined) return
    const pause = createPauser({ signal })
    for await (const lines of logs.read(logName(caller.tenant, storedId), signal)) {
      for (const line of lines) {
        if (!mayMatch(line)) continue
        const record = readObservation(line)
        if (record?.session_id === storedId && tenantOf(record) === caller.tenant) {
          yield { record, bytes: line.length }
        }
        await pause()
      }
    }
  }

  const get: ObservationStore['get'] = async (caller, sessionId, observationId, signal) => {
    const mayMatch = (line: Buffer): boolean => line.includes(observationId)
    for await (const { record } of readSession(caller, sessionId, signal, mayMatch)) {
      if (record.observation_id === observationId) return record
    }
    return undefined
  }

  return {
    record: async (caller, sessionId, inputs) =>
      append(caller, writableSession(caller, sessionId), inputs),
    async recordCalls(caller, inputs) {
      // What an agent that may only read did is told by the daemon, not by the agent.
      await append({ ...caller, readOnly: false }, ledgerSession(caller), inputs)
    },
    async list(caller, sessionId, query, signal) {
      const { after, limit } = query
      const observations: Observation[] = []
      let bytes = 0
      let isAfter = after === undefined
      for await (const { record, bytes: size } of readSession(caller, sessionId, signal)) {
        if (!isAfter) {
          isAfter = record.observation_id === after
          continue
        }
        if (!matches(record, query)) continue
        const isFull = observations.length >= limit || bytes + size > MAX_PAGE_BYTES
        if (isFull && (observations.length > 0 || limit === 0)) {
          return { observations, hasMore: true }
        }
        observations.push(record)
        bytes += size
      }
      if (!isAfter) {
        throw new CruxError<ObserveErrorCode>(
          'OBSERVATION_NOT_FOUND',
          `after: observation ${after} is not in session ${sessionId}; name one that is, or leave it out`,
          { data: { observationId: after } },
        )
      }
      return { observations, hasMore: false }
    },
    get,
    async verify(caller, sessionId, observationId, signal) {
      const record = await get(caller, sessionId, observationId, signal)
      if (record === undefined) return undefined
      const file = logs.read(logName(caller.tenant, record.session_id), signal)
      return verifyRecord(record, file, options)
    },
    async sessions(caller, { since, limit }, signal) {
      const names = (await logs.names()).filter((name) => mayHoldTenant(name, caller.tenant))
      const newest: { readonly name: string; readonly at: number }[] = []
      for (const name of names) {
        signal?.throwIfAborted()
        const at = timeOf(await logs.last(name)) ?? 0
        if (since === undefined || at >= since) newest.push({ name, at })
      }
      newest.sort((a, b) => b.at - a.at)
      const sees = (record: Observation): string | undefined =>
        tenantOf(record) === caller.tenant ? readableAs(caller, record.session_id) : undefined
      const found: ObservedSession[] = []
      for (const { name } of newest) {
        if (found.length >= limit) break
        found.push(...(await observedSessions(logs.read(name, signal), sees, since)))
      }
      const lastOf = ({ lastAt }: ObservedSession): number => parseTime(lastAt ?? '') ?? 0
      return found.sort((a, b) => lastOf(b) - lastOf(a)).slice(0, limit)
    },
    async find(caller, texts, signal) {
      const found: { sessionId: string; observationId: string }[] = []
      if (texts.length === 0) return found
      // As they stand within JSON.
      const wanted = texts.map((text) => Buffer.from(JSON.stringify(text).slice(1, -1)))
      const pause = createPauser({ signal })
      let left = MAX_SEARCHED_BYTES
      for (const name of await logs.names()) {
        if (!mayHoldTenant(name, caller.tenant)) continue
        for await (const lines of logs.read(name, signal)) {
          for (const line of lines) {
            left -= line.length
            if (left < 0 || found.length >= MAX_FOUND) return found
            await pause()
            if (!wanted.some((text) => line.includes(text))) continue
            const record = readObservation(line)
            if (record === undefined || tenantOf(record) !== caller.tenant) continue
            const sessionId = readableAs(caller, record.session_id)
            if (sessionId === undefined) continue
            found.push({ sessionId, observationId: record.observation_id })
          }
        }
      }
      return found
    },
    async archiveBefore(time) {
      let archived = 0
      for (const name of await logs.names()) {
        const isMoved = await logs.archive(name, (last) => {
          const at = timeOf(last)
          if (at === undefined || at >= time) return undefined
          return `${name}.${toStoredTime(at).replace(/[-:]|\.\d+/g, '')}`
        })
        if (isMoved) archived++
      }
      return archived
    },
    close: () => logs.close(),
  }
}

/** Where the chain of a file has got to, by its last line. */
function chainEndOf(line: Buffer): ChainEnd | null | undefined {
  const record = readLine(line)
  if (typeof record?.observation_id !== 'string') return undefined
  const { seq, receipt } = record
  if (typeof seq !== 'number' || typeof receipt !== 'object' || receipt === null) return null
  const hash = 'body_hash' in receipt ? receipt.body_hash : undefined
  if (typeof hash !== 'string' || !hash.startsWith(HASH_PREFIX)) return null
  return { seq, hash: hash.slice(HASH_PREFIX.length) }
}

function tenantOf({ tenant = DEFAULT_TENANT }: Observation): string {
  return tenant
}

function timeOf(line: Buffer | undefined): number | undefined {
  const { ts } = (line && readLine(line)) ?? {}
  return typeof ts === 'string' ? parseTime(ts) : undefined
}

function matches(
  record: Observation,
  { since, provider, kind }: Pick<ObservationQuery, 'since' | 'provider' | 'kind'>,
): boolean {
  if (provider !== undefined && record.provider !== provider) return false
  if (kind !== undefined && record.kind !== kind) return false
  if (since === undefined || record.ts === undefined) return true
  return (parseTime(record.ts) ?? since) >= since
}
