import { type Caller, createPauser, WorkProgress, type WorkWatch } from 'crux-types'
import type { RankedFact } from '../fact-store.js'
import type { FactTable } from '../facts/fact-table.js'
import { findCandidates } from '../recall/candidates.js'
import type { RecallContext } from '../recall/recall-context.js'
import { Sight } from '../recall/sight.js'
import { assertCount, takeRanked } from '../recall/take-ranked.js'
import { auditReservedRows } from './audit-reserved.js'
import type {
  FreshnessPage,
  OldestFilter,
  PageRequest,
  SweepCandidate,
  SweepReason,
} from './fact-freshness.js'

/** Live facts that the caller sees, those stored longest ago first. */
export async function oldestFacts(
  context: RecallContext,
  caller: Caller,
  { entity, key, ...page }: OldestFilter,
): Promise<FreshnessPage<RankedFact>> {
  return scanOldest(context, caller, page, { entity, key, isWanted: () => true })
}

/** Live facts that the caller sees and that are stale or superseded, those stored longest ago first. */
export async function sweepCandidates(
  context: RecallContext,
  caller: Caller,
  page: PageRequest,
  watch?: WorkWatch,
): Promise<FreshnessPage<SweepCandidate>> {
  const isWanted = (table: FactTable, row: number, limit: number, now: number): boolean =>
    table.isSuperseded(row, limit) || context.isStale(table, row, now)
  const scan = await scanOldest(context, caller, page, { isWanted }, watch)
  return { ...scan, rows: scan.rows.map((row) => ({ ...row, reason: reasonOf(row) })) }
}

function reasonOf({ fact, freshness }: RankedFact): SweepReason {
  if (fact.superseded_by === undefined) return 'stale'
  return freshness === 'stale' ? 'stale+superseded' : 'superseded'
}

async function scanOldest(
  context: RecallContext,
  caller: Caller,
  { topK, after }: PageRequest,
  filter: {
    readonly entity?: string | undefined
    readonly key?: string | undefined
    readonly isWanted: (table: FactTable, row: number, limit: number, now: number) => boolean
  },
  watch?: WorkWatch,
): Promise<FreshnessPage<RankedFact>> {
  assertCount('top_k', topK)
  const now = after?.now ?? context.clock.now()
  const table = context.projection.table(caller.tenant)
  if (table === undefined) return { rows: [], matched: 0, now, marks: [] }
  const pause = createPauser({ signal: watch?.signal })
  const progress = new WorkProgress(watch)
  const limit = Math.min(after?.limit ?? table.size, table.size)
  const sight = new Sight(caller, table)
  const isReserved = auditReservedRows(table)
  const key = filter.key === undefined ? undefined : table.keys.findText(filter.key)
  const { visit } = await findCandidates(
    table,
    context.indexOf(table),
    sight,
    { entity: filter.entity },
    limit,
    pause,
  )
  if (filter.entity === undefined) progress.expect(limit)
  const taken = await takeRanked(
    (offer) =>
      visit((row) => {
        progress.advance()
        if (table.isDeleted(row) || !sight.sees(row) || isReserved(row)) return
        if (key !== undefined && table.keyOf.get(row) !== key) return
        // Greater ranks first, and the oldest is wanted first.
        if (filter.isWanted(table, row, limit, now)) offer(-table.storedAt.get(row), -row, row)
      }),
    { topK, tokenBudget: undefined, isTiered: false, after },
    () => 0,
  )
  return {
    rows: taken.ranks.map(({ row }) => context.rankedFact(table, sight, row, now)),
    matched: taken.matched,
    now,
    marks: taken.ranks.map((rank) => ({ now, limit, ...rank, changes: 0 })),
  }
}
