import { createHash } from 'node:crypto'
import { DEFAULT_TENANT, isObject, isTenant } from 'crux-types'

/** One version of a record: what an upsert or a delete left behind. */
export interface Revision {
  /** Compact JSON of the payload. */
  readonly payloadJson: string
  /** RFC 3339, as the journal has it. */
  readonly createdAt: string
  /** RFC 3339, as the journal has it. */
  readonly updatedAt: string
  /** 1 for the first; deletes count. */
  readonly version: number
  readonly deleted: boolean
  readonly actor: string
}

/** A change of one record, as a line of the journal names it. */
export interface RecordLine {
  readonly tenant: string
  /** What names the record within its tenant, in the order of the form's members. */
  readonly parts: readonly string[]
  readonly change:
    | { readonly op: 'upsert'; readonly revision: Revision }
    | {
        readonly op: 'delete'
        readonly deletedAt: string
        readonly version: number
        readonly actor: string
      }
}

/** How the records of one stream look. */
export interface RecordForm {
  readonly stream: string
  /** Members that name a record, all of them text. */
  readonly members: readonly string[]
  /** Further members of a line that follow from the names. */
  derived(parts: readonly string[]): Readonly<Record<string, string>>
}

/**
 * Journal key of a record: all its versions share it.
 *
 * The names are hashed, so that they may hold any character and lines stay short.
 */
export function recordKey(form: RecordForm, tenant: string, parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts))
  return `${tenant}/${form.stream}/${hash.digest('base64url').slice(0, 24)}`
}

/** UTF-8 bytes of one line, without the line break. */
export function encodeRecordLine(form: RecordForm, line: RecordLine): Uint8Array {
  const { tenant, parts, change } = line
  const names = {
    ...form.derived(parts),
    ...Object.fromEntries(form.members.map((member, i) => [member, parts[i] ?? ''])),
  }
  const scope = tenant === DEFAULT_TENANT ? {} : { tenant }
  if (change.op === 'delete') {
    const { deletedAt, actor, version } = change
    return Buffer.from(
      JSON.stringify({ op: 'delete', ...scope, ...names, deleted_at: deletedAt, actor, version }),
    )
  }
  const { payloadJson, createdAt, updatedAt, version, deleted, actor } = change.revision
  const record = JSON.stringify({
    ...names,
    created_at: createdAt,
    updated_at: updatedAt,
    version,
    deleted,
    actor,
  })
  const head = JSON.stringify({ op: 'upsert', ...scope })
  // The payload is JSON already; making it once more would cost as much as keeping it.
  return Buffer.from(
    `${head.slice(0, -1)},"record":${record.slice(0, -1)},"payload":${payloadJson}}}`,
  )
}

/**
 * The change that a line names.
 *
 * @returns The reason as text when the line names none, so that a replay can report and go on.
 */
export function decodeRecordLine(form: RecordForm, bytes: Uint8Array): RecordLine | string {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  } catch {
    // The parser's own message would quote stored text.
    return 'it is not JSON'
  }
  if (!isObject(value)) return 'it is not an object'
  const tenant = value.tenant ?? DEFAULT_TENANT
  if (typeof tenant !== 'string' || !isTenant(tenant)) return 'tenant is not a tenant name'
  if (value.op === 'delete') {
    const parts = partsOf(form, value)
    if (typeof parts === 'string') return parts
    const { deleted_at: deletedAt, version, actor = 'system' } = value
    if (typeof deletedAt !== 'string') return 'deleted_at is not a string'
    if (!isVersion(version)) return 'version is not a whole number from 1'
    if (typeof actor !== 'string') return 'actor is not a string'
    return { tenant, parts, change: { op: 'delete', deletedAt, version, actor } }
  }
  if (value.op !== 'upsert') return 'op is neither upsert nor delete'
  const { record } = value
  if (!isObject(record)) return 'record is not an object'
  const parts = partsOf(form, record)
  if (typeof parts === 'string') return parts
  const { created_at: createdAt, updated_at: updatedAt, version = 1, actor = 'system' } = record
  if (typeof createdAt !== 'string' || typeof updatedAt !== 'string') {
    return 'created_at or updated_at is not a string'
  }
  if (!isVersion(version)) return 'version is not a whole number from 1'
  if (typeof actor !== 'string') return 'actor is not a string'
  const revision = {
    payloadJson: JSON.stringify(record.payload ?? null),
    createdAt,
    updatedAt,
    version,
    deleted: record.deleted === true,
    actor,
  }
  return { tenant, parts, change: { op: 'upsert', revision } }
}

function partsOf(form: RecordForm, value: Record<string, unknown>): string[] | string {
  const parts: string[] = []
  for (const member of form.members) {
    const part = value[member]
    // NUL separates the parts of a name where records are put in order.
    if (typeof part !== 'string' || part.includes('\0')) return `${member} is not a plain text`
    parts.push(part)
  }
  return parts
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}
