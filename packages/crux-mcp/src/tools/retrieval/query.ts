import { greedyWithinBudget, POINTER_TOKENS, pointersWithinBudget } from 'crux-retrieval'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { reportCoverage } from '../../result/coverage-report.js'
import { laneDecision } from '../../result/lane-decision.js'
import { type OutputArm, outputArm } from '../../result/output-arm.js'
import { pageOfList } from '../../result/pages.js'
import { searchEnvelope } from '../../result/search-envelope.js'
import { budgetInForce } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, cursor, requireConcreteTenant, searchMode, tenantId } from '../fields.js'
import { writeRetrieval } from './retrieval-answer.js'
import {
  coverageSchema,
  envelopeSchema,
  fullTokens,
  hitPointer,
  hitRow,
  hitSchema,
} from './search-hits.js'
import { hitLabels, retrievalMeta } from './semantic-labels.js'

const input = z.object({
  tenant_id: tenantId,
  query: z.string().describe('Words or a question; matched by stemmed words, best passages first.'),
  limit: count().default(10).describe('Most hits.'),
  token_budget: count()
    .optional()
    .describe('Tokens for pointers, at 40 each; at least one is given. Absent: all of limit.'),
  min_score: z
    .number()
    .optional()
    .describe('Leave out hits that score lower; how many is in coverage.below_floor.'),
  mode: searchMode,
  cursor,
})

const output = z.object({
  results: z.array(hitSchema),
  total_candidates: z.int().describe('Hits before the floor, the limit and the budget.'),
  coverage: coverageSchema,
  meta: z.looseObject({}),
  crc_v1: envelopeSchema,
})

/** Ranked pointers to passages of documents. */
export const query = defineTool({
  name: 'query',
  plane: 'retrieval',
  effect: 'read',
  crc: 'search',
  description:
    'Search the ingested documents of a tenant and get pointers to the best passages, cheap enough to ask for many. Read the ones that matter with query_expand. The coverage tells which words of the question no document holds: when it is low, the corpus does not know. Set token_budget to bound the answer.',
  outputDoc:
    'Envelope of kind search: pointers {id, score, chunk_ref}, meta with coverage {score, missing_tokens, below_floor, gaps} and total_candidates; structuredContent adds results with rank, scores and lengths. An empty index answers with a sentence.',
  input,
  output,
  alsoReads: ['contract'],
  run: async (args, services: Pick<Services, 'documents' | 'semanticProfile'>, call) => {
    const tenant = requireConcreteTenant(args.tenant_id)
    const found = await services.documents.search(
      call.caller,
      {
        tenant,
        query: args.query,
        limit: args.limit,
        mode: args.mode,
        ...(args.min_score === undefined ? {} : { minScore: args.min_score }),
      },
      { signal: call.signal },
    )
    if (found.isEmpty) return answer('index is empty — ingest data first')
    const budget = budgetInForce(args.token_budget, call.budgets)
    const page = pageOfList('query', call, found.hits, (hit) => hit.chunkRef)
    const { rest } = page
    const arm = outputArm('query', call)
    const hits = rest.slice(0, hitsWithin(budget.applied, rest, arm))
    const labels = hitLabels(found, services)
    const legacy = {
      results: hits.map((hit) => hitRow(hit, labels)),
      total_candidates: found.totalCandidates,
      coverage: reportCoverage(found.coverage),
      meta: retrievalMeta(labels, found.scoreMergeRule, services, found),
    }
    return writeRetrieval(
      legacy,
      call.contract === 'crc-v1'
        ? searchEnvelope(
            { kind: 'search', decision: laneDecision({ ...found, hits }) },
            legacy,
            'results',
            hits.map(hitPointer),
            fullTokens(hits),
          )
        : undefined,
      arm,
      {
        budget: reportBudget(budget, {
          used: arm.isControl ? fullTokens(hits) : POINTER_TOKENS * hits.length,
          leftOut: rest.length - hits.length,
          nextCursor: page.cursorAfter(hits.length),
        }),
        warning: page.warning,
      },
    )
  },
})

/** How many hits a budget has room for: by their pointers, in the control arm by their passages. */
function hitsWithin(
  budget: number | undefined,
  hits: readonly { readonly docLengthTokens: number }[],
  { isControl }: OutputArm,
): number {
  if (budget === undefined) return hits.length
  if (!isControl) return pointersWithinBudget(budget)
  return greedyWithinBudget(
    hits.map((hit) => hit.docLengthTokens),
    budget,
  )
}
