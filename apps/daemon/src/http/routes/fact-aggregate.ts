import { AGGREGATE_OPS } from 'crux-memory'
import { parseTime } from 'crux-types'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { defineRoute, type Route } from '../route.js'

const body = z.object({
  op: z
    .enum(AGGREGATE_OPS)
    .describe('How many, sum of first numbers, different values, or newest less an older version.'),
  entity: z.string().optional().describe('Exactly this entity; temporal_diff needs it.'),
  key: z.string().optional().describe('Exactly this key; temporal_diff needs it.'),
  query: z.string().optional().describe('Occurs in the value as it stands, in either case.'),
  as_of: z
    .string()
    .refine((text) => parseTime(text) !== undefined, 'as_of must be an RFC 3339 timestamp')
    .optional()
    .describe('RFC 3339; world time, and for temporal_diff the time of the older version.'),
  token_budget: z.int().min(0).optional().describe('Tokens of values to look at, by fact id.'),
})

/** Numbers over facts, worked out without a model. */
export function factAggregateRoutes({
  services,
}: Pick<HttpDependencies, 'services'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/facts/aggregate',
      summary: 'Count, add up or compare facts that are current and not private.',
      access: ['query:read', 'admin:read'],
      body,
      replies: {
        200: {
          description: 'The number, and what it was taken from.',
          schema: z.object({
            op: z.enum(AGGREGATE_OPS),
            matched: z.int(),
            value: z.number().nullable(),
            llm_calls: z.literal(0),
            tokens_scanned: z.int(),
            budget_truncated: z.boolean(),
          }),
        },
      },
      async run({ body: asked }, { reader }) {
        const asOf = asked.as_of === undefined ? undefined : parseTime(asked.as_of)
        const { op, entity, key, query, token_budget: tokenBudget } = asked
        const found = await services.facts.aggregate(reader(), {
          op,
          ...(entity === undefined ? {} : { entity }),
          ...(key === undefined ? {} : { key }),
          ...(query === undefined ? {} : { query }),
          ...(asOf === undefined ? {} : { asOf }),
          ...(tokenBudget === undefined ? {} : { tokenBudget }),
        })
        return {
          status: 200,
          json: {
            op: found.op,
            matched: found.matched,
            value: found.value,
            llm_calls: 0,
            tokens_scanned: found.tokensScanned,
            budget_truncated: found.isTruncated,
          },
        }
      },
    }),
  ]
}
