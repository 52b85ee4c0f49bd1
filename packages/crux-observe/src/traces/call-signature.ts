// Arguments that say which part of an answer is wanted, and not what is asked.
const PAGING: ReadonlySet<string> = new Set([
  'offset',
  'cursor',
  'page',
  'page_token',
  'after',
  'before',
  'start',
  'from',
  'next',
  'continuation',
  'skip',
])
/** Deepest nesting that is spelled out; below it stands `…`. */
const MAX_DEPTH = 32

/**
 * What a call asks for, in one form for all ways of writing it: `query_facts(entity="a",top_k=5)`.
 *
 * Keys are sorted on every level, arguments that only turn pages are left out, scalars are JSON.
 */
export function callSignature(tool: string, args: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(args).filter((name) => !PAGING.has(name))
  return `${tool}(${writeMembers(args, names, 1)})`
}

function writeMembers(of: Readonly<Record<string, unknown>>, names: string[], depth: number) {
  return names
    .sort()
    .map((name) => `${name}=${writeValue(of[name], depth)}`)
    .join(',')
}

function writeValue(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) {
    return `[${value.map((item) => writeValue(item, depth + 1)).join(',')}]`
  }
  // An object that is no array has string keys, or JSON could not have carried it.
  const members = value as Readonly<Record<string, unknown>>
  return `{${writeMembers(members, Object.keys(members), depth + 1)}}`
}
