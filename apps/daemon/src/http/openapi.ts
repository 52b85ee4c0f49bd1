import { z } from 'zod'
import type { BuildInfo } from '../version.js'
import type { ReplyFacts, Route } from './route.js'

/** The API as OpenAPI 3.1, from the schemas that also check requests. */
export function openApiDocument(
  routes: readonly Route[],
  build: BuildInfo,
): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = paths[route.path] ?? {}
    path[route.method.toLowerCase()] = operation(route)
    paths[route.path] = path
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Crux HTTP API', version: build.version },
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: PROBLEM },
    },
  }
}

function operation(route: Route): Record<string, unknown> {
  const body = route.documentedBody ?? route.streamedBody?.schema ?? route.bodySchema
  const bodyType = route.streamedBody?.contentType ?? 'application/json'
  return {
    summary: route.summary,
    operationId: operationId(route),
    parameters: [...pathParameters(route.path), ...queryParameters(route.querySchema)],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [bodyType]: { schema: jsonSchema(body, 'input') } },
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.replies).map(([status, reply]) => [status, response(reply)]),
      ),
      default: {
        description: 'What went wrong and what to do.',
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        },
      },
    },
    ...(route.access === 'public'
      ? {}
      : { security: [{ bearer: [] }], 'x-any-of-scopes': route.access }),
  }
}

function operationId(route: Route): string {
  const words = route.path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'v1')
  return [route.method.toLowerCase(), ...words]
    .map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}

function response(reply: ReplyFacts): Record<string, unknown> {
  const type = reply.contentType ?? 'application/json'
  const schema = reply.schema === undefined ? {} : jsonSchema(reply.schema, 'output')
  return { description: reply.description, content: { [type]: { schema } } }
}

function pathParameters(path: string): Record<string, unknown>[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

const objectSchema = z.object({
  properties: z.record(z.string(), z.looseObject({ description: z.string().optional() })),
  required: z.array(z.string()).optional(),
})

function queryParameters(query: z.ZodType | undefined): Record<string, unknown>[] {
  if (query === undefined) return []
  const { properties, required = [] } = objectSchema.parse(jsonSchema(query, 'input'))
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }))
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

const PROBLEM = {
  type: 'object',
  description: 'RFC 9457.',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'For programs, where the status does not say enough.' },
  },
  required: ['type', 'title', 'status'],
}
