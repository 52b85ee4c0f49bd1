import type { TraceEntry } from './trace-entry.js'

/** A call that was made again and again, with advice on how not to. */
export interface Guardrail {
  readonly signature: string
  readonly occurrences: number
  /** Tokens of all answers but the first. */
  readonly wastedTokens: number
  readonly draft: string
}

/**
 * Find calls that were repeated word for word, the most wasteful first.
 *
 * @param newestFirst - Entries without a signature do not count.
 * @param minRepeats - How often a call must have been made; at least 2.
 */
export function proposeGuardrails(
  newestFirst: readonly TraceEntry[],
  minRepeats: number,
): readonly Guardrail[] {
  const loops = new Map<string, { occurrences: number; tokens: number; first: number }>()
  for (const { signature, responseTokens } of newestFirst) {
    if (signature === undefined) continue
    const loop = loops.get(signature) ?? { occurrences: 0, tokens: 0, first: 0 }
    loops.set(signature, loop)
    loop.occurrences++
    loop.tokens += responseTokens
    // The last one met is the first that was made.
    loop.first = responseTokens
  }
  return [...loops]
    .filter(([, { occurrences }]) => occurrences >= minRepeats)
    .map(([signature, { occurrences, tokens, first }]) => {
      const wastedTokens = tokens - first
      return {
        signature,
        occurrences,
        wastedTokens,
        draft: `${signature} was called ${occurrences} times; the repeats cost about ${wastedTokens} tokens. Keep the first answer and use it again; if it left something out, call once more with a larger token_budget.`,
      }
    })
    .sort(
      (a, b) =>
        b.wastedTokens - a.wastedTokens ||
        b.occurrences - a.occurrences ||
        (a.signature < b.signature ? -1 : 1),
    )
}
