import { SEARCH_MODES, type SearchAnswer, type SearchHit, type SearchMode } from 'crux-documents'
import {
  type HitLabels,
  hitLabels,
  reportCoverage,
  resultId,
  retrievalMeta,
  SOURCE_LABEL,
} from 'crux-mcp'
import { type FusionWeights, greedyWithinBudget, TUNED_FUSION, withWeights } from 'crux-retrieval'
import { messageOf } from 'crux-types'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { defineRoute, type Route } from '../route.js'

const READ = ['query:read', 'admin:read']
const MAX_HITS = 100
/** Candidates looked at when a token budget chooses among them. */
const BUDGET_POOL = 1000

const limit = z.int().optional().describe('Most hits, 1 to 100; default 10, or 20 with mode scan.')

const weight = z.number().min(0).optional()

const searchBody = z.object({
  tenant_id: z.string().default('').describe('One tenant.'),
  query: z.string().describe('Words or a question.'),
  limit,
  top_k: limit.describe('Another name of limit.'),
  token_budget: z.int().min(0).optional().describe('Tokens of the chunks behind the hits.'),
  min_score: z.number().optional().describe('Hits below it are dropped and counted.'),
  mode: z
    .enum(['normal', 'scan', ...SEARCH_MODES])
    .default('normal')
    .describe(
      'scan stops at the first chunk that does not fit the budget; auto, bm25, dense and fused say what ranks, like ranking.',
    ),
  ranking: z
    .enum(SEARCH_MODES)
    .optional()
    .describe(
      'auto (default): words, re-ranked by vectors where there are some; bm25: words; dense: vectors; fused: words, vectors, word order and links together.',
    ),
  weights: z
    .strictObject({ bm25: weight, graph: weight, dense: weight, sparse: weight })
    .optional()
    .describe('With fused: weights of the lanes; those left out are as configured.'),
  include_receipt: z.boolean().optional().describe('Accepted; there is none.'),
})

const address = z.object({
  segment_index: z.int().min(0),
  doc_id: z.int().min(0),
})

const expandBody = z.object({
  tenant_id: z.string(),
  result_ids: z
    .array(z.union([address, z.string()]))
    .describe('Addresses of hits: {segment_index, doc_id}, a result_id or a chunk_ref.'),
  include_text: z.boolean().default(false).describe('Whether content holds the text.'),
  token_budget: z.int().min(0).optional().describe('Tokens of text.'),
})

/** Full-text search over ingested documents. */
export function textSearchRoutes({
  services,
  config,
}: Pick<HttpDependencies, 'services' | 'config'>): readonly Route[] {
  const requireOn = (): void => {
    if (!config.queryTextSearch) {
      throw new ProblemError('not-found', 'text-search query not enabled')
    }
  }
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/query/text-search',
      summary: 'Rank chunks of documents by words, vectors, or both with word order and links.',
      access: READ,
      body: searchBody,
      replies: {
        200: {
          description: 'Addresses of the best chunks, and how much of the query they cover.',
          schema: z.looseObject({
            results: z.array(
              z.looseObject({
                result_id: z.string(),
                chunk_ref: z.string().describe('Stays valid when segments change.'),
                rank: z.int(),
                score: z.number(),
                token_count: z.int(),
                score_breakdown: z.looseObject({}).describe('What each lane says of it.'),
              }),
            ),
            coverage: z.looseObject({
              score: z.number(),
              gaps: z.array(z.looseObject({ query_terms: z.array(z.string()) })),
              missing_tokens: z.array(z.string()),
              below_floor: z.int(),
            }),
            meta: z.looseObject({
              score_space: z.string().describe('The algorithm that ran.'),
              degraded: z.array(z.string()).describe('What was to take part and did not.'),
              dense_lane_active: z.boolean().describe('Whether vectors were compared.'),
            }),
          }),
        },
      },
      async run({ body }, { anyTenant, signal }) {
        requireOn()
        if (body.query.trim() === '') {
          throw new ProblemError('bad-request', 'query must not be empty')
        }
        const started = performance.now()
        const isScan = body.mode === 'scan'
        const wanted = Math.min(
          Math.max(body.limit ?? body.top_k ?? (isScan ? 20 : 10), 1),
          MAX_HITS,
        )
        const answer = await services.documents.search(
          anyTenant(),
          {
            tenant: oneTenant(body.tenant_id),
            query: body.query,
            limit: body.token_budget === undefined ? wanted : BUDGET_POOL,
            mode: rankingOf(body),
            isStrict: true,
            ...(body.min_score === undefined ? {} : { minScore: body.min_score }),
            ...(body.weights === undefined ? {} : { weights: usable(body.weights, config) }),
          },
          { signal },
        )
        const budgeted = withinBudget(answer.hits, body.token_budget, wanted, isScan)
        const labels = hitLabels(answer, services)
        return {
          status: 200,
          json: {
            results: budgeted.hits.map((hit, i) => resultRow(hit, i + 1, labels)),
            coverage: reportCoverage(answer.coverage),
            meta: {
              ...searchMeta(answer, performance.now() - started),
              ...retrievalMeta(labels, answer.scoreMergeRule, services, answer),
            },
            ...(isScan ? { scan_mode: true } : {}),
            ...budgeted.report,
          },
        }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/query/text-search/expand',
      summary: 'What stands behind addresses, with text on request.',
      access: READ,
      body: expandBody,
      replies: {
        200: {
          description: 'Chunks that were found; addresses that lead nowhere are left out.',
          schema: z.looseObject({
            chunks: z.array(z.looseObject({ chunk_ref: z.string(), token_count: z.int() })),
            tokens_loaded: z.int(),
          }),
        },
      },
      async run({ body }, { anyTenant }) {
        requireOn()
        if (body.result_ids.length === 0) {
          throw new ProblemError('bad-request', 'result_ids must not be empty')
        }
        const answer = await services.documents.expand(anyTenant(), {
          tenant: oneTenant(body.tenant_id),
          handles: body.result_ids.map((id) =>
            typeof id === 'string' ? id : `${id.segment_index}:${id.doc_id}`,
          ),
          includeText: body.include_text,
          ...(body.token_budget === undefined ? {} : { tokenBudget: body.token_budget }),
        })
        return {
          status: 200,
          json: {
            chunks: answer.chunks.map((chunk) => ({
              segment_index: chunk.segmentIndex,
              doc_id: chunk.docId,
              chunk_ref: chunk.chunkRef,
              frame_offset: chunk.frameOffset,
              token_count: chunk.tokenCount,
            })),
            tokens_loaded: answer.tokensLoaded,
            meta: { source_label: SOURCE_LABEL, not_found: answer.errors.length },
            ...(body.include_text
              ? {
                  content: answer.content.map((chunk) => ({
                    id: chunk.id,
                    chunk_ref: chunk.chunkRef,
                    text: chunk.text,
                    title: chunk.title,
                    source: chunk.source,
                    document: chunk.docId,
                    corpus: chunk.corpus,
                    heading_path: chunk.headingPath,
                    chunk_index: chunk.chunkIndex,
                    is_cut: chunk.isCut,
                  })),
                  text_tokens: answer.textTokens,
                  left_out: answer.leftOut,
                }
              : {}),
          },
        }
      },
    }),
  ]
}

