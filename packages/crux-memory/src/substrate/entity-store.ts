import type { Journal } from 'crux-storage'
import { type Caller, type Clock, CruxError, hasCode } from 'crux-types'
import type { SubstrateErrorCode } from './errors.js'
import type { KindRegistry } from './kind-registry.js'
import type { RecordForm } from './record-line.js'
import { type Versioned, VersionedRecords } from './versioned-records.js'

/** One version of an entity; times are RFC 3339 in UTC. */
export interface EntityRecord {
  readonly kind: string
  readonly id: string
  /** Any JSON value; the reader's own. */
  readonly payload: unknown
  readonly created_at: string
  readonly updated_at: string
  /** 1 for the first; deletes count. */
  readonly version: number
  readonly deleted: boolean
  /** Name of the agent that made this version, `anonymous` or `system`. */
  readonly actor: string
}

/**
 * Things with a kind, an id and a payload, each within the home tenant of its writer and seen by
 * all of that tenant.
 *
 * Writes resolve when durable. @throws {CruxError} see `SubstrateErrorCode`, and the journal's codes.
 */
export interface EntityStore {
  /** The next version; a payload of a registered kind has to fit, else `PAYLOAD_INVALID`. */
  upsert(
    caller: Caller,
    entity: { readonly kind: string; readonly id: string; readonly payload: unknown },
  ): Promise<EntityRecord>
  get(
    caller: Caller,
    kind: string,
    id: string,
    options?: { includeDeleted?: boolean },
  ): Promise<EntityRecord | undefined>
  /** Newest versions by kind, then id. */
  list(
    caller: Caller,
    filter?: { kind?: string; limit?: number; includeDeleted?: boolean },
  ): Promise<readonly EntityRecord[]>
  /** Every version, deletes included, oldest first. */
  history(caller: Caller, kind: string, id: string): Promise<readonly EntityRecord[]>
  /** The version that says so. @throws {CruxError} `ENTITY_NOT_FOUND` when it was never stored. */
  delete(caller: Caller, kind: string, id: string): Promise<EntityRecord>
  /** Numbers for status and metrics. */
  stats(): { readonly records: number }
  /** Keep the state, so that a start need not replay everything. */
  snapshot(): Promise<void>
  close(): Promise<void>
}

/** Journal stream of entities. */
export const ENTITY_STREAM = 'entities'

const FORM: RecordForm = {
  stream: ENTITY_STREAM,
  members: ['kind', 'id'],
  derived: () => ({}),
}

/**
 * Entities over the journal stream `entities`.
 *
 * @throws {CruxError} the journal's codes.
 */
export async function openEntityStore(options: {
  readonly journal: Journal
  readonly clock: Clock
  readonly kinds: KindRegistry
  /** Told of journal lines that were skipped; without stored text. */
  readonly onWarning?: (message: string) => void
}): Promise<EntityStore> {
  const { journal, clock, kinds, onWarning = () => {} } = options
  const records = await VersionedRecords.open({
    journal,
    clock,
    form: FORM,
    keepsHistory: true,
    orderKey: ([kind, id]) => `${kind}\0${id}`,
    onWarning,
  })

  return {
    async upsert(caller, { kind, id, payload }) {
      if (kinds.get(kind) !== undefined) validate(kinds, kind, payload)
      return toRecord(await records.upsert(caller, [kind, id], payload))
    },

    async get(caller, kind, id, { includeDeleted = false } = {}) {
      const found = records.get(caller, [kind, id])
      if (found === undefined || (found.revision.deleted && !includeDeleted)) return undefined
      return toRecord(found)
    },

    async list(caller, { kind, limit = Number.POSITIVE_INFINITY, includeDeleted = false } = {}) {
      return records.list(
        caller,
        {
          start: kind === undefined ? '' : `${kind}\0`,
          matches: () => true,
          includeDeleted,
          limit,
        },
        toRecord,
      )
    },

    async history(caller, kind, id) {
      return records.history(caller, [kind, id]).map(toRecord)
    },

    async delete(caller, kind, id) {
      const missing = (): CruxError =>
        new CruxError<SubstrateErrorCode>('ENTITY_NOT_FOUND', `entity ${kind}/${id} not found`, {
          data: { kind, id },
        })
      return toRecord(await records.delete(caller, [kind, id], missing))
    },

    stats: () => ({ records: records.size }),
    snapshot: () => records.snapshot(),
    close: () => records.close(),
  }
}

function validate(kinds: KindRegistry, kind: string, payload: unknown): void {
  try {
    kinds.validate(kind, payload)
  } catch (error) {
    if (!hasCode<SubstrateErrorCode>(error, 'PAYLOAD_INVALID')) throw error
    throw new CruxError<SubstrateErrorCode>(
      'PAYLOAD_INVALID',
      `kind validation failed: ${error.message}`,
      { cause: error, data: { ...error.data } },
    )
  }
}

function toRecord({ parts, revision }: Versioned): EntityRecord {
  const [kind = '', id = ''] = parts
  return {
    kind,
    id,
    payload: JSON.parse(revision.payloadJson) as unknown,
    created_at: revision.createdAt,
    updated_at: revision.updatedAt,
    version: revision.version,
    deleted: revision.deleted,
    actor: revision.actor,
  }
}
