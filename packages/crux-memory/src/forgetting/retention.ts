import { type Clock, createPauser, toStoredTime } from 'crux-types'
import type { FactProjection } from '../facts/fact-projection.js'
import type { FactTable } from '../facts/fact-table.js'
import { chainKey, encodeFactLine } from '../facts/journal-line.js'
import { activeHolds, holdCovers } from '../legal-holds/legal-hold.js'
import type { ErasureLane } from './erasure-lane.js'

const SYNC_MARK_PREFIX = '__sync_tombstone__::'
const FACTS_PER_APPEND = 256

/**
 * Delete what was stored before a time, as {@link ForgettingStore.markRetentionEligible} says. Only the
 * time counts, not how fast a fact goes stale.
 *
 * @param before - Milliseconds since 1970-01-01 UTC.
 */
export async function markRetentionEligible(
  parts: { readonly projection: FactProjection; readonly lane: ErasureLane; readonly clock: Clock },
  before: number,
): Promise<readonly string[]> {
  const deleted: string[] = []
  for (const table of [...parts.projection.allTables()]) {
    const pause = createPauser()
    let rows: number[] = []
    const size = table.size
    for (let row = 0; row < size; row++) {
      await pause()
      const isOld = table.storedAt.get(row) < before
      if (isOld && !table.isDeleted(row) && !table.isPrivate(row)) rows.push(row)
      if (rows.length < FACTS_PER_APPEND && row < size - 1) continue
      deleted.push(...(await deleteRows(parts, table, rows)))
      rows = []
    }
  }
  return deleted
}

function deleteRows(
  { projection, lane, clock }: Parameters<typeof markRetentionEligible>[0],
  table: FactTable,
  rows: readonly number[],
): Promise<readonly string[]> {
  // In the lane of holds: one that was placed meanwhile counts.
  return lane.submit(() => {
    const holds = activeHolds(projection, table.tenant)
    const free = rows.filter((row) => {
      const entity = table.entity(row)
      if (table.isDeleted(row) || entity.startsWith(SYNC_MARK_PREFIX)) return false
      return !holds.some((hold) => holdCovers(hold, entity))
    })
    const deletedAt = toStoredTime(clock.now())
    return {
      records: free.map((row) => ({
        key: chainKey(table.tenant, table.entity(row), table.key(row)),
        bytes: encodeFactLine({
          op: 'delete',
          fact_id: table.ids.id(row),
          deleted_at: deletedAt,
        }),
      })),
      result: free.map((row) => table.ids.id(row)),
    }
  })
}
