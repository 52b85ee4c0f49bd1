import { z } from 'zod'
import { requireAnyScope } from '../auth.js'
import type { HttpDependencies } from '../dependencies.js'
import { exportStream } from '../memory-export.js'
import { importFacts, importLine } from '../memory-import.js'
import { defineRoute, type Route } from '../route.js'

const NDJSON = 'application/x-ndjson'

const flag = z
  .enum(['true', 'false', '1', '0'])
  .default('false')
  .transform((text) => text === 'true' || text === '1')

const exportQuery = z.object({
  all: flag.describe(
    'Everything of all tenants of the token, as it is: every version, private and deleted ones too. Needs admin:read.',
  ),
  cursor: z
    .string()
    .min(1)
    .optional()
    .describe('fact_id of the last line that came; the export goes on after it.'),
})

const importQuery = z.object({
  all: flag.describe(
    'The lines are an export with all=true and are put back as they are. Needs admin:write.',
  ),
  dry_run: flag.describe('Check and count, store nothing.'),
})

const reportSchema = z.object({
  lines: z.int(),
  added: z.int(),
  new_versions: z.int().describe('Of those added: facts that retired an earlier version.'),
  unchanged: z.int().describe('Facts that were there already.'),
  skipped: z.int(),
  problems: z
    .array(z.object({ line: z.int(), code: z.string(), reason: z.string() }))
    .describe('The first thousand of those skipped.'),
  problems_left_out: z.int(),
  dry_run: z.boolean(),
})

/** Facts in and out, as lines of JSON. */
export function memoryTransferRoutes({
  services,
}: Pick<HttpDependencies, 'services'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/memory/export',
      summary: 'Facts as lines of JSON, in the order in which they were stored.',
      access: ['query:read', 'admin:read'],
      isLong: true,
      query: exportQuery,
      replies: {
        200: {
          description:
            'A line with crux_export, one line a fact, and a line with crux_export.end; without that one it broke off.',
          contentType: NDJSON,
        },
      },
      async run({ query }, { principal, reader, anyTenant, signal }) {
        if (query.all) requireAnyScope(principal, ['admin:read'])
        const stream = await exportStream(services, {
          caller: query.all ? anyTenant() : reader(),
          isAll: query.all,
          after: query.cursor,
          signal,
        })
        return { status: 200, stream, contentType: NDJSON }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/memory/import',
      summary: 'Take in facts, one JSON object a line; those that are there already add nothing.',
      access: ['facts:write', 'admin:write'],
      isLong: true,
      query: importQuery,
      streamedBody: { contentType: NDJSON, schema: importLine },
      replies: {
        200: { description: 'What came of each line.', schema: reportSchema },
      },
      async run({ query }, { principal, writer, anyTenant, bodyStream, signal }) {
        if (query.all) requireAnyScope(principal, ['admin:write'])
        const report = await importFacts(services.facts, bodyStream(), {
          caller: query.all ? anyTenant() : writer(),
          isAll: query.all,
          isDryRun: query.dry_run,
          signal,
        })
        return { status: 200, json: report }
      },
    }),
  ]
}
