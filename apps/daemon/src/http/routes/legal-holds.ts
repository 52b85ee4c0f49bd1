import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { defineRoute, type Route } from '../route.js'

const WRITE = ['admin:write']

const holdSchema = z.object({
  schema: z.string(),
  hold_id: z.string(),
  tenant_id: z.string(),
  entity_prefixes: z.array(z.string()).describe('Empty covers the whole tenant.'),
  reason: z.string(),
  placed_at: z.string().describe('RFC 3339 in UTC.'),
  placed_by: z.string(),
  place_receipt_id: z.string(),
  released_at: z.string().optional(),
  released_by: z.string().optional(),
  release_receipt_id: z.string().optional(),
})

const receiptSchema = z.object({
  schema: z.string(),
  kind: z.string(),
  receipt_id: z.string(),
  hold_ids: z.array(z.string()),
  tenant_id: z.string(),
  entity_prefixes: z.array(z.string()),
  reason: z.string(),
  actor: z.string(),
  fact_ids: z.array(z.string()),
  recorded_at: z.string(),
})

const changeSchema = z.object({ hold: holdSchema, receipt: receiptSchema })

const placeBody = z.object({
  tenant_id: z.string().default('').describe('Whose facts are held.'),
  entity_prefixes: z
    .array(z.string())
    .default([])
    .describe('Starts of stored entities; none holds the whole tenant.'),
  reason: z.string().default('').describe('Why, for the receipt.'),
  actor: z.string().optional().describe('Who says so; operator when absent.'),
})

const releaseQuery = z.object({
  reason: z.string().optional().describe('Why; that of the hold when absent.'),
  actor: z.string().optional(),
})

/** Holds that keep facts from being forgotten. */
export function legalHoldRoutes({
  services,
  config,
}: Pick<HttpDependencies, 'services' | 'config'>): readonly Route[] {
  const requireOn = (): void => {
    if (config.featureLegalHold) return
    throw new ProblemError(
      'not-found',
      'legal holds disabled (set CORECRUXD_FEATURE_LEGAL_HOLD=1 on the daemon to enable)',
    )
  }
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/legal-holds',
      summary: 'Holds of every tenant within reach, released ones included.',
      access: ['admin:read', ...WRITE],
      replies: {
        200: { description: 'Holds.', schema: z.object({ holds: z.array(holdSchema) }) },
      },
      async run(_, { anyTenant }) {
        requireOn()
        return {
          status: 200,
          json: { holds: await services.facts.legalHolds.list(anyTenant()) },
        }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/legal-holds',
      summary: 'Keep facts from being forgotten, purged, compacted away or retired.',
      access: WRITE,
      body: placeBody,
      replies: { 201: { description: 'The hold and its receipt.', schema: changeSchema } },
      async run({ body }, { anyTenant }) {
        requireOn()
        const placed = await services.facts.legalHolds.place(anyTenant(), {
          tenantId: body.tenant_id,
          entityPrefixes: body.entity_prefixes,
          reason: body.reason,
          ...(body.actor === undefined ? {} : { actor: body.actor }),
        })
        return { status: 201, json: placed }
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/legal-holds/{holdId}',
      summary: 'Release a hold; it stays on record.',
      access: WRITE,
      query: releaseQuery,
      replies: { 200: { description: 'The hold and its receipt.', schema: changeSchema } },
      async run({ params, query }, { anyTenant }) {
        requireOn()
        const released = await services.facts.legalHolds.release(anyTenant(), params.holdId ?? '', {
          ...(query.reason === undefined ? {} : { reason: query.reason }),
          ...(query.actor === undefined ? {} : { actor: query.actor }),
        })
        return { status: 200, json: released }
      },
    }),
  ]
}
