import { emitWithinBudget, fullWithinBudget } from 'crux-retrieval'
import { CruxError } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import { isBetter, type RowRank, TopRows } from './top-rows.js'

/** How many rows of a ranking are wanted. */
export interface Cut {
  /** Most rows when there is no budget. */
  readonly topK: number
  /** Tokens; then `topK` does not apply, unless `isCapped`. */
  readonly tokenBudget: number | undefined
  /** Nothing beyond the best `topK` counts, whatever the budget. */
  readonly isCapped?: boolean
  /** Rows up to and including this one were given before. */
  readonly after?: RowRank | undefined
  /** Whether rows that do not fit are kept as pointers. */
  readonly isTiered: boolean
}

export interface Taken {
  /** Best first. */
  readonly ranks: readonly RowRank[]
  /** How many of them in full; the others are pointers. */
  readonly hydrated: number
  /** Tokens of the rows in full. */
  readonly totalTokens: number
  /** Rows that were offered after `after`, at most `topK` when that caps. */
  readonly matched: number
}

/**
 * Offer every candidate once, in any order; greater numbers rank first, then the newer row.
 *
 * @param bar - The rank that a candidate must exceed to be taken now; when nothing is counted, others
 *   need not be offered.
 */
export type Scan = (
  offer: (first: number, second: number, row: number) => void,
  bar: () => RowRank | undefined,
) => Promise<void>

const FIRST_WINDOW = 256
const MAX_WINDOW = 16_384

/**
 * The best rows of a scan that a cut has room for.
 *
 * Nothing is sorted but what is given out: a heap keeps a window of the best rows, and when a budget
 * has room for more than that, the scan runs again for the window below.
 *
 * @param costOf - Tokens of a row in full; asked for no row after the first that does not fit.
 */
export async function takeRanked(
  scan: Scan,
  cut: Cut,
  costOf: (row: number) => number | Promise<number>,
): Promise<Taken> {
  const { tokenBudget } = cut
  const ranked: RowRank[] = []
  const costs = new Costs(costOf, tokenBudget)
  let matched = 0
  const most =
    tokenBudget === undefined || cut.isCapped === true ? cut.topK : Number.POSITIVE_INFINITY
  let window = tokenBudget === undefined ? cut.topK : Math.min(FIRST_WINDOW, most)
  for (let isFirst = true; ; isFirst = false) {
    const top = new TopRows(window)
    const floor = ranked.at(-1) ?? cut.after
    await scan(
      (first, second, row) => {
        if (floor !== undefined && (row === floor.row || isBetter(first, second, row, floor)))
          return
        if (isFirst) matched++
        if (top.wouldKeep(first, second, row)) top.add({ first, second, row })
      },
      () => top.bar,
    )
    const found = top.sorted()
    ranked.push(...found)
    const counting = costs.add(found)
    if (counting !== undefined) await counting
    const full =
      tokenBudget === undefined ? ranked.length : fullWithinBudget(costs.all, tokenBudget)
    const emit =
      tokenBudget !== undefined && cut.isTiered
        ? emitWithinBudget(costs.all, tokenBudget).emit
        : full
    const isWanting = tokenBudget !== undefined && emit === ranked.length && ranked.length < most
    if (isWanting && found.length === window) {
      window = Math.min(window * 4, MAX_WINDOW, most - ranked.length)
      continue
    }
    let totalTokens = 0
    for (let i = 0; i < full; i++) totalTokens += costs.all[i] ?? 0
    return {
      ranks: emit < ranked.length ? ranked.slice(0, emit) : ranked,
      hydrated: full,
      totalTokens,
      matched: cut.isCapped === true ? Math.min(matched, cut.topK) : matched,
    }
  }
}

/**
 * Tokens of the rows of a ranking. Counting may take a while, so it ends with the first row that does
 * not fit: that one and all below it are never given in full, and stand as infinitely dear.
 */
class Costs {
  readonly all: number[] = []
  private used = 0

  constructor(
    private readonly costOf: (row: number) => number | Promise<number>,
    private readonly budget = Number.POSITIVE_INFINITY,
  ) {}

  /** @returns A promise where counting takes a while. */
  add(ranks: readonly RowRank[]): Promise<void> | undefined {
    for (let at = 0; at < ranks.length; at++) {
      const cost = this.next((ranks[at] as RowRank).row) // below the length
      if (typeof cost !== 'number') return this.addSlowly(ranks, at, cost)
      this.keep(cost)
    }
    return undefined
  }

  private async addSlowly(
    ranks: readonly RowRank[],
    from: number,
    first: Promise<number>,
  ): Promise<void> {
    this.keep(await first)
    for (const { row } of ranks.slice(from + 1)) this.keep(await this.next(row))
  }

  private next(row: number): number | Promise<number> {
    if (this.all.length > 0 && this.used >= this.budget) return Number.POSITIVE_INFINITY
    return this.costOf(row)
  }

  private keep(cost: number): void {
    this.all.push(cost)
    this.used += cost
  }
}

/**
 * Check a count or a budget of a query.
 *
 * @throws {CruxError} `QUERY_INVALID`.
 */
export function assertCount(field: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value >= 0)) return
  throw new CruxError<MemoryErrorCode>(
    'QUERY_INVALID',
    `${field} is ${value}; expected a whole number from 0`,
    { data: { field, value } },
  )
}
