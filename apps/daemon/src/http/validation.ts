import type { z } from 'zod'
import { ProblemError } from './problem.js'

/**
 * Input by a schema.
 *
 * @param where - What the input is, for the error: `body` or `query`.
 * @throws {ProblemError} 400 naming each member, what was expected and what came.
 */
export function parseInput<T extends z.ZodType>(
  schema: T,
  input: unknown,
  where: string,
): z.output<T> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.slice(0, 5).map((issue) => describeIssue(issue, input))
  throw new ProblemError('bad-request', `${where}: ${problems.join('; ')}`)
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown): string {
  const path = issue.path.map(String).join('.')
  const got = valueAt(input, issue.path)
  if (issue.code === 'invalid_type') {
    if (got === undefined) return path === '' ? 'missing' : `missing member: ${path}`
    return `${path === '' ? '' : `${path}: `}expected ${issue.expected}, got ${typeName(got)}`
  }
  return `${path === '' ? '' : `${path}: `}${issue.message}`
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}
