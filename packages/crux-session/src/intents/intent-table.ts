/** What a caller can declare to be here for, and what each affinity gains by it. */
export const INTENTS = {
  audit_review: { audit: 30, proof: 20, retrieval: 10 },
  document_ingest: { memory: 30, journal: 20, retrieval: 10 },
  session_review: { session: 30, memory: 20, journal: 10 },
  compliance_export: { audit: 30, proof: 25, economy: 10 },
  knowledge_query: { retrieval: 30, memory: 20, session: 5 },
} as const satisfies Record<string, Readonly<Record<string, number>>>

export type Intent = keyof typeof INTENTS

const BIASES: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  Object.entries(INTENTS).map(([intent, biases]) => [intent, new Map(Object.entries(biases))]),
)

/** True for one of the five intents. */
export function isIntent(text: string): text is Intent {
  return BIASES.has(text)
}

/**
 * How much an intent favours what has an affinity.
 *
 * @param intent - Any text; one that is no intent favours nothing, and neither does none.
 * @returns 0..30.
 */
export function intentBias(intent: string | undefined, affinity: string): number {
  if (intent === undefined) return 0
  return BIASES.get(intent)?.get(affinity) ?? 0
}
