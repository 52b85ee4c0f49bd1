import { type IntentStore, intentBias } from 'crux-session'
import { type Caller, passportOf } from 'crux-types'
import type { Leaning } from './shape-surface.js'

/**
 * Build what `dynamic` goes by: the intent that the caller declared, and what it called last.
 *
 * @param recentTools - Names of the tools that the caller called last, newest first; none when absent.
 */
export function createLeaning(
  services: { readonly intents: Pick<IntentStore, 'intentOf'> },
  recentTools: (caller: Caller) => readonly string[] = () => [],
): (caller: Caller) => Leaning {
  return (caller) => {
    const intent = services.intents.intentOf(passportOf(caller))
    return {
      bias: (affinity) => intentBias(intent, affinity),
      recentTools: recentTools(caller),
    }
  }
}
