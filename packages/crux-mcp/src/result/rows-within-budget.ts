import { dispatchTokens } from 'crux-types'

/** Rows of an answer that its budget has room for. */
export interface BudgetedRows<Row> {
  readonly rows: readonly Row[]
  /** Tokens of their JSON. */
  readonly used: number
}

/**
 * The first rows whose JSON together stays within a budget of tokens, and at least one.
 *
 * @param budget - Tokens, as the dispatch estimator counts them; absent: all rows.
 */
export function rowsWithinBudget<Row>(
  rows: readonly Row[],
  budget = Number.POSITIVE_INFINITY,
): BudgetedRows<Row> {
  let used = 0
  for (const [index, row] of rows.entries()) {
    const cost = dispatchTokens(JSON.stringify(row))
    if (index > 0 && used + cost > budget) return { rows: rows.slice(0, index), used }
    used += cost
  }
  return { rows, used }
}
