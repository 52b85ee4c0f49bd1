/** Deepest nesting of arrays and objects that is taken. */
export const MAX_JSON_DEPTH = 512

/** What JSON text can hold that this system does not take. */
export interface JsonFaults {
  /** Some string or member name holds half of a surrogate pair. */
  readonly hasLoneSurrogate: boolean
  /** Arrays and objects are nested deeper than {@link MAX_JSON_DEPTH}. */
  readonly isTooDeep: boolean
}

/**
 * Look through a parsed JSON value, without recursion.
 *
 * Also runs inside the parse worker, from its own source text: it may use nothing from outside.
 *
 * @param readStrings - False when the text held no `\u` escape: then no string can be ill-formed.
 * @param maxDepth - {@link MAX_JSON_DEPTH}.
 */
export function inspectJson(root: unknown, readStrings: boolean, maxDepth: number): JsonFaults {
  const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
  let hasLoneSurrogate = false
  let level: unknown[] = [root]
  let depth = 0
  while (level.length > 0 && depth <= maxDepth) {
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value === 'string') {
        if (readStrings && lone.test(value)) hasLoneSurrogate = true
      } else if (Array.isArray(value)) {
        for (const item of value) if (typeof item !== 'number') next.push(item)
      } else if (typeof value === 'object' && value !== null) {
        for (const [key, member] of Object.entries(value)) {
          if (readStrings && lone.test(key)) hasLoneSurrogate = true
          if (typeof member === 'object' || typeof member === 'string') next.push(member)
        }
      }
    }
    level = next
    depth += 1
  }
  return { hasLoneSurrogate, isTooDeep: level.length > 0 }
}
