import type { FactPage, FactQuery, RankedFact } from 'crux-memory'
import { POINTER_TOKENS } from 'crux-retrieval'
import { parseTime, type TokenCounter } from 'crux-types'
import { z } from 'zod'
import { auditEnvelopeSchema, factAudit, withAudit } from '../../result/audit-envelope.js'
import { reportBudget } from '../../result/budget-report.js'
import { factEnvelope, factRows } from '../../result/fact-envelope.js'
import { FragmentCache } from '../../result/fact-fragments.js'
import { JsonText } from '../../result/json-text.js'
import { type OutputArm, outputArm } from '../../result/output-arm.js'
import { MOVED, openRecordPlace, type RecordPlace, sealRecordPlace } from '../../result/pages.js'
import { budgetInForce, type CallBudget } from '../../result/token-budget.js'
import { answer, type ToolResult } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { type CallContext, defineTool } from '../define-tool.js'
import { count, cursor } from '../fields.js'
import { envelopeSchema } from '../retrieval/search-hits.js'

const NAME = 'query_facts'
const FLOOR_REFUSAL = 'min_effective_confidence must be a number in 0.0..=1.0'
const AS_OF_REFUSAL = 'as_of must be an RFC 3339 timestamp (e.g. 2026-01-15T00:00:00Z)'

const input = z.object({
  query: z
    .string()
    .optional()
    .describe(
      'Words, any of which must occur in the value, the key or the entity, letter for letter but in either case. Absent: everything.',
    ),
  match: z
    .enum(['substring', 'ranked', 'hybrid'])
    .default('substring')
    .describe(
      'How words match and rank: substring, letter for letter, most trustworthy first; ranked, any form of the word, best match first; hybrid, both.',
    ),
  entity: z.string().optional().describe('Exactly this entity.'),
  entity_prefix: z
    .string()
    .optional()
    .describe('Entities that start so, such as execplan: for all plans.'),
  top_k: count().default(10).describe('Most facts; does not apply when there is a token_budget.'),
  token_budget: count()
    .optional()
    .describe(
      'Tokens for the values; what does not fit is pointed to at 40 tokens each, the rest counted. Absent: top_k alone decides.',
    ),
  cursor,
  include_superseded: z.boolean().default(false).describe('Also versions that were replaced.'),
  as_of: z
    .string()
    .refine((text) => parseTime(text) !== undefined)
    .optional()
    .describe('RFC 3339 time; only facts that held then.'),
  min_effective_confidence: z
    .number()
    .refine((value) => value >= 0 && value <= 1)
    .optional()
    .describe('0..1; leave out facts whose confidence, after ageing, is lower.'),
})

const output = z.object({
  rows: z.array(
    z.object({
      fact_id: z.string(),
      entity: z.string(),
      key: z.string(),
      value: z.string(),
      confidence: z.number().describe('As stored; 0..1.'),
      effective_confidence: z.number().describe('After ageing; 0..1.'),
      horizon_class: z.enum(['volatile', 'medium', 'stable', 'none']),
      freshness: z.enum(['fresh', 'stale', 'unknown']),
      age_hours: z.int(),
      superseded_by: z.string().nullable(),
      actor: z.string().nullable(),
      score: z
        .number()
        .optional()
        .describe('Higher is better, within one answer; not by substring.'),
      score_space: z.enum(['bm25_confidence', 'reciprocal_rank']).optional(),
    }),
  ),
  crc_v1: envelopeSchema.optional(),
  filtered_below_threshold: z.int().describe('Facts under min_effective_confidence.'),
  envelope: auditEnvelopeSchema.optional(),
})

/** Recall facts. */
export const queryFacts = defineTool({
  name: NAME,
  plane: 'facts',
  effect: 'read',
  crc: 'fact',
  description:
    'Recall stored facts by words, by entity or by the start of an entity; the most trustworthy and newest first. Words match literally, so ask with the words that a fact would use, or set match to ranked to find other forms of them. Set token_budget to bound the answer; cursor goes on where it ended.',
  outputDoc:
    'Envelope of kind fact: pointers {id, score, epitome, reason}, content [{id, text}], meta; structuredContent {rows, crc_v1, filtered_below_threshold}, where rows are the facts given in full, with score and score_space unless match is substring. No match answers with a sentence.',
  input,
  output,
  alsoReads: ['contract'],
  refusals: {
    min_effective_confidence: () => FLOOR_REFUSAL,
    as_of: () => AS_OF_REFUSAL,
  },
  run: async (args, { facts }: Pick<Services, 'facts'>, call) => {
    const budget = budgetInForce(args.token_budget, call.budgets)
    const place = openRecordPlace(NAME, call)
    const arm = outputArm(NAME, call)
    const isTiered = call.contract === 'crc-v1' && !arm.isControl
    const query = toFactQuery(args, budget, isTiered, place)
    const page = await facts.query(call.caller, query)
    if (page.rows.length === 0) {
      const nothing = nothingFound(page, budget)
      return call.features.auditEnvelope ? withAudit(nothing, factAudit(call.caller, [])) : nothing
    }
    const fragments = FragmentCache.of(facts)
    const notes = {
      nextCursor: cursorAfter(page, place, call),
      countedBy: call.tokenCounter,
      warning: page.hasMoved ? MOVED : undefined,
    }
    const result =
      call.contract === 'crc-v1'
        ? enveloped(page, args, budget, fragments, notes, arm)
        : plain(page, budget, fragments, notes)
    return call.features.auditEnvelope
      ? withAudit(result, factAudit(call.caller, page.rows.slice(0, page.hydrated)))
      : result
  },
})

