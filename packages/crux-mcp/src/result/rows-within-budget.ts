import { createPauser, type TokenCounter } from 'crux-types'

/** Rows of an answer that its budget has room for. */
export interface BudgetedRows<Row> {
  readonly rows: readonly Row[]
  /** Tokens of their JSON. */
  readonly used: number
}

/**
 * The first rows whose JSON together stays within a budget of tokens, and at least one.
 *
 * @param budget - Tokens; absent: all rows.
 */
export async function rowsWithinBudget<Row>(
  rows: readonly Row[],
  counter: TokenCounter,
  budget = Number.POSITIVE_INFINITY,
): Promise<BudgetedRows<Row>> {
  const pause = createPauser()
  let used = 0
  for (const [index, row] of rows.entries()) {
    const cost = await counter.countRow(JSON.stringify(row), pause)
    if (index > 0 && used + cost > budget) return { rows: rows.slice(0, index), used }
    used += cost
  }
  return { rows, used }
}
