import type { Caller, Pause, WorkProgress } from 'crux-types'
import type { FactProjection } from '../facts/fact-projection.js'
import type { FactTable } from '../facts/fact-table.js'
import { isPinnedBy } from '../panel/pins.js'
import { findPrefix } from '../privacy.js'
import { Sight } from '../recall/sight.js'
import { assertCount } from '../recall/take-ranked.js'
import type { ForgetMark, ForgetRequest } from './forgetting-store.js'
import { scopeTest } from './scope.js'

/** Entities that are never forgotten; tested against what their reader sees. */
const RESERVED_PREFIXES = [
  '__agent::',
  '__ops::',
  '__bootstrap__::',
  '__agent_session::',
  '__memory_pin::',
]
const ROWS_PER_PAUSE = 1024

/** Facts that a scope means. */
export interface ResolvedScope {
  /** Undefined when the tenant has no facts. */
  readonly table: FactTable | undefined
  readonly sight: Sight | undefined
  /** Oldest first. */
  readonly rows: readonly number[]
  /** Rows that the budget had no room for. */
  readonly leftOut: number
  /** Whether they are all that the caller sees and could forget. */
  readonly isAllVisible: boolean
}

/**
 * Live facts of the caller's tenant that it sees and a scope matches, without reserved ones and, unless
 * asked for, without those that it pinned.
 *
 * @throws {CruxError} `QUERY_INVALID` for a budget that is no count.
 */
export async function resolveScope(
  projection: FactProjection,
  caller: Caller,
  request: ForgetRequest,
  { pause, progress }: { readonly pause: Pause; readonly progress: WorkProgress },
): Promise<ResolvedScope> {
  assertCount('token_budget', request.tokenBudget)
  const table = projection.table(caller.tenant)
  if (table === undefined) {
    return { table, sight: undefined, rows: [], leftOut: 0, isAllVisible: false }
  }
  progress.expect(table.size)
  const sight = new Sight(caller, table)
  const test = scopeTest(request.scope)
  const matchesEntity = byEntity(table, sight, test.entity)
  const matchesKey = byKey(table, test.key)
  let visible = 0
  const matching: number[] = []
  for (let row = 0; row < table.size; row++) {
    progress.advance()
    if ((row & (ROWS_PER_PAUSE - 1)) === 0) await pause()
    if (table.isDeleted(row) || !sight.sees(row)) continue
    const isMatch = matchesEntity(row)
    if (isMatch === undefined) continue
    visible++
    if (!isMatch || !matchesKey(row)) continue
    if (test.storedAt?.(table.storedAt.get(row)) === false) continue
    if (request.includePinned !== true && isPinnedBy(caller, table, table.ids.id(row))) continue
    matching.push(row)
  }
  // Rows stand in the order of the journal, which is that of time but for facts from elsewhere.
  matching.sort((a, b) => table.storedAt.get(a) - table.storedAt.get(b) || a - b)
  const { after } = request
  const rest = after === undefined ? matching : matching.filter((row) => isLater(table, row, after))
  const rows = withinBudget(table, rest, request.tokenBudget)
  return {
    table,
    sight,
    rows,
    leftOut: rest.length - rows.length,
    // What comes before will be forgotten by then.
    isAllVisible: rows.length > 0 && rows.length === visible - (matching.length - rest.length),
  }
}

function isLater(table: FactTable, row: number, { storedAt, row: last }: ForgetMark): boolean {
  const at = table.storedAt.get(row)
  return at > storedAt || (at === storedAt && row > last)
}

/** A test of rows by their entity, remembered for each; undefined for entities that are never forgotten. */
function byEntity(
  table: FactTable,
  sight: Sight,
  test: ((stored: string, visible: string) => boolean) | undefined,
): (row: number) => boolean | undefined {
  const known = new Map<number, boolean | undefined>()
  return (row) => {
    const entity = table.entityOf.get(row)
    if (known.has(entity)) return known.get(entity)
    const stored = table.entity(row)
    const visible = sight.entity(row) ?? stored
    const isReserved = findPrefix(visible, RESERVED_PREFIXES) !== undefined
    const outcome = isReserved ? undefined : (test?.(stored, visible) ?? true)
    known.set(entity, outcome)
    return outcome
  }
}

function byKey(
  table: FactTable,
  test: ((key: string) => boolean) | undefined,
): (row: number) => boolean {
  if (test === undefined) return () => true
  const known = new Map<number, boolean>()
  return (row) => {
    const key = table.keyOf.get(row)
    let outcome = known.get(key)
    if (outcome === undefined) {
      outcome = test(table.key(row))
      known.set(key, outcome)
    }
    return outcome
  }
}

/** At least one row; stops before the one that would exceed the budget, and once it is used up. */
function withinBudget(
  table: FactTable,
  rows: readonly number[],
  budget: number | undefined,
): readonly number[] {
  if (budget === undefined) return rows
  let used = 0
  let count = 0
  for (const row of rows) {
    const tokens = table.tokens(row)
    if (count > 0 && (used >= budget || used + tokens > budget)) break
    used += tokens
    count++
  }
  return rows.slice(0, count)
}
