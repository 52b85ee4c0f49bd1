import { assertText, type Caller, CruxError, createPauser } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { FactPage, FactQuery, RankedFact } from '../fact-store.js'
import { findCandidates } from './candidates.js'
import type { RecallContext } from './recall-context.js'
import { Sight } from './sight.js'
import { assertCount, takeRanked } from './take-ranked.js'

/** Most bytes of a query's words. */
const MAX_QUERY_BYTES = 64 * 1024
const DEFAULT_TOP_K = 10

/**
 * Recall over the facts of the caller's tenant: filter, match, rank, floor, then budget or count.
 *
 * Ranked by confidence after decay, then by time, newest first, then by place in the journal, newest
 * first, so that equal questions over equal facts have equal answers.
 *
 * @throws {CruxError} `QUERY_INVALID`, `CONFIDENCE_INVALID` or `TEXT_INVALID`.
 */
export async function queryFacts(
  context: RecallContext,
  caller: Caller,
  query: FactQuery,
): Promise<FactPage> {
  assertCount('top_k', query.topK)
  assertCount('token_budget', query.tokenBudget)
  assertQueryText(query.query)
  const floor = floorOf(query.minEffectiveConfidence)
  const table = context.projection.table(caller.tenant)
  if (table === undefined) return EMPTY_PAGE

  const pause = createPauser()
  const now = context.clock.now()
  const limit = table.size
  const sight = new Sight(caller, table)
  const visit = await findCandidates(table, context.indexOf(table), sight, query, limit, pause)
  const { asOf, includeSuperseded = false } = query

  let belowFloor = 0
  let isCounting = true
  const taken = await takeRanked(
    async (offer) => {
      await visit((row) => {
        if (table.isDeleted(row) || !sight.sees(row)) return
        if (!includeSuperseded && table.isSuperseded(row, limit)) return
        if (asOf !== undefined && !table.isValidAt(row, asOf)) return
        const confidence = context.effectiveConfidence(table, row, now)
        if (confidence >= floor) offer(confidence, table.storedAt.get(row), row)
        else if (isCounting) belowFloor++
      })
      isCounting = false
    },
    {
      topK: query.topK ?? DEFAULT_TOP_K,
      tokenBudget: query.tokenBudget,
      isTiered: query.overflow === 'tiered',
    },
    (row) => table.tokens(row),
  )

  const rows: RankedFact[] = []
  for (const row of taken.rows) {
    rows.push(context.recalledFact(table, sight, row, now))
    const waiting = pause()
    if (waiting !== undefined) await waiting
  }
  return {
    rows,
    hydrated: taken.hydrated,
    matched: taken.matched,
    filteredBelowThreshold: belowFloor,
    totalTokens: taken.totalTokens,
  }
}

/** @throws {CruxError} `TEXT_INVALID` unless the words of a query are well-formed and not too long. */
export function assertQueryText(text: string | undefined): void {
  if (text === undefined) return
  assertText(text, { field: 'query', maxBytes: MAX_QUERY_BYTES, allowControl: true })
}

function floorOf(floor: number | undefined): number {
  if (floor === undefined) return Number.NEGATIVE_INFINITY
  if (!(floor >= 0 && floor <= 1)) {
    throw new CruxError<MemoryErrorCode>(
      'CONFIDENCE_INVALID',
      `min_effective_confidence is ${floor}; expected a number within 0..1`,
      { data: { field: 'min_effective_confidence', value: floor } },
    )
  }
  return Math.fround(floor)
}

const EMPTY_PAGE: FactPage = Object.freeze({
  rows: [],
  hydrated: 0,
  matched: 0,
  filteredBelowThreshold: 0,
  totalTokens: 0,
})
