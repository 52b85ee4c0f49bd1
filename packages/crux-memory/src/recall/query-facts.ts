import { assertText, type Caller, CruxError, createPauser, type Pause } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { FactMatch, FactPage, FactQuery, FactScoreSpace, RankedFact } from '../fact-store.js'
import type { FactTable } from '../facts/fact-table.js'
import { findCandidates, visitSet } from './candidates.js'
import { prepareRanking } from './ranked-scan.js'
import type { RecallContext } from './recall-context.js'
import { Sight } from './sight.js'
import { assertCount, type Scan, takeRanked } from './take-ranked.js'

/** Most bytes of a query's words. */
const MAX_QUERY_BYTES = 64 * 1024
const DEFAULT_TOP_K = 10

/** Rows of each lane that `hybrid` fuses. */
const HYBRID_DEPTH = 1000
/** Keeps the best ranks from outweighing everything. @see Cormack, Clarke & Büttcher (2009) */
const RRF_K = 60

/** What all lanes of one query share. */
interface Asked {
  readonly context: RecallContext
  readonly table: FactTable
  readonly sight: Sight
  readonly query: FactQuery
  /** Rows from here on were stored after the read began. */
  readonly limit: number
  readonly pause: Pause
  /** Whether the caller sees a row that is not retired. */
  counts(row: number): boolean
  /** Confidence of a row that passes all filters but words and floor; undefined for others. */
  confidence(row: number): number | undefined
}

/**
 * Recall over the facts of the caller's tenant: filter, match, rank, floor, then budget or count.
 *
 * Equal ranks go by time, newest first, then by place in the journal, newest first, so that equal
 * questions over equal facts have equal answers.
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
  const { after, includeSuperseded = false } = query
  const now = after?.now ?? context.clock.now()
  const limit = Math.min(after?.limit ?? table.size, table.size)
  const sight = new Sight(caller, table)
  const counts = (row: number): boolean =>
    !table.isDeleted(row) &&
    sight.sees(row) &&
    (includeSuperseded || !table.isSuperseded(row, limit))
  const confidence = (row: number): number | undefined => {
    if (!counts(row)) return undefined
    if (query.asOf !== undefined && !table.isValidAt(row, query.asOf)) return undefined
    return context.effectiveConfidence(table, row, now)
  }
  const asked: Asked = { context, table, sight, query, limit, pause, counts, confidence }
  // Without words there is nothing to match in any way.
  const match = query.query === undefined ? 'substring' : (query.match ?? 'substring')
  // Scores of words depend on all facts that count, places in a fused ranking on those above.
  const changes = table.renewals + (match === 'substring' ? 0 : table.removals)
  const { scan, belowFloor, done } = await LANES[match](asked, floor)
  const taken = await takeRanked(
    scan,
    {
      topK: query.topK ?? DEFAULT_TOP_K,
      tokenBudget: query.tokenBudget,
      isTiered: query.overflow === 'tiered',
      isCapped: query.isCapped ?? false,
      after,
    },
    (row) => context.cost(table, row, pause),
  )
  done?.()

  const rows: RankedFact[] = []
  for (const { row, first } of taken.ranks) {
    const recalled = context.recalledFact(table, sight, row, now)
    rows.push(
      match === 'substring'
        ? recalled
        : { ...recalled, score: first, scoreSpace: SCORE_SPACES[match] },
    )
    const waiting = pause()
    if (waiting !== undefined) await waiting
  }
  const last = taken.ranks.at(-1)
  const hasMore = query.isCounted !== false && taken.matched > rows.length
  return {
    rows,
    hydrated: taken.hydrated,
    matched: taken.matched,
    filteredBelowThreshold: belowFloor(),
    totalTokens: taken.totalTokens,
    ...(hasMore && last !== undefined && { next: { now, limit, ...last, changes } }),
    hasMoved: after !== undefined && after.changes !== changes,
  }
}

/** Offers the rows of one way to match. */
interface Lane {
  readonly scan: Scan
  /** Rows that only the floor kept out; known once `scan` ran. */
  belowFloor(): number
  /** Called when nothing is scanned any more. */
  readonly done?: (() => void) | undefined
}

