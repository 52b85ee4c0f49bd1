import type { FactStore } from 'crux-memory'
import { bootstrapGroups, type DescribedTool, seedBootstrap } from 'crux-observe'
import type { Clock } from 'crux-types'
import type { Log } from '../log.js'

/**
 * Store bootstrap knowledge in the background; the daemon answers meanwhile.
 *
 * A failure costs the knowledge only and is logged: the next start tries again.
 *
 * @param tools - Those that the daemon lists, with what they answer.
 */
export function startSeeding(
  facts: FactStore,
  tools: readonly DescribedTool[],
  clock: Clock,
  log: Log,
): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const work = seedBootstrap(facts, bootstrapGroups(tools), { clock, signal }).then(
    ({ created }) => log.debug({ created }, 'bootstrap knowledge is in place'),
    (error: unknown) => log.warn({ err: error }, 'bootstrap knowledge could not be stored'),
  )
  return {
    async stop() {
      stopping.abort()
      await work
    },
  }
}
