import { similarCapabilities } from 'crux-memory'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, requireConcreteTenant, tenantId } from '../fields.js'
import { capabilityDenied } from '../refusals.js'
import { resultId } from '../retrieval/search-hits.js'

const input = z.object({
  tenant_id: tenantId,
  description: z.string().describe('One line on what you are about to build.'),
  limit: count().default(5).describe('Most candidates of each source.'),
  min_score: z.number().optional().describe('Leave out passages that score lower.'),
})

const output = z.object({
  schema: z.literal('crux.mcp.reuse_check.v1'),
  verdict: z.enum(['reuse-candidate-found', 'nothing-found']),
  retrieval_candidates: z.array(
    z.strictObject({
      result_id: z.string().describe('Address for query_expand.'),
      rank: z.int(),
      score: z.number(),
      doc_length_tokens: z.int(),
    }),
  ),
  capability_candidates: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string().nullable(),
      system: z.string().nullable(),
      maturity: z.string().nullable(),
      files: z.array(z.string()),
      overlap_terms: z.int().describe('Different words of the description that it shares.'),
    }),
  ),
  guidance: z.string(),
})

/** What could be used in place of new code. */
export const reuseCheck = defineTool({
  name: 'reuse_check',
  plane: 'substrate',
  effect: 'read',
  description:
    'Before you build something, see whether it is there already: passages of the ingested documents of a tenant, and capabilities stored with entity_upsert in your own, that are about the same thing.',
  outputDoc:
    'Text and structuredContent: {schema: crux.mcp.reuse_check.v1, verdict: reuse-candidate-found or nothing-found, retrieval_candidates [{result_id, rank, score, doc_length_tokens}], capability_candidates [{id, name, system, maturity, files, overlap_terms}], guidance}.',
  input,
  output,
  before: ({ features }) => {
    if (features.reuseCheck) return undefined
    throw capabilityDenied(
      'reuse_check disabled (set CORECRUXD_FEATURE_REUSE_CHECK=1 to enable; it is off by default)',
    )
  },
  run: async (
    args,
    { documents, substrate }: Pick<Services, 'documents' | 'substrate'>,
    { caller },
  ) => {
    const { description, limit, min_score } = args
    const found = await documents.search(caller, {
      tenant: requireConcreteTenant(args.tenant_id),
      query: description,
      limit,
      ...(min_score === undefined ? {} : { minScore: min_score }),
    })
    const capabilities = await similarCapabilities(substrate.entities, caller, description, limit)
    const isFound = found.hits.length + capabilities.length > 0
    const report = {
      schema: 'crux.mcp.reuse_check.v1' as const,
      verdict: isFound ? ('reuse-candidate-found' as const) : ('nothing-found' as const),
      retrieval_candidates: found.hits.map((hit) => ({
        result_id: resultId(hit),
        rank: hit.rank,
        score: hit.score,
        doc_length_tokens: hit.docLengthTokens,
      })),
      capability_candidates: capabilities,
      guidance: guidance(isFound, found.isEmpty),
    }
    return answer(JSON.stringify(report), { structured: report })
  },
})

function guidance(isFound: boolean, isIndexEmpty: boolean): string {
  if (isFound) {
    return 'Read the candidates first (query_expand for passages, the files of capabilities). Extend or call what is there when it comes close; if you still build anew, say what it lacks.'
  }
  return isIndexEmpty
    ? 'No document is indexed, so this proves nothing: search the code itself before you build.'
    : 'Nothing indexed here is about it. Look once more with other words, and in the code itself, before you build.'
}
