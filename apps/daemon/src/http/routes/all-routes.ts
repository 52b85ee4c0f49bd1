import type { HttpDependencies } from '../dependencies.js'
import type { InflightGate } from '../ingress.js'
import { openApiDocument } from '../openapi.js'
import { defineRoute, type Route } from '../route.js'
import { activityRoutes } from './activity.js'
import { adminRoutes } from './admin.js'
import { candidateRoutes } from './candidates.js'
import { consolidationRoutes } from './consolidations.js'
import { factAggregateRoutes } from './fact-aggregate.js'
import { factRoutes } from './facts.js'
import { forgetRoutes } from './forgets.js'
import { ingestRoutes } from './ingest.js'
import { legalHoldRoutes } from './legal-holds.js'
import { memoryTransferRoutes } from './memory-transfer.js'
import { observationRoutes } from './observations.js'
import { probeRoutes } from './probes.js'
import { sessionPlanRoutes } from './session-plans.js'
import { textSearchRoutes } from './text-search.js'

/** Every route of the HTTP API. */
export function allRoutes(
  dependencies: HttpDependencies,
  inflight: Pick<InflightGate, 'count'>,
): readonly Route[] {
  const routes: Route[] = [
    ...probeRoutes(dependencies, inflight),
    ...factRoutes(dependencies),
    ...factAggregateRoutes(dependencies),
    ...forgetRoutes(dependencies),
    ...legalHoldRoutes(dependencies),
    ...memoryTransferRoutes(dependencies),
    ...consolidationRoutes(dependencies),
    ...candidateRoutes(dependencies),
    ...ingestRoutes(dependencies),
    ...textSearchRoutes(dependencies),
    ...sessionPlanRoutes(dependencies),
    ...activityRoutes(dependencies),
    ...observationRoutes(dependencies),
    ...adminRoutes(dependencies),
  ]
  routes.push(
    defineRoute({
      method: 'GET',
      path: '/v1/openapi.json',
      summary: 'This API as an OpenAPI document.',
      access: 'public',
      isEarly: true,
      replies: { 200: { description: 'OpenAPI 3.1.' } },
      run: () => ({ status: 200, json: openApiDocument(routes, dependencies.build) }),
    }),
  )
  return routes
}
