import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { defineRoute, type Route } from '../route.js'

const WRITE = ['facts:write', 'admin:write']

/** Taking consolidations back. */
export function consolidationRoutes({
  services,
}: Pick<HttpDependencies, 'services'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/memory/consolidations/{factId}/undo',
      summary:
        'Delete the canonical fact of a consolidation and put in force again what it retired.',
      access: WRITE,
      replies: {
        200: {
          description: 'The facts are as they were before; a second time changes nothing.',
          schema: z.object({
            status: z.enum(['undone', 'already_undone']),
            canonical_fact_id: z.string(),
            restored_fact_ids: z.array(z.string()),
          }),
        },
      },
      async run({ params }, { writer }) {
        const factId = params.factId ?? ''
        const undone = await services.facts.consolidations.undo(writer(), factId)
        if (undone === undefined) throw new ProblemError('not-found', `fact '${factId}' not found`)
        return {
          status: 200,
          json: {
            status: undone.status,
            canonical_fact_id: undone.canonicalFactId,
            restored_fact_ids: undone.restoredFactIds,
          },
        }
      },
    }),
  ]
}
