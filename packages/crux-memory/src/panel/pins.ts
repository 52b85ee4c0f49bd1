import { type Caller, CruxError, type Pause } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import type { TenantIndex } from '../text/tenant-index.js'

/** Start of the entities that say which facts an agent pinned: `__memory_pin::<agent>::<fact id>`. */
export const PIN_PREFIX = '__memory_pin::'
/** Key under which the pin stands: `1` or `0`. */
export const PIN_KEY = 'pinned'

/**
 * Name under which a caller's pins are kept: that of its token, whatever passport it maps to.
 *
 * @throws {CruxError} `PIN_NEEDS_IDENTITY`.
 */
export function pinOwnerOf(caller: Caller): string {
  const owner = caller.agent ?? caller.identity
  if (owner !== null) return owner
  throw new CruxError<MemoryErrorCode>(
    'PIN_NEEDS_IDENTITY',
    'pins belong to an agent, and this caller has no name; connect with an agent token',
  )
}

/** Entity that holds an agent's pin of a fact. */
export function pinEntity(owner: string, factId: string): string {
  return `${PIN_PREFIX}${owner}::${factId}`
}

/** Whether the caller pinned a fact of this table; always false without a name. */
export function isPinnedBy(caller: Caller, table: FactTable, factId: string): boolean {
  const owner = caller.agent ?? caller.identity
  return owner !== null && isPinSet(table, pinEntity(owner, factId))
}

/** Ids of the facts of this table that anybody pinned. */
export async function pinnedByAnybody(
  table: FactTable,
  index: TenantIndex,
  pause: Pause,
): Promise<ReadonlySet<string>> {
  const pinned = new Set<string>()
  for (const piece of await index.entitiesStartingWith(PIN_PREFIX, pause)) {
    for (const entity of piece) {
      const name = table.entities.text(entity)
      // No fact id holds `::`, an agent's name may.
      if (isPinSet(table, name)) pinned.add(name.slice(name.lastIndexOf('::') + 2))
    }
    await pause()
  }
  return pinned
}

function isPinSet(table: FactTable, entity: string): boolean {
  const chain = table.findChain(entity, PIN_KEY)
  const row = chain === NONE ? NONE : table.newestLive(chain)
  return row !== NONE && ['1', 'true'].includes(table.value(row).toLowerCase())
}
