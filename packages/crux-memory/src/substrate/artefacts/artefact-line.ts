import { DEFAULT_TENANT, isObject, isTenant, parseTime } from 'crux-types'
import type { Artefact } from './artefact-store.js'

/** Journal stream of artefacts. */
export const ARTEFACT_STREAM = 'artefacts'

/** A change of the artefacts, as a line of the journal names it. */
export type ArtefactLine =
  | {
      readonly op: 'put'
      readonly tenant: string
      readonly artefact: Artefact
      readonly content: Uint8Array
    }
  | { readonly op: 'delete'; readonly tenant: string; readonly artefactId: string }

/** Journal key of an artefact. */
export function artefactKey(tenant: string, artefactId: string): string {
  return `${tenant}/${ARTEFACT_STREAM}/${artefactId}`
}

// The bytes stand last, in base64, which needs no escaping: so that lines of many mebibytes are
// put together and taken apart without going through a JSON parser. The quotes of the marker
// cannot occur inside a JSON text.
const CONTENT_MARK = ',"content":"'
const CONTENT_END = '"}'

/** UTF-8 bytes of the line of a put, without the line break. */
export function encodePut(tenant: string, artefact: Artefact, content: Uint8Array): Uint8Array {
  const { tool_origin, expires_at, ...rest } = artefact
  const head = JSON.stringify({
    op: 'put',
    ...scopeOf(tenant),
    artefact: {
      ...rest,
      ...(tool_origin === null ? {} : { tool_origin }),
      ...(expires_at === null ? {} : { expires_at }),
    },
  })
  const start = Buffer.from(head.slice(0, -1) + CONTENT_MARK)
  const base64 = bufferOf(content).toString('base64')
  const line = Buffer.allocUnsafeSlow(start.length + base64.length + CONTENT_END.length)
  start.copy(line)
  line.write(base64, start.length, 'latin1')
  line.write(CONTENT_END, start.length + base64.length, 'latin1')
  return line
}

/** UTF-8 bytes of the line of a removal. */
export function encodeDelete(tenant: string, artefactId: string, deletedAt: string): Uint8Array {
  return Buffer.from(
    JSON.stringify({
      op: 'delete',
      ...scopeOf(tenant),
      artefact_id: artefactId,
      deleted_at: deletedAt,
    }),
  )
}

/**
 * The change that a line names.
 *
 * @returns The reason as text when the line names none, so that a replay can report and go on.
 */
export function decodeArtefactLine(bytes: Uint8Array): ArtefactLine | string {
  const line = bufferOf(bytes)
  const mark = line.indexOf(CONTENT_MARK)
  const head = mark === -1 ? line.toString() : `${line.toString('utf8', 0, mark)}}`
  let value: unknown
  try {
    value = JSON.parse(head)
  } catch {
    // The parser's own message would quote stored text.
    return 'it is not JSON'
  }
  if (!isObject(value)) return 'it is not an object'
  const tenant = value.tenant ?? DEFAULT_TENANT
  if (typeof tenant !== 'string' || !isTenant(tenant)) return 'tenant is not a tenant name'
  if (value.op === 'delete') {
    const { artefact_id: artefactId } = value
    if (typeof artefactId !== 'string') return 'artefact_id is not a string'
    return { op: 'delete', tenant, artefactId }
  }
  if (value.op !== 'put') return 'op is neither put nor delete'
  const artefact = decodeArtefact(value.artefact)
  if (typeof artefact === 'string') return artefact
  if (mark === -1) return 'the content is missing'
  const from = mark + CONTENT_MARK.length
  const content = Buffer.from(
    line.toString('latin1', from, line.length - CONTENT_END.length),
    'base64',
  )
  if (content.length !== artefact.size_bytes) return 'the content is not of the size that is stated'
  return { op: 'put', tenant, artefact, content }
}

function decodeArtefact(value: unknown): Artefact | string {
  if (!isObject(value)) return 'artefact is not an object'
  const { artefact_id, owner_passport, mime_type, tool_origin, size_bytes } = value
  const { created_at, expires_at } = value
  if (typeof artefact_id !== 'string') return 'artefact_id is not a string'
  if (typeof owner_passport !== 'string') return 'owner_passport is not a string'
  if (typeof mime_type !== 'string') return 'mime_type is not a string'
  if (typeof size_bytes !== 'number') return 'size_bytes is not a number'
  if (!isTime(created_at)) return 'created_at is not a time'
  if (expires_at !== undefined && !isTime(expires_at)) return 'expires_at is not a time'
  return {
    artefact_id,
    owner_passport,
    mime_type,
    tool_origin: typeof tool_origin === 'string' ? tool_origin : null,
    size_bytes,
    created_at,
    expires_at: expires_at ?? null,
  }
}

function scopeOf(tenant: string): { tenant?: string } {
  return tenant === DEFAULT_TENANT ? {} : { tenant }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && parseTime(value) !== undefined
}
