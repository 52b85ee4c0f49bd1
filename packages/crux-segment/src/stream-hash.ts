import { formatError } from './errors.js'
import type { Hashes } from './hashes.js'

const WHITE_SPACE_AT_END = /^\p{White_Space}|\p{White_Space}$/u

/**
 * Number under which a stream's records are filed: XXH64, seed 0, of the three parts with NUL between.
 *
 * @throws {CruxError} `STREAM_PART_EMPTY`, `STREAM_PART_WHITESPACE` or `STREAM_PART_NUL`, checked in that
 *   order, part by part.
 */
export function streamHash(
  tenantId: string,
  streamType: string,
  streamId: string,
  hashes: Hashes,
): bigint {
  checkPart('tenant_id', tenantId)
  checkPart('stream_type', streamType)
  checkPart('stream_id', streamId)
  return hashes.xxh64Text(`${tenantId}\0${streamType}\0${streamId}`)
}

/** Number by which an index tells tenants apart: XXH64, seed 0. */
export function tenantHash(tenantId: string, hashes: Hashes): bigint {
  return hashes.xxh64Text(tenantId)
}

function checkPart(field: string, part: string): void {
  if (part === '') throw formatError('STREAM_PART_EMPTY', `${field} is empty`, { field })
  if (WHITE_SPACE_AT_END.test(part)) {
    throw formatError(
      'STREAM_PART_WHITESPACE',
      `${field} ${JSON.stringify(part.slice(0, 80))} has white space at an end; trim it`,
      { field },
    )
  }
  if (part.includes('\0')) {
    throw formatError('STREAM_PART_NUL', `${field} holds a NUL character; remove it`, { field })
  }
}
