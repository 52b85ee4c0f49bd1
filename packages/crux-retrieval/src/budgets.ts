/** Price of one pointer (metadata without text), in estimated tokens. */
export const POINTER_TOKENS = 40

/** Room that a row's summary is assumed to take when its text is not sent, in estimated tokens. */
export const SUMMARY_TOKENS = 150

/**
 * How many pointers a budget pays for.
 *
 * @param budget - Estimated tokens.
 * @returns At least 1, so that a budget never hides that something was found.
 */
export function pointersWithinBudget(budget: number): number {
  return Math.max(Math.floor(budget / POINTER_TOKENS), 1)
}

/**
 * How many rows, from the best down, fit when each is charged in full; the walk also ends as soon
 * as the budget is used up, so that free rows do not ride along.
 *
 * @param costs - Estimated tokens of each row, in rank order.
 * @param budget - Estimated tokens.
 * @returns 0 for no rows, else at least 1: the best row is given even when it alone is too dear.
 */
export function fullWithinBudget(costs: readonly number[], budget: number): number {
  let used = 0
  let taken = 0
  for (const cost of costs) {
    if (taken > 0 && (used >= budget || used + cost > budget)) break
    used += cost
    taken += 1
  }
  return taken
}

/**
 * How many rows are given in full, and how many in all when what remains buys pointers.
 *
 * Rows `0..full` carry their text, rows `full..emit` are pointers, the others are only counted.
 *
 * @param costs - Estimated tokens of each row in full, in rank order.
 * @param budget - Estimated tokens.
 */
export function emitWithinBudget(
  costs: readonly number[],
  budget: number,
): { readonly full: number; readonly emit: number } {
  const full = fullWithinBudget(costs, budget)
  let used = 0
  for (let i = 0; i < full; i++) used += costs[i] ?? 0
  const pointers = Math.floor(Math.max(budget - used, 0) / POINTER_TOKENS)
  return { full, emit: Math.min(full + pointers, costs.length) }
}

/**
 * How many rows, from the best down, fit before the first one that would exceed the budget.
 *
 * Differs from {@link fullWithinBudget} only in that rows that cost nothing still fit when the
 * budget is used up exactly.
 *
 * @param costs - Estimated tokens of each row, in rank order.
 * @param budget - Estimated tokens.
 * @returns 0 for no rows, else at least 1.
 */
export function greedyWithinBudget(costs: readonly number[], budget: number): number {
  let used = 0
  let taken = 0
  for (const cost of costs) {
    if (taken > 0 && used + cost > budget) break
    used += cost
    taken += 1
  }
  return taken
}
