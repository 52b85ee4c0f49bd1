import type { Fact } from '../fact.js'
import { shortFloat32 } from './float32.js'

const SPACE_BYTES = 64 * 1024
/** Longer lines get memory of their own, so that little of the space stays unused. */
const MOST_UNITS = 4 * 1024
/** UTF-8 bytes of a UTF-16 unit, at most. */
const BYTES_PER_UNIT = 3

/** What `JSON.stringify` escapes, and surrogates: it escapes those without their other half. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among them
const SPECIAL = /["\\\u0000-\u001f\ud800-\udfff]/

/** Where lines are written one after another; what was written stays, since records hold it. */
let space = Buffer.alloc(0)
let used = 0

/**
 * UTF-8 bytes of the line `{"op":"store","fact":{...}}`; they belong to the caller.
 *
 * Every write makes one, and `JSON.stringify` takes twice as long, as it cannot know the members.
 */
export function encodeStoreLine(fact: Fact): Uint8Array {
  const text =
    `{"op":"store","fact":{"fact_id":${quote(fact.fact_id)},"tenant_hash":${quote(fact.tenant_hash)}` +
    `,"entity":${quote(fact.entity)},"key":${quote(fact.key)},"value":${quote(fact.value)}` +
    `,"source_receipt":${fact.source_receipt === null ? 'null' : quote(fact.source_receipt)}` +
    `,"confidence":${shortFloat32(fact.confidence)},"stored_at":${quote(fact.stored_at)}` +
    `,"tokens":${fact.tokens},"deleted":${fact.deleted},"version":${fact.version}` +
    `,"private":${fact.private},"horizon_class":"${fact.horizon_class}"${rare(fact)}}}`
  if (text.length > MOST_UNITS) return Buffer.from(text)
  if (space.length - used < text.length * BYTES_PER_UNIT) {
    space = Buffer.allocUnsafeSlow(SPACE_BYTES)
    used = 0
  }
  const start = used
  used += space.write(text, start)
  return space.subarray(start, used)
}

/** A fact with its confidence in the short form of the journal. */
export function toStoredFact(fact: Fact): Fact {
  const confidence = shortFloat32(fact.confidence)
  return confidence === fact.confidence ? fact : { ...fact, confidence }
}

/** Members that most facts do not have. */
function rare(fact: Fact): string {
  let text = ''
  if (fact.supersedes !== undefined) text += `,"supersedes":${quote(fact.supersedes)}`
  if (fact.reverified_at !== undefined) text += `,"reverified_at":${quote(fact.reverified_at)}`
  if (fact.superseded_by !== undefined) text += `,"superseded_by":${quote(fact.superseded_by)}`
  if (fact.actor !== undefined) text += `,"actor":${quote(fact.actor)}`
  if (fact.valid_from !== undefined) text += `,"valid_from":${quote(fact.valid_from)}`
  if (fact.valid_to !== undefined) text += `,"valid_to":${quote(fact.valid_to)}`
  if (fact.seeded !== undefined) text += `,"seeded":${fact.seeded}`
  if (fact.forgotten !== undefined) text += `,"forgotten":${fact.forgotten}`
  if (fact.access_count !== undefined) text += `,"access_count":${fact.access_count}`
  if (fact.last_accessed_at !== undefined) {
    text += `,"last_accessed_at":${quote(fact.last_accessed_at)}`
  }
  return text
}

function quote(text: string): string {
  return SPECIAL.test(text) ? JSON.stringify(text) : `"${text}"`
}
