import type { EdgeRecord, EntityRecord, KindRegistration } from 'crux-memory'
import { createPauser } from 'crux-types'
import { z } from 'zod'
import { JsonText } from '../../result/json-text.js'
import { responseTime } from '../memory/fact-shapes.js'

const version = {
  payload: z.unknown().describe('As it was stored.'),
  created_at: z.string().describe('RFC 3339.'),
  updated_at: z.string().describe('RFC 3339.'),
  version: z.int().describe('1 for the first; deletes count.'),
  deleted: z.boolean(),
  actor: z.string().describe('Name of the agent that made this version.'),
}

/** An entity as answers show it. */
export const entitySchema = z.strictObject({ kind: z.string(), id: z.string(), ...version })

/** An edge as answers show it. */
export const edgeSchema = z.strictObject({
  edge_id: z.string(),
  from_kind: z.string(),
  from_id: z.string(),
  edge_kind: z.string(),
  to_kind: z.string(),
  to_id: z.string(),
  ...version,
})

/** A kind as lists show it. */
export const kindSchema = z.strictObject({
  kind: z.string(),
  description: z.string(),
  allowed_outgoing_edges: z.array(z.string()),
  allowed_incoming_edges: z.array(z.string()),
})

/** Arguments that name an entity. */
export const entityName = {
  kind: z.string().describe('Kind of thing, such as host, person or capability.'),
  id: z.string().describe('Name of the thing within its kind.'),
}

/** Arguments that name an edge. */
export const edgeName = {
  from_kind: z.string().describe('Kind of the entity that the edge leaves.'),
  from_id: z.string().describe('Id of the entity that the edge leaves.'),
  edge_kind: z.string().describe('What the one is to the other, such as depends_on.'),
  to_kind: z.string().describe('Kind of the entity that the edge reaches.'),
  to_id: z.string().describe('Id of the entity that the edge reaches.'),
}

/** Words for names that are missing or no text, as arguments `missing` and `refusals` of a tool. */
export function nameWords(names: readonly string[]): {
  readonly missing: Readonly<Record<string, string>>
  readonly refusals: Readonly<Record<string, () => string>>
} {
  const words = (name: string): string => `missing or non-string '${name}'`
  return {
    missing: Object.fromEntries(names.map((name) => [name, words(name)])),
    refusals: Object.fromEntries(names.map((name) => [name, () => words(name)])),
  }
}

/** A record with its times in the form of answers. */
export function shownRecord<T extends EntityRecord | EdgeRecord>(record: T): T {
  return {
    ...record,
    created_at: responseTime(record.created_at),
    updated_at: responseTime(record.updated_at),
  }
}

/** A list of records as JSON, made in slices: a list has no limit unless its reader names one. */
export async function shownRecords(
  records: readonly (EntityRecord | EdgeRecord)[],
): Promise<JsonText> {
  const pause = createPauser()
  const pieces: string[] = []
  for (const record of records) {
    pieces.push(JSON.stringify(shownRecord(record)))
    const waiting = pause()
    if (waiting !== undefined) await waiting
  }
  return new JsonText(`[${pieces.join(',')}]`)
}

/** A kind without its schema. */
export function shownKind(registration: KindRegistration): z.output<typeof kindSchema> {
  const { kind, description, allowed_outgoing_edges, allowed_incoming_edges } = registration
  return {
    kind,
    description,
    allowed_outgoing_edges: [...allowed_outgoing_edges],
    allowed_incoming_edges: [...allowed_incoming_edges],
  }
}
