import { CruxError } from 'crux-types'
import type { DocumentsErrorCode } from '../errors.js'

/** What of a request is refused. */
export interface Where {
  readonly docId?: string
  readonly chunkId?: string
}

/** Refuse more than is taken of something. @throws {CruxError} `INGEST_TOO_LARGE`. */
export function atMost(field: string, limit: number, got: number, where: Where = {}): void {
  if (got <= limit) return
  const unit = field === 'text' || field === 'chunk text' ? 'bytes of text' : field
  throw new CruxError<DocumentsErrorCode>(
    'INGEST_TOO_LARGE',
    `${place(where)}${got} ${unit}, at most ${limit} are taken; send less at a time`,
    { data: { field, limit, got, ...where } },
  )
}

/** A part of a request that breaks a rule. */
export function invalid(
  field: string,
  why: string,
  where: Where,
  more: { readonly expected?: unknown; readonly got?: unknown } = {},
): CruxError<DocumentsErrorCode> {
  return new CruxError('DOCUMENT_INVALID', `${place(where)}${field} ${why}`, {
    data: { field, ...where, ...more },
  })
}

/** Something that occurs twice in a request. */
export function duplicate(message: string, where: Where): CruxError<DocumentsErrorCode> {
  return new CruxError('DOCUMENT_DUPLICATE', message, { data: { ...where } })
}

function place({ docId, chunkId }: Where): string {
  const parts = [
    ...(docId === undefined ? [] : [`document ${quoted(docId)}`]),
    ...(chunkId === undefined ? [] : [`chunk ${quoted(chunkId)}`]),
  ]
  return parts.length === 0 ? '' : `${parts.join(', ')}: `
}

function quoted(id: string): string {
  return JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id)
}
