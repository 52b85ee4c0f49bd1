import { greedyWithinBudget } from 'crux-retrieval'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { laneDecision } from '../../result/lane-decision.js'
import { outputArm } from '../../result/output-arm.js'
import { pageOfList } from '../../result/pages.js'
import { searchEnvelope } from '../../result/search-envelope.js'
import { budgetInForce } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, cursor, requireConcreteTenant, searchMode, tenantId } from '../fields.js'
import { writeRetrieval } from './retrieval-answer.js'
import { envelopeSchema, fullTokens, hitPointer, hitRow, hitSchema } from './search-hits.js'
import { hitLabels, retrievalMeta } from './semantic-labels.js'

const input = z.object({
  tenant_id: tenantId,
  query: z.string().describe('Words or a question; matched by stemmed words, best passages first.'),
  limit: count().default(20).describe('Most hits.'),
  token_budget: count()
    .optional()
    .describe(
      'Tokens that the passages would cost in full; hits are given while they fit, at least one. Absent: all of limit.',
    ),
  mode: searchMode,
  cursor,
})

const output = z.object({
  scan: z.array(hitSchema),
  total_candidates: z.int().describe('Hits before the limit and the budget.'),
  tokens_returned: z.int().describe('Tokens of the given passages in full.'),
  budget_truncated: z.boolean().describe('The budget ended the list.'),
  meta: z.looseObject({}),
  crc_v1: envelopeSchema,
})

/** As many pointers as can be read in full within a budget. */
export const queryScan = defineTool({
  name: 'query_scan',
  plane: 'retrieval',
  effect: 'read',
  crc: 'search',
  description:
    'Plan what to read: like query, but the budget counts what the passages would cost in full, so that everything listed can be expanded within it. Use it before query_expand when context is scarce.',
  outputDoc:
    'Envelope of kind search: pointers {id, score, chunk_ref}, meta with total_candidates, tokens_returned and budget_truncated; structuredContent adds scan with rank, scores and lengths. An empty index answers with a sentence.',
  input,
  output,
  alsoReads: ['contract'],
  run: async (args, services: Pick<Services, 'documents' | 'semanticProfile'>, call) => {
    const tenant = requireConcreteTenant(args.tenant_id)
    const found = await services.documents.search(
      call.caller,
      { tenant, query: args.query, limit: args.limit, mode: args.mode },
      { signal: call.signal },
    )
    if (found.isEmpty) return answer('index is empty')
    const budget = budgetInForce(args.token_budget, call.budgets)
    const page = pageOfList('query_scan', call, found.hits, (hit) => hit.chunkRef)
    const { rest } = page
    const costs = rest.map((hit) => hit.docLengthTokens)
    const hits =
      budget.applied === undefined ? rest : rest.slice(0, greedyWithinBudget(costs, budget.applied))
    const leftOut = rest.length - hits.length
    const used = fullTokens(hits)
    const labels = hitLabels(found, services)
    const legacy = {
      scan: hits.map((hit) => hitRow(hit, labels)),
      total_candidates: found.totalCandidates,
      tokens_returned: used,
      budget_truncated: leftOut > 0,
      meta: retrievalMeta(labels, found.scoreMergeRule, services, found),
    }
    return writeRetrieval(
      legacy,
      call.contract === 'crc-v1'
        ? searchEnvelope(
            { kind: 'search', decision: laneDecision({ ...found, hits }) },
            legacy,
            'scan',
            hits.map(hitPointer),
            used,
          )
        : undefined,
      outputArm('query_scan', call),
      {
        budget: reportBudget(budget, {
          used,
          leftOut,
          nextCursor: page.cursorAfter(hits.length),
        }),
        warning: page.warning,
      },
    )
  },
})
