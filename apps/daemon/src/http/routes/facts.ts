import type { RankedFact } from 'crux-memory'
import { parseTime } from 'crux-types'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { refuseReserved } from '../reserved-entities.js'
import { defineRoute, type Route } from '../route.js'

const READ = ['query:read', 'admin:read']
const WRITE = ['facts:write', 'admin:write']
const MAX_ROWS = 100

const factSchema = z.looseObject({
  fact_id: z.string(),
  entity: z.string(),
  key: z.string(),
  value: z.string(),
  source_receipt: z.string().nullable(),
  confidence: z.number(),
  stored_at: z.string().describe('RFC 3339 in UTC.'),
  tokens: z.int(),
  version: z.int(),
  private: z.boolean(),
  horizon_class: z.string(),
  tenant_hash: z.string().describe('Name of the tenant.'),
  deleted: z.boolean(),
})

const putBody = z.object({
  entity: z.string().min(1, 'entity must not be empty').describe('What the fact is about.'),
  key: z.string().min(1, 'key must not be empty').describe('Which property of it.'),
  value: z.string().describe('At most 1 MiB of UTF-8.'),
  source_receipt: z.string().nullish(),
  confidence: z.number().min(0).max(1).default(1),
  private: z
    .boolean()
    .optional()
    .describe('Must be false: private facts are written by agents over MCP.'),
  horizon_class: z
    .enum(['volatile', 'medium', 'stable', 'none'])
    .optional()
    .describe('How fast it goes stale; default by the start of the entity.'),
  supersedes: z
    .array(z.string())
    .optional()
    .describe('Ids of further facts that this one retires.'),
  actor: z.string().optional().describe('Who says so.'),
})

const count = z.coerce.number().int()

const getQuery = z.object({
  query: z.string().optional().describe('Words; a fact that holds any of them matches.'),
  entity: z.string().optional(),
  entity_prefix: z.string().optional(),
  top_k: count
    .transform((rows) => Math.min(Math.max(rows, 1), MAX_ROWS))
    .optional()
    .describe('Most rows, 1 to 100; default 10.'),
  token_budget: count.min(0).optional().describe('Tokens of the rows; top_k does not apply then.'),
  min_effective_confidence: z.coerce.number().min(0).max(1).optional(),
  as_of: z.string().optional().describe('World time, RFC 3339.'),
})

/** Facts: write, recall, read one, delete one. */
export function factRoutes({
  services,
  log,
}: Pick<HttpDependencies, 'services' | 'log'>): readonly Route[] {
  // Not awaited: the answer is about the fact that was stored, not about others that are like it.
  const lookForNearDuplicates = (): void => {
    services.facts.nearDuplicates
      ?.drain()
      .catch((error: unknown) => log.warn({ err: error }, 'near-duplicates were not looked for'))
  }
  return [
    defineRoute({
      method: 'PUT',
      path: '/v1/facts',
      summary: 'Store a fact; the same entity and key again makes a new version.',
      access: WRITE,
      body: putBody,
      replies: { 201: { description: 'The stored fact.', schema: factSchema } },
      async run({ body }, { writer }) {
        if (body.private === true) {
          throw new ProblemError(
            'bad-request',
            'private must be false over HTTP; store private facts with an agent token over MCP',
          )
        }
        refuseReserved(body.entity)
        const { fact, warning } = await services.facts.store(writer(), {
          entity: body.entity,
          key: body.key,
          value: body.value,
          confidence: body.confidence,
          ...(typeof body.source_receipt === 'string'
            ? { sourceReceipt: body.source_receipt }
            : {}),
          ...(body.horizon_class === undefined ? {} : { horizonClass: body.horizon_class }),
          ...(body.supersedes === undefined ? {} : { supersedes: body.supersedes }),
          ...(body.actor === undefined ? {} : { actor: body.actor }),
        })
        lookForNearDuplicates()
        return { status: 201, json: warning === undefined ? fact : { ...fact, warning } }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/facts',
      summary: 'Recall facts, the most trusted first.',
      access: READ,
      query: getQuery,
      replies: {
        200: {
          description: 'Matching facts.',
          schema: z.object({
            facts: z.array(factSchema),
            total_tokens: z.int(),
            filtered_below_threshold: z.int(),
          }),
        },
      },
      async run({ query }, { reader }) {
        const asOf = query.as_of === undefined ? undefined : parseTime(query.as_of)
        if (query.as_of !== undefined && asOf === undefined) {
          throw new ProblemError(
            'bad-request',
            `as_of: ${JSON.stringify(query.as_of.slice(0, 80))} is not a time; write it as 2026-01-31T12:00:00Z`,
          )
        }
        const page = await services.facts.query(reader(), {
          ...(query.query === undefined ? {} : { query: query.query }),
          ...(query.entity === undefined ? {} : { entity: query.entity }),
          ...(query.entity_prefix === undefined ? {} : { entityPrefix: query.entity_prefix }),
          ...(query.top_k === undefined ? {} : { topK: query.top_k }),
          ...(query.token_budget === undefined ? {} : { tokenBudget: query.token_budget }),
          ...(query.min_effective_confidence === undefined
            ? {}
            : { minEffectiveConfidence: query.min_effective_confidence }),
          ...(asOf === undefined ? {} : { asOf }),
        })
        return {
          status: 200,
          json: {
            facts: page.rows.slice(0, page.hydrated).map(shown),
            total_tokens: page.totalTokens,
            filtered_below_threshold: page.filteredBelowThreshold,
          },
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/facts/{factId}',
      summary: 'One fact.',
      access: READ,
      replies: { 200: { description: 'The fact.', schema: factSchema } },
      async run({ params }, { reader }) {
        const found = await services.facts.get(reader(), params.factId ?? '')
        if (found === undefined) throw unknownFact(params.factId)
        return { status: 200, json: shown(found) }
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/facts/{factId}',
      summary: 'Delete one fact; its earlier versions stay in the history.',
      access: WRITE,
      replies: {
        200: { description: 'It is gone.', schema: z.object({ deleted: z.literal(true) }) },
      },
      async run({ params }, { writer }) {
        const isDeleted = await services.facts.delete(writer(), params.factId ?? '')
        if (!isDeleted) throw unknownFact(params.factId)
        return { status: 200, json: { deleted: true } }
      },
    }),
  ]
}

/** A fact as its reader sees it. */
function shown({ fact, entity }: RankedFact): Record<string, unknown> {
  return { ...fact, entity }
}

function unknownFact(factId: string | undefined): ProblemError {
  return new ProblemError('not-found', `fact '${factId}' not found`)
}
