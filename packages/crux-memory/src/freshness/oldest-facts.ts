import { type Caller, createPauser } from 'crux-types'
import type { RankedFact } from '../fact-store.js'
import type { FactTable } from '../facts/fact-table.js'
import { findCandidates } from '../recall/candidates.js'
import type { RecallContext } from '../recall/recall-context.js'
import { Sight } from '../recall/sight.js'
import { assertCount, takeRanked } from '../recall/take-ranked.js'
import { auditReservedRows } from './audit-reserved.js'
import type { FreshnessPage, SweepCandidate, SweepReason } from './fact-freshness.js'

/** Live facts that the caller sees, those stored longest ago first. */
export async function oldestFacts(
  context: RecallContext,
  caller: Caller,
  { entity, key, topK }: { readonly entity?: string; readonly key?: string; readonly topK: number },
): Promise<FreshnessPage<RankedFact>> {
  const scan = await scanOldest(context, caller, topK, { entity, key, isWanted: () => true })
  return { rows: scan.rows, matched: scan.matched }
}

/** Live facts that the caller sees and that are stale or superseded, those stored longest ago first. */
export async function sweepCandidates(
  context: RecallContext,
  caller: Caller,
  { topK }: { readonly topK: number },
): Promise<FreshnessPage<SweepCandidate>> {
  const now = context.clock.now()
  const { rows, matched } = await scanOldest(context, caller, topK, {
    isWanted: (table, row, limit) =>
      table.isSuperseded(row, limit) || context.isStale(table, row, now),
  })
  return {
    rows: rows.map((row) => ({ ...row, reason: reasonOf(row) })),
    matched,
  }
}

function reasonOf({ fact, freshness }: RankedFact): SweepReason {
  if (fact.superseded_by === undefined) return 'stale'
  return freshness === 'stale' ? 'stale+superseded' : 'superseded'
}

async function scanOldest(
  context: RecallContext,
  caller: Caller,
  topK: number,
  filter: {
    readonly entity?: string | undefined
    readonly key?: string | undefined
    readonly isWanted: (table: FactTable, row: number, limit: number) => boolean
  },
): Promise<FreshnessPage<RankedFact>> {
  assertCount('top_k', topK)
  const table = context.projection.table(caller.tenant)
  if (table === undefined) return { rows: [], matched: 0 }
  const pause = createPauser()
  const now = context.clock.now()
  const limit = table.size
  const sight = new Sight(caller, table)
  const isReserved = auditReservedRows(table)
  const key = filter.key === undefined ? undefined : table.keys.findText(filter.key)
  const visit = await findCandidates(
    table,
    context.indexOf(table),
    sight,
    { entity: filter.entity },
    limit,
    pause,
  )
  const taken = await takeRanked(
    (offer) =>
      visit((row) => {
        if (table.isDeleted(row) || !sight.sees(row) || isReserved(row)) return
        if (key !== undefined && table.keyOf.get(row) !== key) return
        // Greater ranks first, and the oldest is wanted first.
        if (filter.isWanted(table, row, limit)) offer(-table.storedAt.get(row), -row, row)
      }),
    { topK, tokenBudget: undefined, isTiered: false },
    () => 0,
  )
  return {
    rows: taken.rows.map((row) => context.rankedFact(table, sight, row, now)),
    matched: taken.matched,
  }
}
