import {
  type Acknowledgement,
  MAX_LABEL_BYTES,
  type ObservationInput,
  receiptSchema,
} from 'crux-observe'
import { parseTime } from 'crux-types'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { defineRoute, type Route } from '../route.js'

const MAX_BATCH = 500
const READERS = ['query:read', 'admin:read']
const WRITERS = ['sessions:write', 'admin:write']

const inputSchema = z.object({
  kind: z
    .string()
    .describe(
      `What happened, such as session_start, user_prompt, tool_use, model_response, stop or session_end; at most ${MAX_LABEL_BYTES} bytes.`,
    ),
  provider: z
    .string()
    .describe(
      `The program that reports it, such as claude-code; at most ${MAX_LABEL_BYTES} bytes.`,
    ),
  client_ts: z.string().nullish().describe('When it happened by its clock, as RFC 3339.'),
  payload: z.unknown().describe('Any JSON value.'),
})

const acknowledgementSchema = z.object({
  observation_id: z.string(),
  ts: z.string().describe('RFC 3339, by the clock of the daemon.'),
  receipt: receiptSchema,
})

const since = z
  .string()
  .optional()
  .describe('RFC 3339: what was recorded then or later; text that is no time is ignored.')

const listQuery = z.object({
  since,
  provider: z.string().optional(),
  kind: z.string().optional(),
  after: z.string().optional().describe('Id of the observation after which to go on.'),
  limit: z.coerce.number().int().min(1).max(5000).default(500),
})

const aggregateQuery = z.object({
  since,
  limit: z.coerce.number().int().min(1).max(1000).default(100).describe('Most sessions.'),
})

const counts = z.record(z.string(), z.int())
const sessionSchema = z.object({
  session_id: z.string(),
  count: z.int(),
  first_ts: z.string().nullable(),
  last_ts: z.string().nullable(),
  kinds: counts.describe('Observations by kind.'),
  providers: counts.describe('Observations by provider.'),
})

/** Signed records of what agents and programs did. */
export function observationRoutes({
  services,
}: Pick<HttpDependencies, 'services'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/observations',
      summary: 'Keep a signed record of something that happened in a session.',
      access: WRITERS,
      body: inputSchema,
      replies: {
        201: { description: 'It is kept.', schema: acknowledgementSchema },
        413: { description: 'The payload is too large.' },
      },
      async run({ params, body }, { reader }) {
        const [kept] = await services.observations.record(reader(), params.sessionId ?? '', [
          toInput(body),
        ])
        return { status: 201, json: kept && toJson(kept) }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/observations/batch',
      summary:
        'Keep several records, in this order; after an error, some of them may have been kept.',
      access: WRITERS,
      body: z.object({ observations: z.array(inputSchema).min(1).max(MAX_BATCH) }),
      replies: {
        201: {
          description: 'They are kept.',
          schema: z.object({ count: z.int(), observations: z.array(acknowledgementSchema) }),
        },
        413: { description: 'A payload is too large; nothing is kept.' },
      },
      async run({ params, body }, { reader }) {
        const inputs = body.observations.map(toInput)
        const kept = await services.observations.record(reader(), params.sessionId ?? '', inputs)
        return { status: 201, json: { count: kept.length, observations: kept.map(toJson) } }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/observations',
      summary: 'Records of a session, the oldest first; at most 1 MiB at a time.',
      access: READERS,
      query: listQuery,
      replies: {
        200: {
          description: 'Records.',
          schema: z.object({
            session_id: z.string(),
            count: z.int(),
            observations: z.array(z.looseObject({ observation_id: z.string() })),
            has_more: z.boolean().describe('Whether to ask again, with after.'),
          }),
        },
      },
      async run({ params, query }, { reader, signal }) {
        const sessionId = params.sessionId ?? ''
        const { since: from, ...filters } = query
        const wanted = { ...filters, since: from === undefined ? undefined : parseTime(from) }
        const page = await services.observations.list(reader(), sessionId, wanted, signal)
        const { observations, hasMore } = page
        return {
          status: 200,
          json: {
            session_id: sessionId,
            count: observations.length,
            observations,
            has_more: hasMore,
          },
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/observations/aggregate',
      summary: 'Sessions that have records, the latest first, with what there is of each.',
      access: ['query:read', 'receipts:read', 'exports:read', 'admin:read'],
      query: aggregateQuery,
      replies: {
        200: {
          description: 'Sessions.',
          schema: z.object({ count: z.int(), sessions: z.array(sessionSchema) }),
        },
      },
      async run({ query }, { reader, signal }) {
        const from = query.since === undefined ? undefined : parseTime(query.since)
        const wanted = { since: from, limit: query.limit }
        const found = await services.observations.sessions(reader(), wanted, signal)
        const sessions = found.map((session) => ({
          session_id: session.sessionId,
          count: session.count,
          first_ts: session.firstAt,
          last_ts: session.lastAt,
          kinds: session.kinds,
          providers: session.providers,
        }))
        return { status: 200, json: { count: sessions.length, sessions } }
      },
    }),
  ]
}

function toInput({
  kind,
  provider,
  client_ts,
  payload,
}: z.output<typeof inputSchema>): ObservationInput {
  return { kind, provider, payload, clientTs: client_ts ?? undefined }
}

function toJson({ observationId, ts, receipt }: Acknowledgement) {
  return { observation_id: observationId, ts, receipt }
}
