import type { SweepCandidate } from 'crux-memory'
import { toResponseTime } from 'crux-types'
import { z } from 'zod'
import { openRecordPlace } from '../../result/pages.js'
import { recordRows } from '../../result/record-rows.js'
import { defaultedBudget } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, cursor } from '../fields.js'
import { responseTime } from './fact-shapes.js'
import { freshnessGate } from './memory-gates.js'

const NAME = 'memory_sweep_candidates'
const MAX_ROWS = 500

const input = z.object({
  top_k: count().default(50).describe('Most facts; never more than 500.'),
  token_budget: count().default(500).describe('Tokens for the rows, at least one row.'),
  cursor,
})

const row = z.object({
  fact_id: z.string(),
  entity: z.string(),
  key: z.string(),
  reason: z.enum(['stale', 'superseded', 'stale+superseded']),
  freshness: z.enum(['fresh', 'stale', 'unknown']),
  horizon_class: z.enum(['volatile', 'medium', 'stable', 'none']),
  age_hours: z.int(),
  superseded_by: z.string().nullable(),
  stored_at: z.string().describe('RFC 3339.'),
})

const output = z.object({
  rows: z.array(row),
  dry_run: z.literal(true),
  now: z.string().describe('RFC 3339.'),
})

/** Facts that may be due for deletion. */
export const memorySweepCandidates = defineTool({
  name: NAME,
  plane: 'memory',
  effect: 'read',
  description:
    'List facts that are past their horizon or were replaced, the oldest first, as a proposal for tidying up. Nothing is changed; decide on each with memory_reverify, memory_set_horizon or delete_fact.',
  outputDoc:
    'Text: one line a fact with reason, age in hours, <entity>::<key> and id, or a sentence when there is none; structuredContent {rows, dry_run, now}.',
  input,
  output,
  before: freshnessGate,
  run: async (args, { facts }: Pick<Services, 'facts'>, call) => {
    const place = openRecordPlace(NAME, call)
    const page = await facts.freshness.sweepCandidates(
      call.caller,
      { topK: Math.min(args.top_k, MAX_ROWS) - (place?.given ?? 0), after: place?.after },
      call.watch,
    )
    const { rows, budget } = await recordRows(NAME, call, {
      page,
      place,
      toRow: sweepRow,
      budget: defaultedBudget(call, args.token_budget),
    })
    return answer(
      rows.length === 0
        ? 'no sweep candidates (nothing stale, superseded, or ephemeral)'
        : rows.map(sweepLine).join('\n'),
      {
        structured: { rows, dry_run: true, now: toResponseTime(page.now) },
        budget,
      },
    )
  },
})

function sweepRow(candidate: SweepCandidate): z.output<typeof row> {
  const { fact } = candidate
  return {
    fact_id: fact.fact_id,
    entity: candidate.entity,
    key: fact.key,
    reason: candidate.reason,
    freshness: candidate.freshness,
    horizon_class: fact.horizon_class,
    age_hours: candidate.ageHours,
    superseded_by: fact.superseded_by ?? null,
    stored_at: responseTime(fact.stored_at),
  }
}

function sweepLine(found: z.output<typeof row>): string {
  return `${found.reason}: ${found.entity}::${found.key} (id=${found.fact_id}, age_hours=${found.age_hours})`
}
