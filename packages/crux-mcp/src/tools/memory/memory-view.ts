import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { openRecordPlace, sealRecordPlace } from '../../result/pages.js'
import { budgetInForce } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, cursor } from '../fields.js'
import { panelFact, panelFactSchema } from './fact-shapes.js'
import { panelGate } from './memory-gates.js'

const NAME = 'memory_view'
/** Tokens of an answer when the caller names none. */
const DEFAULT_BUDGET = 2000

const input = z.object({
  entity: z.string().optional().describe('Exactly this entity.'),
  key: z.string().optional().describe('Exactly this key.'),
  top_k: count().default(20).describe('Most facts.'),
  token_budget: count()
    .optional()
    .describe('Tokens for the values, at least one fact; 2000 when absent.'),
  cursor,
})

const output = z.object({
  facts: z.array(panelFactSchema),
  total_tokens: z.int().describe('Tokens of the values given.'),
  returned: z.int(),
})

/** The newest facts, for looking rather than for recall. */
export const memoryView = defineTool({
  name: NAME,
  plane: 'memory',
  effect: 'read',
  description:
    'See what was remembered lately, newest first, without asking for words: for reviewing memory with the user. Entries of the system itself are not shown. For recall use query_facts.',
  outputDoc:
    'Text: one line a fact, [<entity>] <key> = <value> (id, version), with [pinned] on those you pinned, or "no memory visible"; structuredContent {facts, total_tokens, returned}.',
  input,
  output,
  before: (call) => panelGate(NAME, call),
  run: async (args, { facts }: Pick<Services, 'facts'>, call) => {
    const { caller } = call
    const place = openRecordPlace(NAME, call)
    const given = place?.given ?? 0
    const topK = Math.max(Math.max(args.top_k, 1) - given, 1)
    const budget = budgetInForce(args.token_budget, call.budgets, DEFAULT_BUDGET)
    const view = await facts.view(caller, {
      topK,
      tokenBudget: budget.applied ?? DEFAULT_BUDGET,
      ...(args.entity === undefined ? {} : { entity: args.entity }),
      ...(args.key === undefined ? {} : { key: args.key }),
      ...(place === undefined ? {} : { after: place.after }),
    })
    const shown = view.rows.map(({ fact, entity }) =>
      panelFact(fact, entity, facts.panel.isPinned(caller, fact.fact_id)),
    )
    const leftOut = Math.min(view.matched, topK) - shown.length
    const after = view.marks.at(-1)
    return answer(shown.length === 0 ? 'no memory visible' : shown.map(viewLine).join('\n'), {
      structured: { facts: shown, total_tokens: view.totalTokens, returned: shown.length },
      budget: reportBudget(budget, {
        used: view.totalTokens,
        countedBy: call.tokenCounter,
        leftOut,
        nextCursor:
          leftOut === 0 || after === undefined
            ? undefined
            : sealRecordPlace(NAME, call, { given: given + shown.length, after }),
      }),
    })
  },
})

function viewLine(fact: z.output<typeof panelFactSchema>): string {
  const line = `[${fact.entity}] ${fact.key} = ${fact.value} (id=${fact.id}, v${fact.version})`
  return fact.pinned ? `${line} [pinned]` : line
}
