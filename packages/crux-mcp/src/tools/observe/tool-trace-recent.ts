import type { TraceEntry } from 'crux-observe'
import { passportOf } from 'crux-types'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { openPlace, ownerOf } from '../../result/pages.js'
import { rowsWithinBudget } from '../../result/rows-within-budget.js'
import { defaultedBudget } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import { defineTool } from '../define-tool.js'
import { count, cursor } from '../fields.js'

const NAME = 'tool_trace_recent'

const input = z.object({
  turn_id: z.string().optional().describe('Only calls that carried this turn_id.'),
  top_k: z
    .int()
    .refine((value) => value >= 1)
    .default(50)
    .describe('How many of the newest calls are looked at; at least 1.'),
  token_budget: count().default(2000).describe('Tokens for the entries, at least one entry.'),
  cursor,
})

const output = z.object({
  traces: z
    .array(
      z.object({
        tool: z.string(),
        turn_id: z.string().optional(),
        ts_us: z.int().describe('When the call ended, in microseconds since 1970.'),
        predicted_effects: z.array(
          z.object({
            kind: z.enum(['fact_write', 'forget', 'receipt_emit', 'fact_read', 'tool_dispatch']),
            entity: z.string(),
            key: z.string(),
            ts_us: z.int(),
          }),
        ),
        outcome: z.enum(['ok', 'error']),
        signature: z.string().optional().describe('Tool and arguments in one canonical form.'),
        response_tokens: z.int(),
      }),
    )
    .describe('Newest first.'),
  count: z.int(),
  feature_disabled: z.literal(true).optional(),
})

/** What the caller did of late. */
export const toolTraceRecent = defineTool({
  name: NAME,
  plane: 'observe',
  effect: 'read',
  description:
    'Look back on your own tool calls, newest first: what was called with which arguments, how it ended and what the answer cost. Kept in memory for an hour unless the operator says otherwise. For calls that you repeat needlessly use learn.',
  outputDoc:
    'Text: how many entries; structuredContent {traces, count}, where a trace is {tool, turn_id?, ts_us, predicted_effects, outcome, signature?, response_tokens}. The same keys stand beside content; feature_disabled when traces are switched off.',
  input,
  output,
  refusals: {
    top_k: (value) =>
      Number.isInteger(value)
        ? 'top_k must be >= 1'
        : `top_k: expected integer, got ${typeof value}`,
  },
  before: ({ observe }) =>
    observe.traces === undefined
      ? answer('tool_trace_recent: feature disabled (set CORECRUXD_FEATURE_TOOL_TRACES=1)', {
          structured: { traces: [], count: 0, feature_disabled: true },
          isRepeatedBeside: true,
        })
      : undefined,
  run: async (args, _services: object, call) => {
    const passport = passportOf(call.caller)
    const owner = ownerOf(NAME, call)
    const [looked = 0, before] = openPlace(owner, call) ?? []
    const limit = Math.max(args.top_k - looked, 0)
    const recent = (await call.observe.traces?.recent(passport, limit, before)) ?? []
    const wanted = recent.filter(
      ({ turnId }) => args.turn_id === undefined || turnId === args.turn_id,
    )
    const budget = defaultedBudget(call, args.token_budget)
    const { rows, used } = await rowsWithinBudget(
      wanted.map(traceRow),
      call.tokenCounter,
      budget.applied,
    )
    const leftOut = wanted.length - rows.length
    const last = wanted[rows.length - 1]
    return answer(`${NAME}: ${rows.length} entries for passport=${passport}`, {
      structured: { traces: [...rows], count: rows.length },
      isRepeatedBeside: true,
      budget: reportBudget(budget, {
        used,
        countedBy: call.tokenCounter,
        leftOut,
        // Calls that come in between, this one among them, move nothing.
        nextCursor:
          leftOut === 0 || last === undefined
            ? undefined
            : call.cursors.seal(owner, [looked + recent.indexOf(last) + 1, last.sequence]),
      }),
    })
  },
})

type TraceRow = z.output<typeof output>['traces'][number]

function traceRow({ at, turnId, signature, ...entry }: TraceEntry): TraceRow {
  return {
    tool: entry.tool,
    ...(turnId === undefined ? {} : { turn_id: turnId }),
    ts_us: at,
    predicted_effects: entry.effects.map(({ kind, entity, key }) => ({
      kind,
      entity,
      key,
      ts_us: at,
    })),
    outcome: entry.outcome,
    ...(signature === undefined ? {} : { signature }),
    response_tokens: entry.responseTokens,
  }
}
