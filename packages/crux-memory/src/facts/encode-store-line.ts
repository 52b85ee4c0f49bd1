import { JSON_BYTES_PER_UNIT, putAscii, putInteger, putJsonString } from 'crux-storage'
import type { Fact } from '../fact.js'
import { shortFloat32 } from './float32.js'

const SPACE_BYTES = 64 * 1024
/** Lines that may take more are left to `JSON.stringify`, so that little of the space stays unused. */
const MOST_BYTES = 16 * 1024
/** Names of all members, numbers, and what stands between them. */
const FIXED_BYTES = 1024

/** Where lines are written one after another; what was written stays, since records hold it. */
let space = Buffer.alloc(0)
let used = 0

/**
 * UTF-8 bytes of the line `{"op":"store","fact":{...}}`; the bytes belong to the caller.
 *
 * Every write makes one, and `JSON.stringify` with a copy of its text takes several times as long.
 */
export function encodeStoreLine(fact: Fact): Uint8Array {
  const most = unitsOf(fact) * JSON_BYTES_PER_UNIT + FIXED_BYTES
  if (most > MOST_BYTES)
    return Buffer.from(JSON.stringify({ op: 'store', fact: toStoredFact(fact) }))
  if (space.length - used < most) {
    space = Buffer.allocUnsafeSlow(SPACE_BYTES)
    used = 0
  }
  const start = used
  used = putFact(space, start, fact)
  return space.subarray(start, used)
}

/** A fact with its confidence in the short form of the journal. */
export function toStoredFact(fact: Fact): Fact {
  const confidence = shortFloat32(fact.confidence)
  return confidence === fact.confidence ? fact : { ...fact, confidence }
}

function putFact(target: Buffer, offset: number, fact: Fact): number {
  let at = putText(target, offset, '{"op":"store","fact":{"fact_id":', fact.fact_id)
  at = putText(target, at, ',"tenant_hash":', fact.tenant_hash)
  at = putText(target, at, ',"entity":', fact.entity)
  at = putText(target, at, ',"key":', fact.key)
  at = putText(target, at, ',"value":', fact.value)
  if (fact.source_receipt === null) at = putAscii(target, at, ',"source_receipt":null')
  else at = putText(target, at, ',"source_receipt":', fact.source_receipt)
  at = putAscii(target, at, ',"confidence":')
  at = putAscii(target, at, JSON.stringify(shortFloat32(fact.confidence)))
  at = putText(target, at, ',"stored_at":', fact.stored_at)
  at = putInteger(target, putAscii(target, at, ',"tokens":'), fact.tokens)
  at = putAscii(target, at, fact.deleted ? ',"deleted":true' : ',"deleted":false')
  at = putInteger(target, putAscii(target, at, ',"version":'), fact.version)
  at = putAscii(target, at, fact.private ? ',"private":true' : ',"private":false')
  at = putText(target, at, ',"horizon_class":', fact.horizon_class)
  at = putOptional(target, at, ',"supersedes":', fact.supersedes)
  at = putOptional(target, at, ',"reverified_at":', fact.reverified_at)
  at = putOptional(target, at, ',"superseded_by":', fact.superseded_by)
  at = putOptional(target, at, ',"actor":', fact.actor)
  at = putOptional(target, at, ',"valid_from":', fact.valid_from)
  at = putOptional(target, at, ',"valid_to":', fact.valid_to)
  if (fact.seeded !== undefined) at = putAscii(target, at, `,"seeded":${fact.seeded}`)
  if (fact.forgotten !== undefined) at = putAscii(target, at, `,"forgotten":${fact.forgotten}`)
  if (fact.access_count !== undefined) {
    at = putInteger(target, putAscii(target, at, ',"access_count":'), fact.access_count)
  }
  at = putOptional(target, at, ',"last_accessed_at":', fact.last_accessed_at)
  return putAscii(target, at, '}}')
}

function putText(target: Buffer, offset: number, name: string, text: string): number {
  return putJsonString(target, putAscii(target, offset, name), text)
}

function putOptional(
  target: Buffer,
  offset: number,
  name: string,
  text: string | undefined,
): number {
  return text === undefined ? offset : putText(target, offset, name, text)
}

/** UTF-16 units of all texts of a fact. */
function unitsOf(fact: Fact): number {
  let units = fact.fact_id.length + fact.tenant_hash.length + fact.stored_at.length
  units += fact.entity.length + fact.key.length + fact.value.length
  units += fact.source_receipt?.length ?? 0
  units += (fact.supersedes?.length ?? 0) + (fact.superseded_by?.length ?? 0)
  units += (fact.actor?.length ?? 0) + (fact.reverified_at?.length ?? 0)
  units += (fact.valid_from?.length ?? 0) + (fact.valid_to?.length ?? 0)
  return units + (fact.last_accessed_at?.length ?? 0)
}
