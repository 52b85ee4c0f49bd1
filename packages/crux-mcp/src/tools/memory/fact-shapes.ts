import type { Fact } from 'crux-memory'
import { parseTime, toResponseTime } from 'crux-types'
import { z } from 'zod'

/** A fact as the panel shows it. */
export const panelFactSchema = z.object({
  id: z.string(),
  entity: z.string(),
  key: z.string(),
  value: z.string(),
  version: z.int(),
  stored_at: z.string().describe('RFC 3339.'),
  confidence: z.number(),
  pinned: z.boolean(),
  source_receipt: z.string().nullable(),
  actor: z.string().nullable(),
})

/** @param entity - As the caller sees it. */
export function panelFact(
  fact: Fact,
  entity: string,
  isPinned: boolean,
): z.output<typeof panelFactSchema> {
  return {
    id: fact.fact_id,
    entity,
    key: fact.key,
    value: fact.value,
    version: fact.version,
    stored_at: responseTime(fact.stored_at),
    confidence: fact.confidence,
    pinned: isPinned,
    source_receipt: fact.source_receipt,
    actor: fact.actor ?? null,
  }
}

/** A stored time in the form of responses. */
export function responseTime(stored: string): string {
  const ms = parseTime(stored)
  return ms === undefined ? stored : toResponseTime(ms)
}

/** Form of a stored time within text lines: `YYYY-MM-DD HH:MM:SS[.fraction] UTC`. */
export function textTime(stored: string): string {
  return stored.replace('T', ' ').replace(/(?:\.0+)?Z$/, ' UTC')
}
