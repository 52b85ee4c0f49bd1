import { passportOf } from 'crux-types'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'

const input = z.object({
  token_budget: count().default(500).describe('Accepted and not needed: the answer is short.'),
})

const output = z.object({
  passport: z.string().describe('Whose calls are counted; __anon__ for callers without a token.'),
  used: z.int().describe('tokens_in and tokens_out together.'),
  tokens_in: z.int().describe('Tokens of arguments.'),
  tokens_out: z.int().describe('Tokens of answers.'),
  declared_budget_in: z.int().describe('Sum of the token_budget arguments.'),
  calls: z.int(),
  estimator: z.literal('chars/4'),
  limit: z.int().optional().describe('When the operator set one.'),
  pct: z.int().optional().describe('Per cent of the limit, rounded down; may exceed 100.'),
})

/** How many tokens the caller's tool calls came to. */
export const sessionTokenUsage = defineTool({
  name: 'session_token_usage',
  plane: 'observe',
  effect: 'read',
  description:
    'See how many tokens your tool calls took so far, arguments and answers, and how much of the limit that is when there is one. Counted at four bytes a token since the daemon started; comparable with token_budget, not with the bill of a model.',
  outputDoc:
    'Text: one sentence; structuredContent {passport, used, tokens_in, tokens_out, declared_budget_in, calls, estimator}, with limit and pct when the operator set a limit. The same keys stand beside content.',
  input,
  output,
  boundedBy: null,
  run: (_args, _services: object, { caller, observe }) => {
    const passport = passportOf(caller)
    const usage = observe.accounts.usage(passport)
    const used = observe.accounts.used(passport)
    const limit = observe.sessionBudget?.tokens
    const pct = limit === undefined ? undefined : Math.floor((used / limit) * 100)
    const spent = `session_token_usage: passport=${passport} used≈${used}`
    const text =
      limit === undefined
        ? `${spent} tokens (no limit set) across ${usage.calls} calls`
        : `${spent} of ${limit} tokens (${pct}%) across ${usage.calls} calls`
    return answer(text, {
      structured: {
        passport,
        used,
        tokens_in: usage.tokensIn,
        tokens_out: usage.tokensOut,
        declared_budget_in: usage.declaredBudgetIn,
        calls: usage.calls,
        estimator: 'chars/4',
        limit,
        pct,
      },
      isRepeatedBeside: true,
    })
  },
})
