import { type Caller, CruxError, toStoredTime } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { FactLine } from '../facts/journal-line.js'
import type { FactWriter } from '../writing/fact-writer.js'

export interface UndoReport {
  readonly status: 'undone' | 'already_undone'
  readonly canonicalFactId: string
  /** What the canonical fact had retired. */
  readonly restoredFactIds: readonly string[]
}

/**
 * Take a consolidation back: the canonical fact is deleted, and what it retired is as it was before.
 *
 * @returns Undefined when the caller sees no fact with that id.
 * @throws {CruxError} `UNDO_REFUSED` for any other fact, and when a newer version stands on it.
 */
export function undoConsolidation(
  writer: FactWriter,
  caller: Caller,
  canonicalFactId: string,
): Promise<UndoReport | undefined> {
  return writer.change<UndoReport>(caller, canonicalFactId, {
    isLiveOnly: false,
    plan({ table, row }, now) {
      const consolidation = table.consolidations.get(row)
      if (consolidation === undefined) {
        throw refused(`fact is not a consolidation canonical: ${canonicalFactId}`, canonicalFactId)
      }
      const { supersededIds, earlier, isUndone } = consolidation
      const report = { canonicalFactId, restoredFactIds: supersededIds }
      if (isUndone) return { lines: [], result: { ...report, status: 'already_undone' } }
      const newest = table.newestLive(table.chainOfRow(row))
      if (newest > row || table.isSuperseded(row, table.size)) {
        throw refused(
          `consolidation canonical has a newer successor and cannot be undone: ${canonicalFactId}`,
          canonicalFactId,
        )
      }
      const at = toStoredTime(now)
      const lines: FactLine[] = [
        {
          op: 'consolidate_undo',
          canonical_fact_id: canonicalFactId,
          restored_fact_ids: supersededIds,
          undone_at: at,
        },
        // Some had been retired by others before, and stay so.
        ...earlier.map(
          ({ fact_id, superseded_by }): FactLine => ({
            op: 'supersede',
            fact_id,
            by_fact_id: superseded_by,
            superseded_at: at,
          }),
        ),
      ]
      return { lines, result: { ...report, status: 'undone' } }
    },
  })
}

function refused(message: string, factId: string): CruxError<MemoryErrorCode> {
  return new CruxError('UNDO_REFUSED', message, { data: { fact_id: factId } })
}
