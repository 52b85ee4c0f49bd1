import { proposeGuardrails } from 'crux-observe'
import { passportOf } from 'crux-types'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'

const LEAST_REPEATS = 2

const input = z.object({
  min_repeats: z
    .int()
    .min(LEAST_REPEATS)
    .default(3)
    .describe('How often the very same call must have been made.'),
  scan: count().default(1000).describe('How many of the newest calls are looked at.'),
})

const output = z.object({
  proposals: z
    .array(
      z.object({
        signature: z.string().describe('The repeated call.'),
        occurrences: z.int(),
        wasted_tokens: z.int().describe('Tokens of all answers but the first.'),
        draft_guardrail: z.string().describe('What could be remembered to avoid it.'),
      }),
    )
    .describe('The most wasteful first.'),
  count: z.int(),
  scanned: z.int().optional().describe('Calls that were looked at.'),
  propose_only: z.literal(true).optional(),
  feature_disabled: z.literal(true).optional(),
})

/** Calls that the caller repeats needlessly. */
export const learn = defineTool({
  name: 'learn',
  plane: 'observe',
  effect: 'read',
  description:
    'Find out which calls you make again and again with the same arguments, what the repeats cost, and get a rule drafted against each. Nothing is stored: keep a rule with store_fact if you want to follow it.',
  outputDoc:
    'Text: a sentence, then one numbered line a proposal; structuredContent {proposals [{signature, occurrences, wasted_tokens, draft_guardrail}], count, scanned, propose_only}. The same keys stand beside content; feature_disabled when traces are switched off.',
  input,
  output,
  refusals: {
    min_repeats: (value) =>
      Number.isInteger(value)
        ? `min_repeats must be >= ${LEAST_REPEATS}`
        : `min_repeats: expected integer, got ${typeof value}`,
  },
  before: ({ observe }) =>
    observe.traces === undefined
      ? answer('learn: feature disabled (set CORECRUXD_FEATURE_TOOL_TRACES=1)', {
          structured: { proposals: [], count: 0, feature_disabled: true },
          isRepeatedBeside: true,
        })
      : undefined,
  run: async (args, _services: object, { caller, observe }) => {
    const passport = passportOf(caller)
    const recent = (await observe.traces?.recent(passport, args.scan)) ?? []
    const proposals = proposeGuardrails(recent, args.min_repeats).map((guardrail) => ({
      signature: guardrail.signature,
      occurrences: guardrail.occurrences,
      wasted_tokens: guardrail.wastedTokens,
      draft_guardrail: guardrail.draft,
    }))
    const head =
      proposals.length === 0
        ? `learn: no looping signatures in the last ${recent.length} traces for passport=${passport}`
        : `learn: ${proposals.length} guardrail proposal(s) for passport=${passport} (propose-only — nothing written)`
    const lines = proposals.map(
      ({ wasted_tokens, occurrences, draft_guardrail }, index) =>
        `${index + 1}. [${wasted_tokens} tok wasted, ${occurrences}×] ${draft_guardrail}`,
    )
    return answer([head, ...lines].join('\n'), {
      structured: {
        proposals,
        count: proposals.length,
        scanned: recent.length,
        propose_only: true,
      },
      isRepeatedBeside: true,
    })
  },
})