type SearchBody = z.output<typeof searchBody>

/** What ranks; `mode` may say it as well, and must not say something else. */
function rankingOf({ mode, ranking }: SearchBody): SearchMode {
  const named = mode === 'normal' || mode === 'scan' ? undefined : mode
  if (named !== undefined && ranking !== undefined && named !== ranking) {
    throw new ProblemError('bad-request', `mode says ${named} and ranking ${ranking}; name one`)
  }
  return named ?? ranking ?? 'auto'
}

/** Weights that leave something over which to rank, together with those that are configured. */
function usable(
  weights: NonNullable<SearchBody['weights']>,
  { fusionWeights }: Pick<HttpDependencies['config'], 'fusionWeights'>,
): FusionWeights {
  try {
    return withWeights(withWeights(TUNED_FUSION.weights, fusionWeights), weights)
  } catch (error) {
    throw new ProblemError('bad-request', messageOf(error))
  }
}

function oneTenant(tenant: string): string {
  if (tenant === '' || tenant === '*') {
    throw new ProblemError('bad-request', 'tenant_id must name one concrete tenant')
  }
  return tenant
}

/**
 * Hits that a budget pays for. A chunk that does not fit is passed over, so that smaller ones
 * further down may still come in; a scan ends there instead. At least one hit stays.
 */
function withinBudget(
  hits: readonly SearchHit[],
  budget: number | undefined,
  wanted: number,
  isScan: boolean,
): { hits: readonly SearchHit[]; report: Record<string, number> } {
  if (budget === undefined) return { hits, report: {} }
  const kept: SearchHit[] = []
  let used = 0
  let omitted = 0
  const candidates = isScan
    ? hits.slice(
        0,
        greedyWithinBudget(
          hits.map((hit) => hit.docLengthTokens),
          budget,
        ),
      )
    : hits
  if (isScan) omitted = hits.length - candidates.length
  for (const hit of candidates) {
    if (kept.length === wanted) break
    if (kept.length > 0 && used + hit.docLengthTokens > budget) {
      omitted += 1
      continue
    }
    kept.push(hit)
    used += hit.docLengthTokens
  }
  return {
    hits: kept,
    report: { tokens_used: used, tokens_available: budget, results_omitted: omitted },
  }
}

function resultRow(hit: SearchHit, rank: number, labels: HitLabels): Record<string, unknown> {
  return {
    result_id: resultId(hit),
    chunk_ref: hit.chunkRef,
    rank,
    segment_index: hit.segmentIndex,
    doc_id: hit.docId,
    score: hit.score,
    ...labels,
    frame_offset: hit.frameOffset,
    token_count: hit.docLengthTokens,
    score_breakdown: hit.breakdown,
    ...(hit.hopDistance === undefined ? {} : { hop_distance: hit.hopDistance }),
  }
}

function searchMeta(answer: SearchAnswer, tookMs: number): Record<string, unknown> {
  return {
    backend: 'corecrux-v5-bm25',
    took_ms: Math.round(tookMs * 1000) / 1000,
    segments_searched: answer.segmentsSearched,
    total_docs: answer.totalDocs,
    total_candidates: answer.totalCandidates,
    dense_lane_active: answer.isDense,
  }
}
