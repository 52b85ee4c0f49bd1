import type { JournalRecord } from 'crux-storage'
import { type Clock, CruxError, createPauser, toStoredTime } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { FactPlace, FactProjection } from '../facts/fact-projection.js'
import { ERASURE_KEY, encodeFactLine } from '../facts/journal-line.js'
import { activeHolds, holdCovers } from '../legal-holds/legal-hold.js'
import { findOverride } from '../legal-holds/open-legal-holds.js'
import type { ErasureLane } from './erasure-lane.js'
import type { CompactReport } from './forgetting-store.js'

const IDS_PER_RECORD = 10_000

/**
 * Say in the journal that the values of deleted facts are given up; the erasure that follows takes them
 * off the disk. The facts themselves stay in their histories, so that replay and memory agree.
 *
 * @throws {CruxError} `ERASURE_HELD`, `HOLD_OVERRIDE_INVALID`.
 */
export async function compact(
  parts: { readonly projection: FactProjection; readonly lane: ErasureLane; readonly clock: Clock },
  override: string | undefined,
): Promise<CompactReport> {
  const { projection, lane, clock } = parts
  const pause = createPauser()
  const places: FactPlace[] = []
  let tombstones = 0
  let retained = 0
  for (const table of projection.allTables()) {
    for (let row = 0; row < table.size; row++) {
      if (!table.isDeleted(row)) retained++
      else if (table.isWiped(row)) tombstones++
      // What is forgotten and not deleted may be restored.
      else if (!table.isForgotten(row)) places.push({ table, row })
      await pause()
    }
  }
  await lane.submit(() => {
    requireFree(projection, places, override)
    const records: JournalRecord[] = []
    const compactedAt = toStoredTime(clock.now())
    const ids = places.map(({ table, row }) => table.ids.id(row))
    for (let from = 0; from < ids.length; from += IDS_PER_RECORD) {
      const factIds = ids.slice(from, from + IDS_PER_RECORD)
      const line = { op: 'compact', fact_ids: factIds, compacted_at: compactedAt } as const
      records.push({ key: ERASURE_KEY, bytes: encodeFactLine(line) })
    }
    return { records, result: undefined }
  })
  return {
    factsDropped: places.length,
    factsRetained: retained,
    tombstonesKept: tombstones + places.length,
  }
}

function requireFree(
  projection: FactProjection,
  places: readonly FactPlace[],
  override: string | undefined,
): void {
  const holdIds = new Set<string>()
  const factIds = new Set<string>()
  for (const { table, row } of places) {
    const holds = activeHolds(projection, table.tenant)
    if (holds.length === 0) continue
    const entity = table.entity(row)
    for (const hold of holds) {
      if (!holdCovers(hold, entity)) continue
      holdIds.add(hold.hold_id)
      factIds.add(table.ids.id(row))
    }
  }
  if (holdIds.size === 0) return
  if (override === undefined) {
    throw new CruxError<MemoryErrorCode>(
      'ERASURE_HELD',
      `hard erasure blocked by active legal hold(s): ${[...holdIds].join(',')}`,
      { data: { hold_ids: [...holdIds], fact_ids: [...factIds] } },
    )
  }
  const receipt = findOverride(projection, override)
  const isCovered =
    receipt !== undefined &&
    [...holdIds].every((id) => receipt.hold_ids.includes(id)) &&
    [...factIds].every((id) => receipt.fact_ids.includes(id))
  if (isCovered) return
  throw new CruxError<MemoryErrorCode>(
    'HOLD_OVERRIDE_INVALID',
    receipt === undefined
      ? 'legal-hold override requires a legal_hold_overridden receipt'
      : 'legal_hold_overridden receipt does not cover every blocked fact and hold',
    { data: { hold_ids: [...holdIds], fact_ids: [...factIds] } },
  )
}
