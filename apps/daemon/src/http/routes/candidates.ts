import { candidateRecord } from 'crux-memory'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { defineRoute, type Route } from '../route.js'

const candidateSchema = z.object({
  schema: z.string(),
  candidate_id: z.string(),
  status: z.enum(['candidate', 'promoted', 'rejected']),
  proposed_entity: z.string(),
  proposed_key: z.string(),
  proposed_value: z.string(),
  rule: z.string().describe('What proposed it, such as semantic_dedup.'),
  confidence: z.number().describe('0 to 1.'),
  decay_class: z.string().nullable(),
  source: z.object({
    session_id: z.string().optional(),
    observation_seq: z.int().optional(),
    evidence: z.string().optional(),
  }),
  verifier_score: z.number().optional(),
  receipt: z.string().optional(),
  created_at: z.string().describe('RFC 3339 in UTC.'),
  promoted_fact_id: z.string().optional(),
  reject_reason: z.string().optional(),
})

const listQuery = z.object({
  status: z.enum(['candidate', 'promoted', 'rejected']).optional(),
  limit: z.coerce.number().int().min(1).max(1000).optional().describe('Default 100.'),
})

const promoteBody = z.object({
  reviewer: z.string().min(1).max(256).optional().describe('Who decides; operator when absent.'),
})

const rejectBody = z.object({
  reason: z.string().max(4096).default('').describe('Why, for whoever looks later.'),
})

/** Facts that were proposed, for an operator to decide on. */
export function candidateRoutes({
  services,
  config,
}: Pick<HttpDependencies, 'services' | 'config'>): readonly Route[] {
  const candidates = () => {
    if (config.semanticDedup) return services.facts.candidates
    throw new ProblemError(
      'not-found',
      'nothing proposes facts here; set CORECRUXD_SEMANTIC_DEDUP=1 on the daemon',
    )
  }
  const reply = { 200: { description: 'The candidate.', schema: candidateSchema } }
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/memory/candidates',
      summary: 'Proposed facts, newest first.',
      access: ['admin:read', 'admin:write'],
      query: listQuery,
      replies: {
        200: {
          description: 'Candidates.',
          schema: z.object({ candidates: z.array(candidateSchema) }),
        },
      },
      async run({ query }, { reader }) {
        const found = await candidates().list(reader(), {
          ...(query.status === undefined ? {} : { status: query.status }),
          ...(query.limit === undefined ? {} : { limit: query.limit }),
        })
        return { status: 200, json: { candidates: found.map(candidateRecord) } }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/memory/candidates/{candidateId}/promote',
      summary: 'Store the proposed fact; a rejected one may be promoted too.',
      access: ['admin:write'],
      body: promoteBody,
      replies: reply,
      async run({ params, body }, { principal, reader }) {
        const reviewer = body.reviewer ?? principal.passport ?? 'operator'
        const id = params.candidateId ?? ''
        const promoted = await candidates().promote(reader(), id, { reviewer })
        return { status: 200, json: candidateRecord(promoted) }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/memory/candidates/{candidateId}/reject',
      summary: 'Decide against a proposed fact.',
      access: ['admin:write'],
      body: rejectBody,
      replies: reply,
      async run({ params, body }, { reader }) {
        const id = params.candidateId ?? ''
        const rejected = await candidates().reject(reader(), id, body.reason)
        return { status: 200, json: candidateRecord(rejected) }
      },
    }),
  ]
}
