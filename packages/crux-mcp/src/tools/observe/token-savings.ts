import type { Savings } from 'crux-observe'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import { defineTool } from '../define-tool.js'

const input = z.object({})

const interval = {
  reduction_pct: z.number().describe('Per cent saved.'),
  ci95_low_pct: z.number(),
  ci95_high_pct: z.number(),
}

const output = z.object({
  holdout_enabled: z.boolean(),
  holdout_fraction: z.number().optional().describe('Share of unshaped answers.'),
  compaction: z
    .object({
      n: z.int().describe('Answers that were measured in both forms.'),
      ...interval,
      pretty_tokens: z.int(),
      compact_tokens: z.int(),
    })
    .optional()
    .describe('What leaving out white space saves; never below 0.'),
  net: z
    .object({
      n_control: z.int(),
      n_treatment: z.int(),
      ...interval,
      control_tokens: z.int(),
      treatment_tokens: z.int(),
    })
    .optional()
    .describe('Shaped against unshaped answers; below 0 where budgets let more through.'),
})

/** What shaping the answers saves, measured on live calls. */
export const tokenSavings = defineTool({
  name: 'token_savings',
  plane: 'observe',
  effect: 'read',
  description:
    'See what shaping the answers of the retrieval tools saves in tokens, measured against a share of answers that went out unshaped. Two numbers that answer two questions: compaction is white space left out; net includes that budgets let more hits through as pointers, so it may be negative. At four bytes a token, not as a model bills them. Off unless the operator set aside a share.',
  outputDoc:
    'Text: a headline and one line for each number; structuredContent {holdout_enabled, holdout_fraction, compaction {n, reduction_pct, ci95_low_pct, ci95_high_pct, pretty_tokens, compact_tokens}, net {n_control, n_treatment, reduction_pct, ci95_low_pct, ci95_high_pct, control_tokens, treatment_tokens}}; while it is off, {holdout_enabled} alone. The same keys stand beside content.',
  input,
  output,
  run: (_args, _services: object, { observe: { holdout } }) => {
    if (!holdout.isOn) {
      return answer(
        'token_savings: holdout disabled (set CRUX_OUTPUT_HOLDOUT=0.05 to sample a live control arm)',
        { structured: { holdout_enabled: false }, isRepeatedBeside: true },
      )
    }
    const { compaction, net } = holdout.snapshot()
    const lines = [
      `token_savings (holdout=${holdout.fraction.toFixed(3)}):`,
      `compaction: ${inWords(compaction)} over ${compaction.n} answer(s) in both forms`,
      `net: ${inWords(net)} over ${net.nTreatment} shaped and ${net.nControl} unshaped answer(s)`,
    ]
    return answer(lines.join('\n'), {
      structured: {
        holdout_enabled: true,
        holdout_fraction: holdout.fraction,
        compaction: {
          n: compaction.n,
          ...inPerCent(compaction),
          pretty_tokens: compaction.prettyTokens,
          compact_tokens: compaction.compactTokens,
        },
        net: {
          n_control: net.nControl,
          n_treatment: net.nTreatment,
          ...inPerCent(net),
          control_tokens: net.controlTokens,
          treatment_tokens: net.treatmentTokens,
        },
      },
      isRepeatedBeside: true,
    })
  },
})

function inPerCent({ reduction, low, high }: Savings) {
  const perCent = (value: number): number => Math.round(value * 10_000) / 100
  return {
    reduction_pct: perCent(reduction),
    ci95_low_pct: perCent(low),
    ci95_high_pct: perCent(high),
  }
}

function inWords(savings: Savings): string {
  const { reduction_pct, ci95_low_pct, ci95_high_pct } = inPerCent(savings)
  return `${reduction_pct}% fewer tokens (95% interval ${ci95_low_pct}% to ${ci95_high_pct}%)`
}
