import { rowsWithinBudget } from 'crux-mcp'
import {
  type ActivityLog,
  type ActivityTurn,
  activityEntrySchema,
  activityInputSchema,
  activityKinds,
  activityRowSchema,
} from 'crux-observe'
import { CHARS4 } from 'crux-types'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { defineRoute, type RequestContext, type Route } from '../route.js'

const READ = ['facts:read', 'admin:read']
const WRITE = ['facts:write', 'admin:write']

const recordBody = activityInputSchema.extend({
  tenant_id: z
    .string()
    .optional()
    .describe('Tenant of the session; that of the token when absent.'),
})

const listQuery = z.object({
  tenant_id: z.string().optional().describe('Tenant to look in; required.'),
  session: z.string().optional().describe('Only this session; all of the tenant when absent.'),
  since: z.coerce.number().int().min(0).optional().describe('Only numbers above this one.'),
  before: z.coerce.number().int().min(0).optional().describe('next_cursor of the last answer.'),
  kinds: z.string().optional().describe('Only these kinds, with commas between; all when absent.'),
  token_budget: z.string().optional().describe('Tokens for the rows, at least one row; required.'),
})

const turnQuery = z.object({
  tenant_id: z.string().optional().describe('Tenant to look in; that of the token when absent.'),
  session: z
    .string()
    .optional()
    .describe('Session of the turn; the one that used it last when absent.'),
})

const verificationSchema = z.object({
  entry_id: z.string(),
  seq: z.int(),
  ok: z.boolean(),
  id_match: z.boolean().describe('The id is that of what the entry says.'),
  hash_match: z.boolean().describe('So is the hash in its receipt.'),
  signature_valid: z.boolean(),
  reason: z.string().nullable().describe('The first thing that is wrong.'),
})

const POSITIVE = /^0*[1-9]\d{0,14}$/

/** What agents and their hosts tell of their activity. */
export function activityRoutes({ services }: Pick<HttpDependencies, 'services'>): readonly Route[] {
  const activity = (): ActivityLog => {
    if (services.activity !== undefined) return services.activity
    throw new ProblemError(
      'not-found',
      'activity log disabled (set CORECRUXD_FEATURE_ACTIVITY_LOG=1)',
    )
  }
  const findTurn = async (
    { turnId = '' }: Readonly<Record<string, string>>,
    { tenant_id: tenantId, session: sessionId }: z.output<typeof turnQuery>,
    { reader, anyTenant }: Pick<RequestContext, 'reader' | 'anyTenant'>,
  ): Promise<{ turnId: string; turn: ActivityTurn }> => {
    const caller = tenantId === undefined ? reader() : anyTenant()
    const turn = await activity().turn(caller, { tenantId, sessionId, turnId })
    if (turn !== undefined) return { turnId, turn }
    throw new ProblemError('not-found', `no entry of turn '${turnId}' is within reach`)
  }
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/activity',
      summary: 'Keep an entry of the activity log; its author is the passport of the token.',
      access: WRITE,
      body: recordBody,
      replies: { 201: { description: 'The entry.', schema: activityEntrySchema } },
      async run({ body: { tenant_id, ...entry } }, { reader, anyTenant }) {
        const caller = tenant_id === undefined ? reader() : anyTenant()
        return { status: 201, json: await activity().record(caller, tenant_id, entry) }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/activity',
      summary: 'Entries of the activity log, newest first, within a budget.',
      access: READ,
      query: listQuery,
      replies: {
        200: {
          description: 'Rows.',
          schema: z.object({
            session_id: z.string().nullable(),
            all_sessions: z.boolean(),
            token_budget: z.int(),
            returned: z.int(),
            truncated: z.boolean().describe('The budget ended the list.'),
            next_cursor: z
              .int()
              .nullable()
              .describe('Given as before, leads to older rows; null when there are none.'),
            has_more: z.boolean(),
            rows: z.array(activityRowSchema).describe('At most 200.'),
          }),
        },
      },
      async run({ query }, { anyTenant }) {
        const log = activity()
        const budget = requireBudget(query.token_budget)
        if (query.tenant_id === undefined || query.tenant_id === '') {
          throw new ProblemError('bad-request', 'tenant_id is required')
        }
        const { session, since, before, kinds = '' } = query
        const page = await log.recent(anyTenant(), {
          tenantId: query.tenant_id,
          sessionId: session,
          since,
          before,
          kinds: activityKinds(kinds.split(',')),
        })
        const { rows } = await rowsWithinBudget(page.rows, CHARS4, budget)
        const hasMore = rows.length < page.total
        return {
          status: 200,
          json: {
            session_id: session ?? null,
            all_sessions: session === undefined,
            token_budget: budget,
            returned: rows.length,
            truncated: rows.length < page.rows.length,
            next_cursor: hasMore ? (rows.at(-1)?.cursor ?? null) : null,
            has_more: hasMore,
            rows,
          },
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/activity/turn/{turnId}',
      summary: 'What happened in one turn of a session, oldest first.',
      access: READ,
      query: turnQuery,
      replies: {
        200: {
          description: 'Entries.',
          schema: z.object({
            turn_id: z.string(),
            session_id: z.string(),
            entries: z.array(activityEntrySchema),
            truncated: z.boolean().describe('There are more than a mebibyte of them.'),
          }),
        },
      },
      async run({ params, query }, context) {
        const { turnId, turn } = await findTurn(params, query, context)
        return {
          status: 200,
          json: {
            turn_id: turnId,
            session_id: turn.sessionId,
            entries: turn.entries,
            truncated: turn.isTruncated,
          },
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/activity/turn/{turnId}/verify',
      summary: 'Whether the entries of a turn are as the daemon signed them.',
      access: READ,
      query: turnQuery,
      replies: {
        200: {
          description: 'A finding for each entry.',
          schema: z.object({
            turn_id: z.string(),
            session_id: z.string(),
            ok: z.boolean().describe('All are signed, and none was changed.'),
            entries: z.array(verificationSchema),
            truncated: z.boolean(),
          }),
        },
      },
      async run({ params, query }, context) {
        const { turnId, turn } = await findTurn(params, query, context)
        const entries = await activity().verify(turn.entries)
        return {
          status: 200,
          json: {
            turn_id: turnId,
            session_id: turn.sessionId,
            ok: entries.every(({ ok }) => ok),
            entries,
            truncated: turn.isTruncated,
          },
        }
      },
    }),
  ]
}

function requireBudget(text: string | undefined): number {
  if (text === undefined) {
    throw new ProblemError('bad-request', 'token_budget query parameter is required (QC.2)')
  }
  if (!POSITIVE.test(text)) {
    throw new ProblemError('bad-request', 'token_budget must be a positive integer (QC.2)')
  }
  return Number(text)
}
