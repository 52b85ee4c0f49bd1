import { type Clock, cutUtf8 } from 'crux-types'

/** How long a declared intent holds. */
export const INTENT_TTL_SECONDS = 3600
/** Callers whose intents are held at once; one more drops the intent that was declared first. */
export const MAX_INTENTS = 10_000
/** What is kept of a declared intent, in bytes: more than the longest of the five has. */
export const MAX_INTENT_BYTES = 256

/**
 * What callers last said they are here for. Held in memory only: an intent shapes lists of tools for
 * an hour, and losing it costs a caller one more call.
 */
export interface IntentStore {
  /** The intent in force, whether or not it is one of the five; one that has expired is removed. */
  intentOf(passport: string): string | undefined
  /** Declare an intent; a blank one clears what was declared. Surrounding space does not count. */
  set(passport: string, intent: string): void
  /** Intents held, expired ones that nobody read included. */
  readonly size: number
}

/** An empty store; a process has one. */
export function createIntentStore({ clock }: { readonly clock: Clock }): IntentStore {
  // In the order in which they were declared, so that the first one is the oldest.
  const intents = new Map<string, { readonly intent: string; readonly setAt: number }>()
  return {
    intentOf(passport) {
      const held = intents.get(passport)
      if (held === undefined) return undefined
      if (clock.now() - held.setAt <= INTENT_TTL_SECONDS * 1000) return held.intent
      intents.delete(passport)
      return undefined
    },
    set(passport, intent) {
      intents.delete(passport)
      const trimmed = intent.trim()
      if (trimmed === '') return
      const oldest = intents.size < MAX_INTENTS ? undefined : intents.keys().next().value
      if (oldest !== undefined) intents.delete(oldest)
      intents.set(passport, { intent: cutUtf8(trimmed, MAX_INTENT_BYTES), setAt: clock.now() })
    },
    get size() {
      return intents.size
    },
  }
}
