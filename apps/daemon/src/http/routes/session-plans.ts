import { parseJsonBytes } from 'crux-mcp'
import {
  decodeCbor,
  invocationReceiptSchema,
  planToCbor,
  planToJson,
  type SessionPlan,
  sessionPlanJsonSchema,
} from 'crux-session'
import { ANONYMOUS, CruxError, messageOf } from 'crux-types'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { defineRoute, type Reply, type RequestContext, type Route } from '../route.js'
import { parseInput } from '../validation.js'

const CBOR = 'application/cbor'
const JSON_TYPE = 'application/json'
/** Largest request for a plan, in bytes. */
const MAX_REQUEST_BYTES = 64 * 1024

const planRequest = z.object({
  client_id: z.string().describe('Name of the program that asks.'),
  client_version: z.string(),
  accepts: z
    .array(z.string())
    .default([])
    .describe('Types that the client reads; application/cbor gives the plan in CBOR.'),
  intent: z.string().nullish().describe('What the session is for; stated in the plan.'),
  hints: z
    .object({
      prefer_bulk: z.boolean().optional(),
      max_capabilities: z.int().min(0).optional(),
      want_parent_chain: z.boolean().optional(),
      hide_exclusions: z.boolean().optional(),
    })
    .default({}),
})

const activeSchema = z.object({
  sessions: z.array(
    z.object({
      session_id: z.string(),
      principal_id: z.string(),
      origin: z.string(),
      capability_graph_hash: z.string(),
      plan_receipt_hash: z.string(),
      minted_at: z.int(),
      expires_at: z.int(),
    }),
  ),
})

const verdictSchema = z.object({
  verified: z.boolean(),
  integrity_ok: z.boolean(),
  capability_ok: z.boolean(),
  channel_ok: z.boolean(),
  governance_faults: z.array(z.string()),
  parent_plan_found: z.boolean(),
  parent_plan_principal_id: z.string().nullable(),
})

/** Plans of sessions, and receipts held against them. */
export function sessionPlanRoutes({
  services,
  config,
  planSchema,
}: Pick<HttpDependencies, 'services' | 'config' | 'planSchema'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/session',
      summary: 'Make the plan of a session, from a request in JSON or CBOR.',
      access: 'public',
      documentedBody: planRequest,
      replies: {
        200: { description: 'The plan, sealed.', schema: sessionPlanJsonSchema },
        400: { description: 'What cannot be read: {error: {code, message}}.' },
      },
      async run(_, context) {
        if (!config.mcpEnabled) {
          throw sessionProblem('feature_disabled', 'MCP is off; set CORECRUXD_MCP_ENABLED=1')
        }
        const type = mediaType(context.header('content-type'))
        if (type !== JSON_TYPE && type !== CBOR) {
          throw new ProblemError('unsupported-media-type', `send ${JSON_TYPE} or ${CBOR}`)
        }
        const body = await readAll(context)
        let request: z.output<typeof planRequest>
        try {
          const value = type === CBOR ? decodeCbor(body) : await parseJsonBytes(body)
          request = parseInput(planRequest, value, 'body')
        } catch (error) {
          return badRequest(type, error)
        }
        const plan = await seal(request)
        const readsCbor =
          request.accepts.includes(CBOR) || (context.header('accept') ?? '').includes(CBOR)
        return {
          status: 200,
          contentType: readsCbor ? CBOR : JSON_TYPE,
          body: readsCbor ? planToCbor(plan) : planToJson(plan),
          headers: {
            'x-cuecrux-session-id': toHex(plan.session_id),
            'x-cuecrux-plan-hash': toHex(plan.receipt.hash),
            'cache-control': 'no-store',
          },
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/session/schemas/{name}',
      summary: 'The JSON schema that a plan names for what a capability takes or gives.',
      access: 'public',
      replies: { 200: { description: 'A JSON schema; its BLAKE3 is the hash in the plan.' } },
      run({ params }) {
        const name = params.name ?? ''
        const text = planSchema(name)
        if (text === undefined) throw new ProblemError('not-found', `no schema '${name}'`)
        return { status: 200, contentType: JSON_TYPE, body: text }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/invocation/verify',
      summary: 'Hold a receipt of one use of a capability against the plan of its session.',
      access: 'public',
      body: invocationReceiptSchema,
      replies: { 200: { description: 'What holds and what does not.', schema: verdictSchema } },
      run: ({ body }) => ({ status: 200, json: services.plans.verify(body) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/sessions/active',
      summary: 'Sessions whose plans hold now, newest first.',
      access: ['query:read', 'admin:read'],
      replies: { 200: { description: 'Sessions.', schema: activeSchema } },
      run(_, context) {
        requireWholeInstallation(context)
        return { status: 200, json: { sessions: services.plans.active().map(toRow) } }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/plan',
      summary: 'The plan of a session; of the newest 4,096, also after they ended.',
      access: ['query:read', 'admin:read'],
      replies: { 200: { description: 'The plan.', schema: sessionPlanJsonSchema } },
      run({ params }, context) {
        requireWholeInstallation(context)
        const sessionId = params.sessionId ?? ''
        const plan = services.plans.find(sessionId)
        if (plan === undefined) {
          throw new ProblemError('not-found', `no plan of session '${sessionId}'`)
        }
        return { status: 200, contentType: JSON_TYPE, body: planToJson(plan) }
      },
    }),
  ]

  async function seal(request: z.output<typeof planRequest>): Promise<SessionPlan> {
    const { intent, hints } = request
    try {
      return await services.plans.mint(ANONYMOUS, { intent: intent ?? undefined, hints })
    } catch (error) {
      if (!(error instanceof CruxError) || !/^(?:JOURNAL|STORAGE)_/.test(error.code)) throw error
      throw sessionProblem('segment_seal_failed', 'the plan could not be made durable; try again')
    }
  }
}

// A plan holds the intent that somebody stated, and names no tenant.
function requireWholeInstallation({ principal }: Pick<RequestContext, 'principal'>): void {
  if (principal.tenants === '*') return
  throw new ProblemError(
    'forbidden',
    'plans belong to the whole installation; ask with a token that is bound to no tenant',
    { extensions: { code: 'TENANT_FORBIDDEN' } },
  )
}

async function readAll({ bodyStream }: RequestContext): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bodyStream()) {
    size += piece.byteLength
    if (size > MAX_REQUEST_BYTES) {
      throw new ProblemError(
        'payload-too-large',
        `a request has at most ${MAX_REQUEST_BYTES} bytes`,
      )
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces, size)
}

// This route answers mistakes in a form of its own, which clients of the hosted platform read.
function badRequest(type: string, error: unknown): Reply {
  const message =
    type === CBOR
      ? 'failed to decode CBOR request body'
      : `failed to decode JSON: ${messageOf(error)}`
  return { status: 400, json: { error: { code: 'bad_request', message } } }
}

function sessionProblem(code: string, detail: string): ProblemError {
  return new ProblemError('service-unavailable', detail, {
    extensions: { type: 'https://errors.cuecrux.com/session', code },
  })
}

function toRow(plan: SessionPlan): z.output<typeof activeSchema>['sessions'][number] {
  return {
    session_id: toHex(plan.session_id),
    principal_id: plan.passport.principal_id,
    origin: plan.origin,
    capability_graph_hash: toHex(plan.capability_graph_hash),
    plan_receipt_hash: toHex(plan.receipt.hash),
    minted_at: plan.minted_at,
    expires_at: plan.minted_at + plan.session_ttl_s * 1000,
  }
}

function mediaType(header: string | undefined): string {
  return header?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
