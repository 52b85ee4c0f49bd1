import { z } from 'zod'
import { ACTIVITY_KINDS, type ActivityEntry } from './activity-entry.js'
import type { KeptEntry } from './activity-sessions.js'

/** Characters of a text that a row shows. */
const PREVIEW_LENGTH = 200

/** An entry in a list: what it was about, and how it begins. */
export const activityRowSchema = z.object({
  turn_id: z.string().optional(),
  session_id: z.string(),
  seq: z.int().describe('Number within the session, from 0.'),
  ts: z.string().describe('RFC 3339 in UTC, with microseconds.'),
  cursor: z.int().describe('The same in microseconds since 1970; no two entries share one.'),
  kind: z.enum(ACTIVITY_KINDS),
  intent: z.string().optional(),
  tool: z.string().optional(),
  confidence: z.number().optional(),
  fact_refs: z.array(z.string()),
  receipt_ids: z.array(z.string()),
  preview: z.string().describe('The first 200 characters of the text.'),
})

export type ActivityRow = z.output<typeof activityRowSchema>

/** The row of a kept entry. */
export function activityRow({ entry, micros }: KeptEntry): ActivityRow {
  const { turn_id, meta, refs } = entry
  return {
    ...(turn_id === undefined ? {} : { turn_id }),
    session_id: entry.session_id,
    seq: entry.seq,
    ts: entry.created_at,
    cursor: micros,
    kind: entry.kind,
    ...(meta.intent === undefined ? {} : { intent: meta.intent }),
    ...(meta.tool === undefined ? {} : { tool: meta.tool }),
    ...(meta.confidence === undefined ? {} : { confidence: meta.confidence }),
    fact_refs: refs.fact_ids ?? [],
    receipt_ids: refs.receipt_ids ?? [],
    preview: previewOf(entry),
  }
}

function previewOf({ text }: ActivityEntry): string {
  // Twice as many units hold enough characters, whatever they are.
  const characters = [...text.slice(0, PREVIEW_LENGTH * 2 + 2)]
  if (characters.length <= PREVIEW_LENGTH) return text
  return `${characters.slice(0, PREVIEW_LENGTH - 1).join('')}…`
}
