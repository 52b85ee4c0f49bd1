/** Deepest nesting of metadata that is kept. */
export const MAX_METADATA_DEPTH = 32

/**
 * JSON text that is equal for equal values: object members sorted by name, nothing optional written.
 *
 * @param value - A value that came from JSON; members that are `undefined` are left out.
 * @returns undefined when the value is nested deeper than {@link MAX_METADATA_DEPTH} or is not JSON.
 */
export function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (depth > MAX_METADATA_DEPTH) return undefined
  if (Array.isArray(value)) {
    const items: string[] = []
    for (const item of value) {
      const text = canonicalJson(item, depth + 1)
      if (text === undefined) return undefined
      items.push(text)
    }
    return `[${items.join(',')}]`
  }
  if (typeof value === 'object' && value !== null) {
    const members: string[] = []
    // Sorted by UTF-16 units, as in RFC 8785.
    for (const [name, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (member === undefined) continue
      const text = canonicalJson(member, depth + 1)
      if (text === undefined) return undefined
      members.push(`${JSON.stringify(name)}:${text}`)
    }
    return `{${members.join(',')}}`
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined
  if (typeof value === 'bigint') return undefined
  return JSON.stringify(value)
}
