import { BOOTSTRAP_PREFIX, type Fact, type FactStore } from 'crux-memory'
import { type Clock, SYSTEM, toStoredTime } from 'crux-types'
import { DOCUMENTS } from './documents.js'
import type { BootstrapEntry } from './entry.js'
import { PATTERNS } from './patterns.js'
import { RESOLUTIONS } from './resolutions.js'
import { type DescribedTool, toolOutputs } from './tool-outputs.js'

/** Entity and key of the fact that says when knowledge was stored for the first time. */
const MARK = { entity: `${BOOTSTRAP_PREFIX}_meta`, key: 'seeded' }

/**
 * All knowledge that the daemon brings along, in groups in the order in which they are stored: the
 * last group is the newest, and the first entry of a group is the newest of it.
 */
export function bootstrapGroups(
  tools: readonly DescribedTool[],
): readonly (readonly BootstrapEntry[])[] {
  return [toolOutputs(tools), RESOLUTIONS, DOCUMENTS, PATTERNS]
}

/** What seeding did. */
export interface SeedReport {
  /** Facts that were stored: new entries, and new versions of changed ones. */
  readonly created: number
  /** Whether knowledge had been stored before. */
  readonly wasSeeded: boolean
}

/**
 * Store the knowledge that is missing, and new versions of texts that have changed since.
 *
 * An entry that anybody else wrote over stays as it is. One that was deleted comes back.
 *
 * @param groups - Of {@link bootstrapGroups}.
 * @param signal - Ends it between two groups.
 * @throws {CruxError} What the fact store throws.
 */
export async function seedBootstrap(
  facts: Pick<FactStore, 'store' | 'bootstrap'>,
  groups: readonly (readonly BootstrapEntry[])[],
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<SeedReport> {
  const stored = await facts.bootstrap(SYSTEM, {
    entityPrefix: BOOTSTRAP_PREFIX,
    topK: Number.MAX_SAFE_INTEGER,
  })
  const newest = newestVersions(stored.facts)
  const isMissing = (entry: BootstrapEntry): boolean => {
    const fact = newest.get(nameOf(entry))
    return fact === undefined || (fact.seeded === true && fact.value !== entry.value)
  }
  let created = 0
  const store = async (entries: readonly BootstrapEntry[]): Promise<void> => {
    await Promise.all(entries.map((entry) => facts.store(SYSTEM, entry)))
    created += entries.length
  }
  for (const group of groups) {
    if (signal?.aborted === true) break
    await store(group.filter(isMissing).reverse())
  }
  const wasSeeded = newest.has(nameOf(MARK))
  if (!wasSeeded && signal?.aborted !== true) {
    await store([{ ...MARK, value: toStoredTime(clock.now()) }])
  }
  return { created, wasSeeded }
}

function newestVersions(facts: readonly Fact[]): ReadonlyMap<string, Fact> {
  const newest = new Map<string, Fact>()
  for (const fact of facts) {
    const known = newest.get(nameOf(fact))
    if (known === undefined || known.version < fact.version) newest.set(nameOf(fact), fact)
  }
  return newest
}

function nameOf({ entity, key }: { readonly entity: string; readonly key: string }): string {
  return `${entity}\n${key}`
}
