import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { defineRoute, type Route } from '../route.js'

/** Operator routes. */
export function adminRoutes({
  services,
  backup,
}: Pick<HttpDependencies, 'services' | 'backup'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/admin/backup',
      summary: 'A consistent copy of the data directory; unpacked, it is one.',
      access: ['admin:read'],
      isLong: true,
      replies: {
        200: { description: 'A tar archive.', contentType: 'application/x-tar' },
      },
      run: async (_, { signal }) => ({
        status: 200,
        stream: await backup(signal),
        contentType: 'application/x-tar',
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/admin/companions/rebuild',
      summary: 'Build missing index files of committed segments again, or all of them.',
      access: ['admin:write'],
      isLong: true,
      query: allQuery('Whether usable ones are built again too, as by a newer analyser.'),
      replies: {
        200: {
          description: 'How many were built.',
          schema: z.object({ rebuilt: z.int(), segments: z.int() }),
        },
      },
      async run({ query }, { signal }) {
        const all = query.all === 'true'
        const { rebuilt, segments } = await services.documents.rebuildCompanions({ all, signal })
        return { status: 200, json: { rebuilt, segments } }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/admin/companions/verify',
      summary: 'Hold every file beside a segment against its segment; changes nothing.',
      access: ['admin:read', 'admin:write'],
      isLong: true,
      replies: {
        200: {
          description: 'What was checked, and what is wrong.',
          schema: z.object({
            segments: z.int(),
            checked: z.int().describe('Files beside segments that were read.'),
            problems: z.array(
              z.object({
                segment: z.string().describe('Id of the segment.'),
                file: z.string(),
                offset: z.int().optional().describe('Byte at which it shows, where that is known.'),
                reason: z.string(),
              }),
            ),
          }),
        },
      },
      async run(_, { signal }) {
        const found = await services.documents.verifyCompanions({ signal })
        const { segments, checked, problems } = found
        return { status: 200, json: { segments, checked, problems } }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/admin/companions/embed',
      summary: 'Embed stored chunks that have no vector, with the configured embedder.',
      access: ['admin:write'],
      isLong: true,
      query: allQuery(
        'Whether chunks whose vectors are of another embedder are embedded again too.',
      ),
      replies: {
        200: {
          description: 'How many chunks got a vector, and how many segments changed.',
          schema: z.object({ embedded: z.int(), segments: z.int() }),
        },
      },
      async run({ query }, { signal }) {
        const all = query.all === 'true'
        const { embedded, segments } = await services.documents.embedMissing({ all, signal })
        return { status: 200, json: { embedded, segments } }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/admin/segments/merge',
      summary: 'Merge segments into as few as their bounds allow; references to chunks stay valid.',
      access: ['admin:write'],
      isLong: true,
      replies: {
        200: {
          description: 'How many were merged, and how many there are now.',
          schema: z.object({ merged: z.int(), segments: z.int() }),
        },
      },
      async run(_, { signal }) {
        const { merged, segments } = await services.documents.merge({ signal })
        return { status: 200, json: { merged, segments } }
      },
    }),
  ]
}

/** The switch `all` of a route that otherwise does only what is missing. */
function allQuery(description: string) {
  return z.object({ all: z.enum(['true', 'false']).default('false').describe(description) })
}
