import { candidateRecord } from 'crux-memory'
import {
  CAPTURED_KINDS,
  type Capture,
  captureFromSession,
  captureFromText,
  MAX_CAPTURE_TEXT_BYTES,
  MAX_CAPTURED,
} from 'crux-observe'
import type { Caller } from 'crux-types'
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

const extractBody = z.object({
  session_id: z
    .string()
    .optional()
    .describe('Session whose observations are read, by the id that it is kept under.'),
  after: z.string().optional().describe('Id of the observation after which to go on.'),
  kinds: z
    .array(z.string())
    .min(1)
    .max(20)
    .optional()
    .describe(`Kinds of observations that hold what a person said; ${CAPTURED_KINDS} when absent.`),
  limit: z.int().min(1).max(1000).default(200).describe('Most observations.'),
  text: z.string().min(1).optional().describe('A text to read instead of a session.'),
})

const extractReply = z.object({
  scanned: z.int().describe('Texts that were read.'),
  candidates: z.array(candidateSchema).describe('What they state, proposed.'),
  known: z.int().describe('Statements that a stored fact makes already.'),
  withheld: z.int().describe('Statements that speak of a secret.'),
  next: z.string().optional().describe('There is more: ask again with it as after.'),
})

/** Facts that were proposed, for an operator to decide on. */
export function candidateRoutes({
  services,
  config,
}: Pick<HttpDependencies, 'services' | 'config'>): readonly Route[] {
  const candidates = () => {
    if (config.semanticDedup || config.autoCapture) return services.facts.candidates
    throw new ProblemError(
      'not-found',
      'nothing proposes facts here; set CORECRUXD_SEMANTIC_DEDUP=1 or CORECRUXD_AUTO_CAPTURE=1 on the daemon',
    )
  }
  const reply = { 200: { description: 'The candidate.', schema: candidateSchema } }
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/memory/extract',
      summary: `Propose as facts what people stated, at most ${MAX_CAPTURED} at a time; a reviewer promotes them.`,
      access: ['admin:write'],
      body: extractBody,
      replies: { 200: { description: 'What was proposed.', schema: extractReply } },
      async run({ body }, { reader, signal }) {
        if (!config.autoCapture) {
          throw new ProblemError(
            'not-found',
            'auto-capture is off; set CORECRUXD_AUTO_CAPTURE=1 on the daemon',
          )
        }
        const {
          candidates: found,
          next,
          ...counts
        } = await capture(services, reader(), body, signal)
        return {
          status: 200,
          json: {
            ...counts,
            candidates: found.map(candidateRecord),
            ...(next === undefined ? {} : { next }),
          },
        }
      },
    }),
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

function capture(
  services: HttpDependencies['services'],
  caller: Caller,
  { session_id: sessionId, text, ...from }: z.output<typeof extractBody>,
  signal: AbortSignal,
): Promise<Capture> {
  if ((sessionId === undefined) === (text === undefined)) {
    throw new ProblemError('bad-request', 'name either session_id or text')
  }
  if (sessionId !== undefined) {
    return captureFromSession(services, caller, { sessionId, ...from }, signal)
  }
  if (Buffer.byteLength(text ?? '') > MAX_CAPTURE_TEXT_BYTES) {
    throw new ProblemError(
      'payload-too-large',
      `text has more than ${MAX_CAPTURE_TEXT_BYTES} bytes; send it in parts`,
    )
  }
  return captureFromText(services, caller, text ?? '', signal)
}