async function substringLane(asked: Asked, floor: number): Promise<Lane> {
  const { context, table, sight, query, limit, pause } = asked
  const index = context.indexOf(table)
  const { visit, done } = await findCandidates(table, index, sight, query, limit, pause)
  let below = 0
  let isCounting = true
  return {
    scan: async (offer, bar) => {
      // Where rows come newest first, those of no more confidence than the bar are not taken any more,
      // since decay only lowers.
      const isHopeless = (block: number): boolean => {
        const worst = bar()
        return worst !== undefined && table.mostConfidence(block) <= worst.first
      }
      const take = (row: number): void => {
        const confidence = asked.confidence(row)
        if (confidence === undefined) return
        if (confidence >= floor) offer(confidence, table.storedAt.get(row), row)
        else if (isCounting) below++
      }
      const takeIfAbove = (row: number): void => {
        const worst = bar()
        if (worst === undefined || table.confidence.get(row) > worst.first) take(row)
      }
      // Rows of several entities come one entity after the other.
      const isNewestFirst =
        table.isInTimeOrder && query.entity === undefined && query.entityPrefix === undefined
      if (query.isCounted === false && isNewestFirst) await visit(takeIfAbove, isHopeless)
      else await visit(take)
      isCounting = false
    },
    belowFloor: () => below,
    done,
  }
}

async function rankedLane(asked: Asked, floor: number): Promise<Lane> {
  const { context, table, sight, query, limit, pause, counts } = asked
  const index = context.indexOf(table)
  const ranking = await prepareRanking(table, index, sight, query.query ?? '', counts, limit, pause)
  if (ranking === undefined) return { scan: async () => undefined, belowFloor: () => 0 }
  const { entity, entityPrefix } = query
  const candidates: number[] = []
  let below = 0
  const take = (row: number): void => {
    if (!ranking.rows.has(row)) return
    const confidence = asked.confidence(row)
    if (confidence === undefined) return
    if (confidence >= floor) candidates.push(row)
    else below++
  }
  if (entity === undefined && entityPrefix === undefined) {
    await visitSet(ranking.rows, take, pause)
  } else {
    const filter = { entity, entityPrefix }
    const { visit } = await findCandidates(table, index, sight, filter, limit, pause)
    await visit(take)
  }
  const scores = new Float64Array(candidates.length)
  for (const [at, row] of candidates.entries()) {
    scores[at] = ranking.score(row) * (asked.confidence(row) ?? 0)
    const waiting = pause()
    if (waiting !== undefined) await waiting
  }
  return { scan: listScan(candidates, scores, asked), belowFloor: () => below }
}

async function hybridLane(asked: Asked, floor: number): Promise<Lane> {
  const fused = new Map<number, number>()
  let below = 0
  for (const lane of [await substringLane(asked, floor), await rankedLane(asked, floor)]) {
    const { ranks } = await takeRanked(
      lane.scan,
      { topK: HYBRID_DEPTH, tokenBudget: undefined, isTiered: false },
      () => 0,
    )
    for (const [place, { row }] of ranks.entries()) {
      fused.set(row, (fused.get(row) ?? 0) + 1 / (RRF_K + place + 1))
    }
    below = Math.max(below, lane.belowFloor())
    lane.done?.()
  }
  const scan = listScan([...fused.keys()], Float64Array.from(fused.values()), asked)
  return { scan, belowFloor: () => below }
}

function listScan(rows: readonly number[], scores: Float64Array, { table, pause }: Asked): Scan {
  return async (offer) => {
    for (const [at, row] of rows.entries()) {
      offer(scores[at] ?? 0, table.storedAt.get(row), row)
      const waiting = (at & 0xff) === 0 ? pause() : undefined
      if (waiting !== undefined) await waiting
    }
  }
}

const LANES: Readonly<Record<FactMatch, (asked: Asked, floor: number) => Promise<Lane>>> = {
  substring: substringLane,
  ranked: rankedLane,
  hybrid: hybridLane,
}

const SCORE_SPACES: Readonly<Record<Exclude<FactMatch, 'substring'>, FactScoreSpace>> = {
  ranked: 'bm25_confidence',
  hybrid: 'reciprocal_rank',
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
  hasMoved: false,
})
