import { createPauser, SYSTEM, toStoredTime, uuidHex } from 'crux-types'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { pinnedByAnybody } from '../panel/pins.js'
import type { RecallContext } from '../recall/recall-context.js'
import type { FactWriter } from '../writing/fact-writer.js'
import { type Contradiction, findContradictions } from './contradictions.js'

/** Start of the entities that hold reviews. */
export const REVIEW_PREFIX = '__consolidation_review__::'
/** Most groups that one review holds. */
export const MAX_REVIEW_GROUPS = 200
const PROTECTED_CONFIDENCE = Math.fround(0.99)

/** One review that was stored. */
export interface ReviewRun {
  readonly tenant: string
  readonly runId: string
  /** Groups in it. */
  readonly count: number
}

/**
 * Store, for each tenant with contradictions that somebody could resolve, one fact that names them.
 *
 * It is a report for people and for the daemon alone: nobody recalls it, and no fact changes.
 */
export async function reviewContradictions(
  context: RecallContext,
  writer: FactWriter,
): Promise<readonly ReviewRun[]> {
  const runs: ReviewRun[] = []
  for (const table of [...context.projection.allTables()]) {
    const all = await findContradictions(table, { entityOf: (row) => table.entity(row) })
    if (all.length === 0) continue
    const pinned = await pinnedByAnybody(table, context.indexOf(table), createPauser())
    const open = all
      .slice(0, MAX_REVIEW_GROUPS)
      .filter(({ factIds }) => !factIds.every((id) => pinned.has(id) || isProtected(table, id)))
    if (open.length === 0) continue
    const runId = uuidHex()
    await writer.store(
      { ...SYSTEM, tenant: table.tenant },
      {
        entity: `${REVIEW_PREFIX}run_${runId}`,
        key: 'review',
        value: JSON.stringify({
          schema: 'crux.consolidation_review.v1',
          run_id: runId,
          surfaced_at: toStoredTime(context.clock.now()),
          count: open.length,
          resolution: 'explicit',
          note: 'These facts disagree. Nothing was changed; consolidate the ones you choose.',
          candidates: open.map(asJson),
        }),
        horizonClass: 'stable',
        actor: 'consolidation-scheduler',
      },
    )
    runs.push({ tenant: table.tenant, runId, count: open.length })
  }
  return runs
}

/** Whether consolidation would refuse to retire a fact. */
function isProtected(table: FactTable, factId: string): boolean {
  const row = table.ids.find(factId)
  if (row === NONE) return true
  const { private: isPrivate, source_receipt: receipt, confidence } = table.fact(row)
  return isPrivate || receipt !== null || confidence >= PROTECTED_CONFIDENCE
}

function asJson(found: Contradiction): Record<string, unknown> {
  return {
    entity: found.entity,
    key: found.key,
    reason: found.reason,
    polarity_a: found.polarityA,
    polarity_b: found.polarityB,
    fact_ids: found.factIds,
    values: found.values,
  }
}