type Arguments = z.output<typeof input>

/** What the report of a page's budget says besides numbers. */
interface PageNotes {
  readonly nextCursor: string | undefined
  readonly countedBy: TokenCounter
  readonly warning: string | undefined
}

function toFactQuery(
  args: Arguments,
  budget: CallBudget,
  isTiered: boolean,
  place: RecordPlace | undefined,
): FactQuery {
  const asOf = args.as_of === undefined ? undefined : parseTime(args.as_of)
  return {
    topK: Math.max(args.top_k - (place?.given ?? 0), 0),
    includeSuperseded: args.include_superseded,
    match: args.match,
    // Numbers are given with a budget, a floor or a cursor only.
    isCounted:
      budget.applied !== undefined ||
      args.min_effective_confidence !== undefined ||
      place !== undefined,
    ...(args.query === undefined ? {} : { query: args.query }),
    ...(args.entity === undefined ? {} : { entity: args.entity }),
    ...(args.entity_prefix === undefined ? {} : { entityPrefix: args.entity_prefix }),
    ...(place === undefined ? {} : { after: place.after }),
    ...(budget.applied === undefined
      ? {}
      : {
          tokenBudget: budget.applied,
          // A budget that nobody asked for must not widen the answer.
          isCapped: budget.requested === undefined,
          overflow: isTiered ? ('tiered' as const) : ('drop' as const),
        }),
    ...(asOf === undefined ? {} : { asOf }),
    ...(args.min_effective_confidence === undefined
      ? {}
      : { minEffectiveConfidence: args.min_effective_confidence }),
  }
}

function cursorAfter(
  { next, rows }: FactPage,
  place: RecordPlace | undefined,
  call: CallContext,
): string | undefined {
  if (next === undefined) return undefined
  return sealRecordPlace(NAME, call, { given: (place?.given ?? 0) + rows.length, after: next })
}

function enveloped(
  page: FactPage,
  args: Arguments,
  budget: CallBudget,
  fragments: FragmentCache,
  { nextCursor, countedBy, warning }: PageNotes,
  arm: OutputArm,
): ToolResult {
  const { plain: envelope, quoted } = factEnvelope(
    page,
    { query: args.query, entity: args.entity, isBudgeted: budget.applied !== undefined },
    fragments,
  )
  const demoted = page.rows.length - page.hydrated
  const text = arm.write(envelope)
  // Quoted already, unless it goes out in another form.
  return answer(text === envelope ? new JsonText(`"${quoted}"`) : text, {
    structured: {
      rows: new JsonText(factRows(page.rows.slice(0, page.hydrated), fragments)),
      crc_v1: new JsonText(envelope),
      filtered_below_threshold: page.filteredBelowThreshold,
    },
    budget: reportBudget(budget, {
      countedBy,
      used: page.totalTokens + POINTER_TOKENS * demoted,
      leftOut: page.matched - page.rows.length,
      isShortened: demoted > 0,
      nextCursor,
    }),
    warning,
  })
}

function plain(
  page: FactPage,
  budget: CallBudget,
  fragments: FragmentCache,
  { nextCursor, countedBy, warning }: PageNotes,
): ToolResult {
  return answer(page.rows.map(factLine).join('\n'), {
    structured: {
      rows: new JsonText(factRows(page.rows, fragments)),
      filtered_below_threshold: page.filteredBelowThreshold,
    },
    budget: reportBudget(budget, {
      countedBy,
      used: page.totalTokens,
      leftOut: page.matched - page.rows.length,
      nextCursor,
    }),
    warning,
  })
}

function nothingFound(page: FactPage, budget: CallBudget): ToolResult {
  const below = page.filteredBelowThreshold
  return answer(
    below > 0 && page.matched === 0
      ? `no facts above confidence floor (${below} below threshold)`
      : 'no facts found',
    {
      structured: { rows: [], filtered_below_threshold: below },
      budget: reportBudget(budget, { used: 0, leftOut: 0 }),
      warning: page.hasMoved ? MOVED : undefined,
    },
  )
}

function factLine({ fact, entity, effectiveConfidence, freshness, ageHours }: RankedFact): string {
  return (
    `[${entity}] ${fact.key} = ${fact.value} (confidence=${fact.confidence.toFixed(2)}, ` +
    `effective_confidence=${effectiveConfidence.toFixed(2)}, freshness=${freshness}, age_hours=${ageHours})`
  )
}
