import { assertText, type Caller, CruxError, createPauser } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { AggregateQuery, FactAggregate } from '../fact-store.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { findCandidates } from './candidates.js'
import type { RecallContext } from './recall-context.js'
import { Sight } from './sight.js'
import { assertCount, takeRanked } from './take-ranked.js'

/** Operations over facts, in the order in which they are documented. */
export const AGGREGATE_OPS = ['count', 'sum_numeric', 'distinct', 'temporal_diff'] as const

const MAX_TEXT_BYTES = 64 * 1024

/**
 * Count, add up or compare facts of the caller's tenant without a model: live, current and not private.
 *
 * @throws {CruxError} `QUERY_INVALID` or `TEXT_INVALID`.
 */
export async function aggregateFacts(
  context: RecallContext,
  caller: Caller,
  query: AggregateQuery,
): Promise<FactAggregate> {
  if (!AGGREGATE_OPS.includes(query.op)) {
    throw new CruxError<MemoryErrorCode>(
      'QUERY_INVALID',
      `op is '${query.op}'; expected one of ${AGGREGATE_OPS.join(', ')}`,
      { data: { field: 'op', value: query.op } },
    )
  }
  assertCount('token_budget', query.tokenBudget)
  for (const field of ['entity', 'key', 'query'] as const) {
    const text = query[field]
    if (text !== undefined)
      assertText(text, { field, maxBytes: MAX_TEXT_BYTES, allowControl: true })
  }
  const table = context.projection.table(caller.tenant)
  if (query.op === 'temporal_diff') return temporalDiff(table, caller, query)
  const { rows, tokens, isTruncated } =
    table === undefined
      ? { rows: [], tokens: 0, isTruncated: false }
      : await candidatesOf(context, table, caller, query)
  const result = { op: query.op, matched: rows.length, tokensScanned: tokens, isTruncated }
  if (query.op === 'count' || table === undefined) return { ...result, value: rows.length }
  const pause = createPauser()
  let sum = 0
  const texts = new Set<string>()
  for (const row of rows) {
    if (query.op === 'sum_numeric') sum += firstNumber(table.value(row)) ?? 0
    else texts.add(table.value(row))
    const waiting = pause()
    if (waiting !== undefined) await waiting
  }
  return { ...result, value: query.op === 'sum_numeric' ? sum : texts.size }
}

/** The facts that count; with a budget those whose ids come first, at least one. */
async function candidatesOf(
  context: RecallContext,
  table: FactTable,
  caller: Caller,
  { entity, key, query, asOf, tokenBudget }: AggregateQuery,
): Promise<{ rows: readonly number[]; tokens: number; isTruncated: boolean }> {
  const pause = createPauser()
  const limit = table.size
  const sight = new Sight(caller, table)
  const wanted = query?.toLowerCase()
  const keyEntry = key === undefined ? undefined : table.keys.findText(key)
  const { visit } = await findCandidates(
    table,
    context.indexOf(table),
    sight,
    { entity },
    limit,
    pause,
  )
  const found: number[] = []
  await visit((row) => {
    if (!isPublic(table, sight, row) || table.isSuperseded(row, limit)) return
    if (keyEntry !== undefined && table.keyOf.get(row) !== keyEntry) return
    if (asOf !== undefined && !table.isValidAt(row, asOf)) return
    found.push(row)
  })
  const rows: number[] = []
  for (const row of found) {
    if (wanted === undefined || table.value(row).toLowerCase().includes(wanted)) rows.push(row)
    const waiting = pause()
    if (waiting !== undefined) await waiting
  }
  const taken = await takeRanked(
    async (offer) => {
      for (const row of rows) {
        const [first, second] = table.ids.order(row)
        offer(-first, -second, row)
        const waiting = pause()
        if (waiting !== undefined) await waiting
      }
    },
    { topK: rows.length, tokenBudget, isTiered: false },
    (row) => table.tokens(row),
  )
  return {
    rows: taken.ranks.map(({ row }) => row),
    tokens: taken.totalTokens,
    isTruncated: taken.ranks.length < taken.matched,
  }
}

/** How much the number in the newest version differs from that in an older one. */
function temporalDiff(
  table: FactTable | undefined,
  caller: Caller,
  { op, entity, key, asOf }: AggregateQuery,
): FactAggregate {
  const none = { op, matched: 0, value: null, tokensScanned: 0, isTruncated: false }
  if (table === undefined || entity === undefined || key === undefined) return none
  const chain = table.findChain(entity, key)
  if (chain === NONE) return none
  const sight = new Sight(caller, table)
  const rows = table.chainRows(chain).filter((row) => isPublic(table, sight, row))
  const current = rows.at(-1)
  const old =
    asOf === undefined ? rows[0] : rows.filter((row) => table.storedAt.get(row) <= asOf).at(-1)
  const tokensScanned = rows.reduce((sum, row) => sum + table.tokens(row), 0)
  const result = { ...none, matched: rows.length, tokensScanned }
  if (current === undefined || old === undefined) return result
  const now = firstNumber(table.value(current))
  const before = firstNumber(table.value(old))
  return now === undefined || before === undefined ? result : { ...result, value: now - before }
}

function isPublic(table: FactTable, sight: Sight, row: number): boolean {
  return !table.isDeleted(row) && !table.isPrivate(row) && sight.sees(row)
}

// A sign counts only right before a digit; commas group digits.
const NUMBER = /[+-]?\d[\d,]*(?:\.[\d,]*)?/

/** The first number in a text, such as 1204.5 in `about 1,204.5 ms`. */
export function firstNumber(text: string): number | undefined {
  const found = NUMBER.exec(text)?.[0]
  return found === undefined ? undefined : Number(found.replaceAll(',', ''))
}
