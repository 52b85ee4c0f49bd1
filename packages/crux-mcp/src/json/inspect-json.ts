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
  let hasLoneSurrogate = readStrings && typeof root === 'string' && lone.test(root)
  let level: object[] = typeof root === 'object' && root !== null ? [root] : []
  let depth = 0
  while (level.length > 0 && depth < maxDepth) {
    const next: object[] = []
    for (const container of level) {
      if (
        readStrings &&
        !Array.isArray(container) &&
        Object.keys(container).some((key) => lone.test(key))
      ) {
        hasLoneSurrogate = true
      }
      for (const member of Array.isArray(container) ? container : Object.values(container)) {
        if (typeof member === 'object' && member !== null) next.push(member)
        else if (readStrings && typeof member === 'string' && lone.test(member)) {
          hasLoneSurrogate = true
        }
      }
    }
    level = next
    depth += 1
  }
  return { hasLoneSurrogate, isTooDeep: level.length > 0 }
}
