import { blake3 } from '@noble/hashes/blake3.js'
import { z } from 'zod'
import { hexOf } from '../observations/sign-record.js'
import { type ActivityEntry, activityEntrySchema } from './activity-entry.js'

/** Names the form of a record that holds numbers. */
const NUMBERING_SCHEMA = 'crux.activity.numbering.v1'

const numberingSchema = z.object({
  schema: z.literal(NUMBERING_SCHEMA),
  floor: z.int().min(0),
  sessions: z.array(
    z.object({ tenant_id: z.string(), session_id: z.string(), next_seq: z.int().min(0) }),
  ),
})

/** Numbers that were given out and that no kept entry tells. */
export type Numbering = z.output<typeof numberingSchema>

const lineSchema = z.discriminatedUnion('schema', [activityEntrySchema, numberingSchema])

/** One record of the log's journal. */
export type ActivityLine = z.output<typeof lineSchema>

/** True for a record that holds numbers. */
export function isNumbering(line: ActivityLine): line is Numbering {
  return line.schema === NUMBERING_SCHEMA
}

/** A record of numbers. */
export function numbering(floor: number, sessions: Numbering['sessions']): Numbering {
  return { schema: NUMBERING_SCHEMA, floor, sessions }
}

/** A record as journal bytes. */
export function encodeActivityLine(line: ActivityLine): Uint8Array {
  return Buffer.from(JSON.stringify(line))
}

/** The record that journal bytes hold; undefined when they hold none of this log. */
export function decodeActivityLine(bytes: Uint8Array): ActivityLine | undefined {
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    return lineSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

const ID_BYTES = 16
/** Unit separator. */
const SEPARATOR = '\u001f'

/** BLAKE3 of what an entry says, when and where: what its id is made of and its receipt signs. */
export function activityDigest(
  entry: Pick<ActivityEntry, 'tenant_id' | 'session_id' | 'seq' | 'kind' | 'created_at' | 'text'>,
): Uint8Array {
  const { tenant_id, session_id, seq, kind, created_at, text } = entry
  const bytes = Buffer.from([tenant_id, session_id, seq, kind, created_at, text].join(SEPARATOR))
  return blake3(bytes)
}

/** The id of an entry: `act_` and the first half of its digest. */
export function activityEntryId(digest: Uint8Array): string {
  return `act_${hexOf(digest.subarray(0, ID_BYTES))}`
}
