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
      summary: 'Build missing index files of committed segments again.',
      access: ['admin:write'],
      isLong: true,
      replies: {
        200: {
          description: 'How many were built.',
          schema: z.object({ rebuilt: z.int(), segments: z.int() }),
        },
      },
      async run(_, { signal }) {
        const { rebuilt, segments } = await services.documents.rebuildCompanions({ signal })
        return { status: 200, json: { rebuilt, segments } }
      },
    }),
  ]
}
