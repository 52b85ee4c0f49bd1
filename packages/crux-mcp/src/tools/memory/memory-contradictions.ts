import type { Contradiction } from 'crux-memory'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { pageOfList } from '../../result/pages.js'
import { rowsWithinBudget } from '../../result/rows-within-budget.js'
import { defaultedBudget } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, cursor } from '../fields.js'
import { consolidationGate } from './memory-gates.js'

const MAX_GROUPS = 500

const input = z.object({
  limit: count().default(50).describe('Most groups; never more than 500, which 0 stands for.'),
  token_budget: count().default(500).describe('Tokens for the groups, at least one group.'),
  cursor,
})

const candidate = z.object({
  entity: z.string(),
  key: z.string(),
  reason: z.literal('opposite_polarity_same_entity_key'),
  polarity_a: z.literal('negative'),
  polarity_b: z.literal('positive'),
  fact_ids: z.array(z.string()).describe('Those that say no first.'),
  values: z.array(z.string()).describe('In the order of fact_ids.'),
})

const output = z.object({
  candidates: z.array(candidate),
  count: z.int(),
  limit: z.int(),
  dry_run: z.literal(true),
})

/** Facts in force that say opposite things. */
export const memoryContradictions = defineTool({
  name: 'memory_contradictions',
  plane: 'memory',
  effect: 'read',
  description:
    'Find facts in force that say yes and no about the same entity and key, such as after an import. Only plain words for yes or no are compared. Nothing is changed; resolve a group with memory_consolidate.',
  outputDoc:
    'Text: a sentence with the count; structuredContent {candidates, count, limit, dry_run}, each candidate with fact_ids and values.',
  input,
  output,
  before: consolidationGate,
  run: async (args, { facts }: Pick<Services, 'facts'>, call) => {
    const limit = args.limit === 0 ? MAX_GROUPS : Math.min(args.limit, MAX_GROUPS)
    const found = await facts.consolidations.contradictions(call.caller, call.watch)
    const groups = found.slice(0, limit).map(candidateRow)
    const page = pageOfList('memory_contradictions', call, groups, (group) =>
      JSON.stringify([group.entity, group.key, group.fact_ids]),
    )
    const budget = defaultedBudget(call, args.token_budget)
    const { rows, used } = await rowsWithinBudget(page.rest, call.tokenCounter, budget.applied)
    return answer(
      rows.length === 0
        ? 'no contradiction candidates (no active opposite-polarity facts sharing entity+key)'
        : `${rows.length} contradiction candidate(s) detected; see structured \`candidates\` — read-only, nothing was mutated. Resolve explicitly via memory_consolidate (or the console review surface).`,
      {
        structured: { candidates: [...rows], count: rows.length, limit, dry_run: true },
        budget: reportBudget(budget, {
          used,
          countedBy: call.tokenCounter,
          leftOut: page.rest.length - rows.length,
          nextCursor: page.cursorAfter(rows.length),
        }),
        warning: page.warning,
      },
    )
  },
})

function candidateRow(found: Contradiction): z.output<typeof candidate> {
  return {
    entity: found.entity,
    key: found.key,
    reason: found.reason,
    polarity_a: found.polarityA,
    polarity_b: found.polarityB,
    fact_ids: [...found.factIds],
    values: [...found.values],
  }
}
