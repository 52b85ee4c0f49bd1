import type { Horizons, RankedFact } from 'crux-memory'
import { toResponseTime } from 'crux-types'
import { z } from 'zod'
import { auditEnvelopeSchema, factAudit, withAudit } from '../../result/audit-envelope.js'
import { openRecordPlace } from '../../result/pages.js'
import { recordRows } from '../../result/record-rows.js'
import { defaultedBudget } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, cursor } from '../fields.js'
import { responseTime } from './fact-shapes.js'
import { freshnessGate } from './memory-gates.js'

const NAME = 'memory_freshness'
const MAX_ROWS = 500
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const input = z.object({
  entity: z.string().optional().describe('Exactly this entity.'),
  key: z.string().optional().describe('Exactly this key.'),
  top_k: count().default(20).describe('Most facts; never more than 500.'),
  token_budget: count().default(500).describe('Tokens for the rows, at least one row.'),
  cursor,
})

const row = z.object({
  fact_id: z.string(),
  entity: z.string(),
  key: z.string(),
  horizon_class: z.enum(['volatile', 'medium', 'stable', 'none']),
  freshness: z.enum(['fresh', 'stale', 'unknown']),
  age_hours: z.int().describe('Whole hours since it was verified or stored.'),
  stored_at: z.string().describe('RFC 3339.'),
  reverified_at: z.string().nullable().describe('RFC 3339.'),
})

const output = z.object({
  rows: z.array(row),
  policy: z.object({
    volatile_stale_hours: z.number(),
    medium_stale_days: z.number(),
    stable_stale_days: z.number(),
  }),
  now: z.string().describe('RFC 3339.'),
  envelope: auditEnvelopeSchema.optional(),
})

/** How old facts are, the oldest first. */
export const memoryFreshness = defineTool({
  name: NAME,
  plane: 'memory',
  effect: 'read',
  description:
    'See which facts are still fresh, the oldest first, without their values: to find what should be checked again. Private facts and entries of the system are not listed. Follow up with memory_reverify, memory_set_horizon or a new store_fact.',
  outputDoc:
    'Text: one line a fact with age in hours, [freshness], horizon class, <entity>::<key> and id; structuredContent {rows, policy, now}.',
  input,
  output,
  before: freshnessGate,
  run: async (args, { facts }: Pick<Services, 'facts'>, call) => {
    const { entity, key } = args
    const place = openRecordPlace(NAME, call)
    const page = await facts.freshness.oldest(call.caller, {
      topK: Math.min(args.top_k, MAX_ROWS) - (place?.given ?? 0),
      after: place?.after,
      ...(entity === undefined ? {} : { entity }),
      ...(key === undefined ? {} : { key }),
    })
    const { rows, budget } = await recordRows(NAME, call, {
      page,
      place,
      toRow: freshnessRow,
      budget: defaultedBudget(call, args.token_budget),
    })
    const result = answer(
      rows.length === 0 ? 'no facts in freshness window' : rows.map(freshnessLine).join('\n'),
      {
        structured: {
          rows,
          policy: policyOf(facts.freshness.horizons),
          now: toResponseTime(page.now),
        },
        budget,
      },
    )
    if (!call.features.auditEnvelope) return result
    return withAudit(result, factAudit(call.caller, page.rows.slice(0, rows.length)))
  },
})

function freshnessRow({ fact, entity, freshness, ageHours }: RankedFact): z.output<typeof row> {
  return {
    fact_id: fact.fact_id,
    entity,
    key: fact.key,
    horizon_class: fact.horizon_class,
    freshness,
    age_hours: ageHours,
    stored_at: responseTime(fact.stored_at),
    reverified_at: fact.reverified_at === undefined ? null : responseTime(fact.reverified_at),
  }
}

function freshnessLine(fact: z.output<typeof row>): string {
  const age = String(fact.age_hours).padStart(5)
  const standing = `[${fact.freshness.padEnd(8)}] ${fact.horizon_class.padEnd(8)}`
  return `${age}h ${standing} ${fact.entity}::${fact.key} (id=${fact.fact_id})`
}

function policyOf({ volatile, medium, stable }: Horizons): z.output<typeof output>['policy'] {
  return {
    volatile_stale_hours: volatile / HOUR_MS,
    medium_stale_days: medium / DAY_MS,
    stable_stale_days: stable / DAY_MS,
  }
}
