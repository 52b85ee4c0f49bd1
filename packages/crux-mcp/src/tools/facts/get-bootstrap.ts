import { fullWithinBudget } from 'crux-retrieval'
import { createPauser, type TokenCounter } from 'crux-types'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { contractEntries } from '../../result/crc-v1.js'
import { pageOfList } from '../../result/pages.js'
import { budgetInForce } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool, type ToolFacts } from '../define-tool.js'
import { count, cursor } from '../fields.js'

const input = z.object({
  topic: z
    .string()
    .optional()
    .describe(
      'doc, pattern, resolution (of errors) or tool-output, also in the plural; or any other group of entries. Absent: everything.',
    ),
  query: z.string().optional().describe('Words that the entries should be about.'),
  token_budget: count()
    .optional()
    .describe('Tokens; entries are given while they fit, at least one. Absent: up to 100 entries.'),
  cursor,
})

const output = z.object({
  total_tokens: z.int().describe('Tokens of the values given.'),
  returned: z.int().describe('Entries given.'),
  left_out: z.int().describe('Entries that did not fit.'),
})

const PREFIX = '__bootstrap__::'
const MOST_UNBUDGETED = 100
const MOST_BUDGETED = 10_000
const TOPICS: Readonly<Record<string, string>> = {
  doc: 'doc',
  docs: 'doc',
  pattern: 'pattern',
  patterns: 'pattern',
  error: 'resolution',
  errors: 'resolution',
  resolution: 'resolution',
  resolutions: 'resolution',
  tool: 'tool-output',
  'tool-output': 'tool-output',
  'tool-outputs': 'tool-output',
}

/** Knowledge about this system, for agents that have just arrived. */
export const getBootstrap = defineTool({
  name: 'get_bootstrap',
  plane: 'facts',
  effect: 'read',
  description:
    "Learn how to use this memory: guides (doc), proven ways of working (pattern), what to do about errors (resolution) and the form of every tool's answer (tool-output). Ask for one topic, and set token_budget to bound the answer.",
  outputDoc:
    'Text: one line an entry, [<entity>] <key> = <value>, or a sentence when there is none; structuredContent {total_tokens, returned, left_out}.',
  input,
  output,
  run: async (args, { facts }: Pick<Services, 'facts'>, call) => {
    const asked = args.topic?.trim() ?? ''
    const topic = TOPICS[asked.toLowerCase()] ?? asked
    const budget = budgetInForce(args.token_budget, call.budgets)
    const stored = await facts.bootstrap(call.caller, {
      entityPrefix: topic === '' ? PREFIX : `${PREFIX}${topic}:`,
      // A budget that nobody asked for must not widen the answer.
      topK: budget.requested === undefined ? MOST_UNBUDGETED : MOST_BUDGETED,
      ...(args.query === undefined ? {} : { query: args.query }),
    })
    const documented =
      topic === 'tool-output' ? toolEntries(call.tools, stored.facts, args.query) : []
    const page = pageOfList<Entry>(
      'get_bootstrap',
      call,
      [...stored.facts, ...documented],
      ({ entity, key, value }) => `${entity}\n${key}\n${value}`,
    )
    const { rest } = page
    const costs = await costsWithin(rest, call.tokenCounter, budget.applied)
    const count =
      budget.applied === undefined ? rest.length : fullWithinBudget(costs, budget.applied)
    const entries = rest.slice(0, count)
    const totalTokens = costs.slice(0, count).reduce((sum, cost) => sum + cost, 0)
    const leftOut = stored.leftOut + rest.length - count
    // What the count alone cuts was not left out by a budget.
    const isCut = budget.requested === undefined
    const empty =
      topic === '' ? 'no bootstrap knowledge found' : `no bootstrap knowledge for topic '${asked}'`
    return answer(
      entries.length === 0
        ? empty
        : entries.map(({ entity, key, value }) => `[${entity}] ${key} = ${value}`).join('\n'),
      {
        structured: { total_tokens: totalTokens, returned: entries.length, left_out: leftOut },
        budget: reportBudget(budget, {
          used: totalTokens,
          countedBy: call.tokenCounter,
          leftOut: isCut ? rest.length - count : leftOut,
          nextCursor: page.cursorAfter(count),
        }),
        warning: page.warning,
      },
    )
  },
})

interface Entry {
  readonly entity: string
  readonly key: string
  readonly value: string
}

/** Tokens of the values of entries, as far as a budget can reach; those beyond stand as infinitely dear. */
async function costsWithin(
  entries: readonly Entry[],
  counter: TokenCounter,
  budget = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const pause = createPauser()
  const costs: number[] = []
  let used = 0
  for (const { value } of entries) {
    const isReached = costs.length === 0 || used < budget
    const cost = isReached ? await counter.count(value, pause) : Number.POSITIVE_INFINITY
    costs.push(cost)
    used += cost
  }
  return costs
}

/** What every existing tool answers, as far as it is not stored already, and the envelope contract. */
function toolEntries(
  tools: readonly ToolFacts[],
  stored: readonly Entry[],
  query: string | undefined,
): Entry[] {
  const known = new Set(stored.map(({ entity, key }) => `${entity}\n${key}`))
  const words = query?.toLowerCase().split(/\s+/).filter(Boolean)
  return [
    ...tools.map(({ name, outputDoc }) => ({
      entity: `${PREFIX}tool-output:${name}`,
      key: `${name} output schema`,
      value: outputDoc,
    })),
    ...contractEntries(tools),
  ].filter(({ entity, key, value }) => {
    const text = `${entity} ${key} ${value}`.toLowerCase()
    return (
      !known.has(`${entity}\n${key}`) &&
      (words === undefined || words.some((word) => text.includes(word)))
    )
  })
}
