import { isObject } from 'crux-types'
/** Longest name of a built-in tool: with the prefixes that clients put before it, it stays within their limits. */
export const MAX_TOOL_NAME_CHARS = 40

const MAX_DEPTH = 16
const REFERENCES: readonly string[] = ['$ref', '$defs', 'definitions', '$dynamicRef']
const UNIONS: readonly string[] = ['anyOf', 'oneOf', 'allOf', 'not', 'if']
/** What every known client takes as the name of an argument. */
const ARGUMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/**
 * Why some known client would refuse this input schema, and with it the whole list it stands in: a
 * sentence for each reason.
 *
 * Accepted is a plain object whose properties are plain: no references, no union at the root, no
 * list of types. See `docs/clients.md` for who asks for what.
 */
export function portabilityProblems(schema: Readonly<Record<string, unknown>>): readonly string[] {
  const problems: string[] = []
  if (schema.type !== 'object') problems.push('the root is no object; write "type": "object"')
  for (const union of UNIONS) {
    if (union in schema) problems.push(`the root holds ${union}; describe the rule in words`)
  }
  inspect(schema, '', 0, problems)
  return problems
}

function inspect(schema: unknown, path: string, depth: number, problems: string[]): void {
  const at = path === '' ? 'the root' : path
  if (!isObject(schema)) {
    problems.push(`${at} is no schema object`)
    return
  }
  if (depth > MAX_DEPTH) {
    problems.push(`${at} is nested deeper than ${MAX_DEPTH} levels`)
    return
  }
  for (const key of REFERENCES) {
    if (key in schema) problems.push(`${at} holds ${key}; write the schema in its place`)
  }
  if (Array.isArray(schema.type)) problems.push(`${at} has a list of types; name one`)
  const { properties = {}, items } = schema
  if (isObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      if (!ARGUMENT_NAME.test(name)) {
        problems.push(`${at} has an argument ${JSON.stringify(name)}; use A-Z a-z 0-9 and _`)
      }
      inspect(property, path === '' ? name : `${path}.${name}`, depth + 1, problems)
    }
  } else {
    problems.push(`${at} has properties that are no object`)
  }
  if (items !== undefined) inspect(items, `${path}[]`, depth + 1, problems)
  for (const union of ['anyOf', 'oneOf', 'allOf']) {
    const branches = schema[union]
    if (!Array.isArray(branches)) continue
    for (const branch of branches) inspect(branch, `${at}.${union}`, depth + 1, problems)
  }
}
