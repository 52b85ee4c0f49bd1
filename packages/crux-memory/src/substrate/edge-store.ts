import type { Journal } from 'crux-storage'
import { type Caller, type Clock, CruxError } from 'crux-types'
import { DOCUMENT_KIND } from './built-in-kinds.js'
import type { SubstrateErrorCode } from './errors.js'
import type { RecordForm } from './record-line.js'
import { type Versioned, VersionedRecords } from './versioned-records.js'

/** The five names that make an edge what it is. */
export interface EdgeName {
  readonly from_kind: string
  readonly from_id: string
  readonly edge_kind: string
  readonly to_kind: string
  readonly to_id: string
}

/** The newest version of an edge; times are RFC 3339 in UTC. */
export interface EdgeRecord extends EdgeName {
  /** `<from_kind>/<from_id>|<edge_kind>|<to_kind>/<to_id>`: for people; the five names are the identity. */
  readonly edge_id: string
  /** Any JSON value, null when none was given; the reader's own. */
  readonly payload: unknown
  readonly created_at: string
  readonly updated_at: string
  readonly version: number
  readonly deleted: boolean
  readonly actor: string
}

/** A live edge between two documents. */
export interface DocumentEdge {
  readonly tenant: string
  /** `<doc_id>` or `<corpus>/<doc_id>`, as its writer named the document. */
  readonly from: string
  readonly to: string
  readonly kind: string
  /** The payload's `confidence` where that is a number from 0 to 1, else 1. */
  readonly confidence: number
}

/** How documents hang together, for ranking them. */
export interface DocumentEdges {
  /** In no order. Reads what there is while it is asked for; not across waits. */
  edgesOfDocuments(tenant: string): Generator<DocumentEdge>
  /** Grows whenever an edge between documents of the tenant changed; starts anew with the process. */
  documentEdgeChanges(tenant: string): number
}

/**
 * Named relations between entities, each within the home tenant of its writer and seen by all of
 * that tenant. The ends need not exist. Earlier versions are not kept.
 *
 * Writes resolve when durable. @throws {CruxError} see `SubstrateErrorCode`, and the journal's codes.
 */
export interface EdgeStore extends DocumentEdges {
  upsert(caller: Caller, edge: EdgeName & { readonly payload?: unknown }): Promise<EdgeRecord>
  get(caller: Caller, edge: EdgeName): Promise<EdgeRecord | undefined>
  /** By `edge_id`. */
  list(
    caller: Caller,
    filter?: Partial<EdgeName> & { limit?: number; includeDeleted?: boolean },
  ): Promise<readonly EdgeRecord[]>
  /** The version that says so. @throws {CruxError} `EDGE_NOT_FOUND` when it was never stored. */
  delete(caller: Caller, edge: EdgeName): Promise<EdgeRecord>
  /** Numbers for status and metrics. */
  stats(): { readonly records: number }
  /** Keep the state, so that a start need not replay everything. */
  snapshot(): Promise<void>
  close(): Promise<void>
}

/** Journal stream of edges. */
export const EDGE_STREAM = 'substrate-edges'

const MEMBERS = ['from_kind', 'from_id', 'edge_kind', 'to_kind', 'to_id'] as const

const FORM: RecordForm = {
  stream: EDGE_STREAM,
  members: MEMBERS,
  derived: (parts) => ({ edge_id: edgeId(parts) }),
}

/**
 * Edges over the journal stream `substrate-edges`.
 *
 * @throws {CruxError} the journal's codes.
 */
export async function openEdgeStore(options: {
  readonly journal: Journal
  readonly clock: Clock
  /** Told of journal lines that were skipped; without stored text. */
  readonly onWarning?: (message: string) => void
}): Promise<EdgeStore> {
  const { journal, clock, onWarning = () => {} } = options
  const changes = new Map<string, number>()
  const records = await VersionedRecords.open({
    journal,
    clock,
    form: FORM,
    keepsHistory: false,
    // Names may hold the signs that the id puts between them, so that it alone tells not all apart.
    orderKey: (parts) => [edgeId(parts), ...parts].join('\0'),
    onWarning,
    onChange: (tenant, parts) => {
      if (joinsDocuments(parts)) changes.set(tenant, (changes.get(tenant) ?? 0) + 1)
    },
  })

  return {
    async upsert(caller, { payload, ...name }) {
      return toRecord(await records.upsert(caller, partsOf(name), payload ?? null))
    },

    async get(caller, edge) {
      const found = records.get(caller, partsOf(edge))
      return found === undefined || found.revision.deleted ? undefined : toRecord(found)
    },

    async list(caller, filter = {}) {
      const { limit = Number.POSITIVE_INFINITY, includeDeleted = false, ...names } = filter
      const wanted = MEMBERS.map((member) => names[member])
      return records.list(
        caller,
        {
          start: names.from_kind === undefined ? '' : `${names.from_kind}/${names.from_id ?? ''}`,
          matches: (parts) => wanted.every((name, i) => name === undefined || name === parts[i]),
          includeDeleted,
          limit,
        },
        toRecord,
      )
    },

    async delete(caller, edge) {
      const parts = partsOf(edge)
      const missing = (): CruxError =>
        new CruxError<SubstrateErrorCode>('EDGE_NOT_FOUND', `edge ${edgeId(parts)} not found`, {
          data: { edge_id: edgeId(parts) },
        })
      return toRecord(await records.delete(caller, parts, missing))
    },

    *edgesOfDocuments(tenant) {
      for (const { parts, revision } of records.live(tenant)) {
        if (!joinsDocuments(parts)) continue
        const [, from = '', kind = '', , to = ''] = parts
        yield { tenant, from, to, kind, confidence: confidenceOf(revision.payloadJson) }
      }
    },

    documentEdgeChanges: (tenant) => changes.get(tenant) ?? 0,
    stats: () => ({ records: records.size }),
    snapshot: () => records.snapshot(),
    close: () => records.close(),
  }
}

function partsOf(edge: EdgeName): readonly string[] {
  return MEMBERS.map((member) => edge[member])
}

function edgeId([fromKind, fromId, edgeKind, toKind, toId]: readonly string[]): string {
  return `${fromKind}/${fromId}|${edgeKind}|${toKind}/${toId}`
}

function joinsDocuments([fromKind, , , toKind]: readonly string[]): boolean {
  return fromKind === DOCUMENT_KIND && toKind === DOCUMENT_KIND
}

function confidenceOf(payloadJson: string): number {
  const payload: unknown = JSON.parse(payloadJson)
  if (typeof payload !== 'object' || payload === null) return 1
  const confidence: unknown = Reflect.get(payload, 'confidence')
  return typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : 1
}

function toRecord({ parts, revision }: Versioned): EdgeRecord {
  const [from_kind = '', from_id = '', edge_kind = '', to_kind = '', to_id = ''] = parts
  return {
    edge_id: edgeId(parts),
    from_kind,
    from_id,
    edge_kind,
    to_kind,
    to_id,
    payload: JSON.parse(revision.payloadJson) as unknown,
    created_at: revision.createdAt,
    updated_at: revision.updatedAt,
    version: revision.version,
    deleted: revision.deleted,
    actor: revision.actor,
  }
}
