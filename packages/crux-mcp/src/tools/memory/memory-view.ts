import type { RankedFact } from 'crux-memory'
import { parseTime, toResponseTime } from 'crux-types'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'

/** Tokens of an answer when the caller names none. */
const DEFAULT_BUDGET = 2000

const input = z.object({
  entity: z.string().optional().describe('Exactly this entity.'),
  key: z.string().optional().describe('Exactly this key.'),
  top_k: count().default(20).describe('Most facts.'),
  token_budget: count()
    .optional()
    .describe('Tokens for the values, at least one fact; 2000 when absent.'),
})

const output = z.object({
  facts: z.array(
    z.object({
      id: z.string(),
      entity: z.string(),
      key: z.string(),
      value: z.string(),
      version: z.int(),
      stored_at: z.string().describe('RFC 3339.'),
      confidence: z.number(),
      pinned: z.boolean(),
      source_receipt: z.string().nullable(),
      actor: z.string().nullable(),
    }),
  ),
  total_tokens: z.int().describe('Tokens of the values given.'),
  returned: z.int(),
})

/** The newest facts, for looking rather than for recall. */
export const memoryView = defineTool({
  name: 'memory_view',
  plane: 'memory',
  effect: 'read',
  description:
    'See what was remembered lately, newest first, without asking for words: for reviewing memory with the user. Entries of the system itself are not shown. For recall use query_facts.',
  outputDoc:
    'Text: one line a fact, [<entity>] <key> = <value> (id, version), or "no memory visible"; structuredContent {facts, total_tokens, returned}.',
  input,
  output,
  run: async (args, { facts }: Pick<Services, 'facts'>, { caller, features }) => {
    if (!features.memoryPanel) {
      return answer(
        'memory_view: memory panel explicitly disabled (unset CORECRUXD_FEATURE_MEMORY_PANEL to re-enable; it is on by default)',
        { isError: false },
      )
    }
    const topK = Math.max(args.top_k, 1)
    const view = await facts.view(caller, {
      topK,
      tokenBudget: args.token_budget ?? DEFAULT_BUDGET,
      ...(args.entity === undefined ? {} : { entity: args.entity }),
      ...(args.key === undefined ? {} : { key: args.key }),
    })
    return answer(
      view.rows.length === 0 ? 'no memory visible' : view.rows.map(viewLine).join('\n'),
      {
        structured: {
          facts: view.rows.map(viewRow),
          total_tokens: view.totalTokens,
          returned: view.rows.length,
        },
        budget: reportBudget(args.token_budget, {
          applied: DEFAULT_BUDGET,
          used: view.totalTokens,
          leftOut: Math.min(view.matched, topK) - view.rows.length,
        }),
      },
    )
  },
})

function viewLine({ fact, entity }: RankedFact): string {
  return `[${entity}] ${fact.key} = ${fact.value} (id=${fact.fact_id}, v${fact.version})`
}

function viewRow({ fact, entity }: RankedFact): Record<string, unknown> {
  const storedAt = parseTime(fact.stored_at)
  return {
    id: fact.fact_id,
    entity,
    key: fact.key,
    value: fact.value,
    version: fact.version,
    stored_at: storedAt === undefined ? fact.stored_at : toResponseTime(storedAt),
    confidence: fact.confidence,
    pinned: false,
    source_receipt: fact.source_receipt,
    actor: fact.actor ?? null,
  }
}
