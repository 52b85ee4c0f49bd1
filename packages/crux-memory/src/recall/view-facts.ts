import { type Caller, createPauser } from 'crux-types'
import type { FactView, HistoryPage, RankedFact, ViewFilter } from '../fact-store.js'
import { NONE } from '../facts/fact-table.js'
import { entitiesNamed, findCandidates } from './candidates.js'
import type { RecallContext } from './recall-context.js'
import { Sight } from './sight.js'
import { assertCount, takeRanked } from './take-ranked.js'

const DEFAULT_VIEW_ROWS = 20

/**
 * Live facts that the caller sees, superseded ones included and reserved entities left out: newest
 * first, then by confidence, then by place in the journal. Stops at `topK` rows or before a row that
 * would exceed the budget, but gives at least one.
 */
export async function viewFacts(
  context: RecallContext,
  caller: Caller,
  filter: ViewFilter,
): Promise<FactView> {
  assertCount('top_k', filter.topK)
  assertCount('token_budget', filter.tokenBudget)
  const table = context.projection.table(caller.tenant)
  if (table === undefined) return { rows: [], totalTokens: 0, matched: 0, marks: [] }
  const pause = createPauser()
  const { after } = filter
  const now = after?.now ?? context.clock.now()
  const limit = Math.min(after?.limit ?? table.size, table.size)
  const sight = new Sight(caller, table)
  const key = filter.key === undefined ? undefined : table.keys.findText(filter.key)
  const { visit } = await findCandidates(
    table,
    context.indexOf(table),
    sight,
    { entity: filter.entity },
    limit,
    pause,
  )
  const topK = Math.max(filter.topK ?? DEFAULT_VIEW_ROWS, 1)
  const taken = await takeRanked(
    (offer) =>
      visit((row) => {
        if (table.isDeleted(row) || !sight.sees(row)) return
        if (key !== undefined && table.keyOf.get(row) !== key) return
        if (table.isPanelReserved(table.entityOf.get(row))) return
        if (filter.entity !== undefined && sight.entity(row) !== filter.entity) return
        offer(table.storedAt.get(row), table.confidence.get(row), row)
      }),
    { topK, tokenBudget: undefined, isTiered: false, after },
    () => 0,
  )

  const rows: RankedFact[] = []
  let totalTokens = 0
  for (const { row } of taken.ranks) {
    const tokens = await context.cost(table, row, pause)
    const wouldExceed = totalTokens + tokens > (filter.tokenBudget ?? Number.POSITIVE_INFINITY)
    if (rows.length > 0 && wouldExceed) break
    totalTokens += tokens
    rows.push(context.rankedFact(table, sight, row, now))
  }
  const marks = taken.ranks
    .slice(0, rows.length)
    .map((rank) => ({ now, limit, ...rank, changes: 0 }))
  return { rows, totalTokens, matched: taken.matched, marks }
}

/**
 * Versions of a fact that the caller sees, deleted ones included, by version.
 *
 * @throws {CruxError} `QUERY_INVALID`.
 */
export async function factHistory(
  context: RecallContext,
  caller: Caller,
  entity: string,
  key: string,
  { afterVersion = 0, limit = Number.POSITIVE_INFINITY }: HistoryPage = {},
): Promise<readonly RankedFact[]> {
  assertCount('after_version', afterVersion)
  if (limit !== Number.POSITIVE_INFINITY) assertCount('limit', limit)
  const table = context.projection.table(caller.tenant)
  if (table === undefined) return []
  const pause = createPauser()
  const now = context.clock.now()
  const sight = new Sight(caller, table)
  const wanted = entitiesNamed(table, sight, entity)
    .map((entry) => table.findChain(table.entities.text(entry), key))
    .filter((chain) => chain !== NONE)
    .flatMap((chain) => table.chainRows(chain))
    .filter((row) => table.version.get(row) > afterVersion && sight.sees(row))
    .sort((a, b) => table.version.get(a) - table.version.get(b) || a - b)
  const versions: RankedFact[] = []
  for (const row of wanted.slice(0, limit)) {
    versions.push(context.rankedFact(table, sight, row, now))
    const waiting = pause()
    if (waiting !== undefined) await waiting
  }
  return versions
}
