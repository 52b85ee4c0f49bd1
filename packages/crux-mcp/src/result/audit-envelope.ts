import { isAuditReserved, type RankedFact } from 'crux-memory'
import type { Caller } from 'crux-types'
import { z } from 'zod'
import { CONSOLE_FACTS_URL } from './crc-v1.js'
import type { ToolResult } from './tool-result.js'

/** Shape of an audit envelope. */
export const auditEnvelopeSchema = z.object({
  receipts_used: z.array(z.string()).describe('Each once, in order.'),
  memories_used: z.array(
    z.object({
      fact_id: z.string(),
      topic: z.string(),
      age_days: z.int().nullable(),
      age_hours: z.int().nullable(),
      freshness: z.enum(['fresh', 'stale', 'unknown']),
    }),
  ),
  autonomy_consumed: z.object({
    capability: z.string(),
    cost_credits: z.number(),
    scope: z.string(),
  }),
  predicted_effects: z.array(z.string()),
  links: z.object({ open_in_console: z.string() }),
})

type AuditEnvelope = z.output<typeof auditEnvelopeSchema>
type UsedMemory = AuditEnvelope['memories_used'][number]

const HOURS_A_DAY = 24
const FRESH_DAYS = 30

/** Say which facts an answer used, how fresh they are and what it cost: nothing, on this machine. */
export function auditEnvelope(
  caller: Caller,
  used: {
    /** Such as `facts:read`. */
    readonly capability: string
    readonly memories: readonly UsedMemory[]
    readonly receipts: readonly string[]
  },
): AuditEnvelope {
  return {
    receipts_used: [...new Set(used.receipts)],
    memories_used: [...used.memories],
    autonomy_consumed: {
      capability: used.capability,
      cost_credits: 0,
      scope: caller.agent === null ? 'node:local' : `agent:${caller.agent}`,
    },
    predicted_effects: [],
    links: { open_in_console: CONSOLE_FACTS_URL },
  }
}

/** The envelope of an answer that gave facts; private ones and the system's are not named. */
export function factAudit(caller: Caller, rows: readonly RankedFact[]): AuditEnvelope {
  const named = rows.filter(({ fact }) => !isAuditReserved(fact.entity))
  return auditEnvelope(caller, {
    capability: 'facts:read',
    memories: named.map(usedFact),
    receipts: named.flatMap(({ fact }) => fact.source_receipt ?? []),
  })
}

/** Put an envelope where programs look for it; the content stays as it is. */
export function withAudit(result: ToolResult, envelope: AuditEnvelope): ToolResult {
  return {
    ...result,
    structuredContent: { ...result.structuredContent, envelope },
    envelope,
  }
}

/** Freshness by age alone, for what has no horizon: fresh up to 30 days. */
export function freshnessByAge(ageDays: number | null): UsedMemory['freshness'] {
  if (ageDays === null) return 'unknown'
  return ageDays <= FRESH_DAYS ? 'fresh' : 'stale'
}

function usedFact({ fact, entity, ageHours, freshness }: RankedFact): UsedMemory {
  const ageDays = Math.floor(ageHours / HOURS_A_DAY)
  return {
    fact_id: fact.fact_id,
    topic: entity,
    age_days: ageDays,
    age_hours: ageHours,
    freshness: fact.horizon_class === 'none' ? freshnessByAge(ageDays) : freshness,
  }
}
