import type { CallBudget } from './token-budget.js'

/** What became of a token budget; in tokens, except `left_out`, which counts items. */
export interface BudgetReport {
  /** As asked; null when a default applied. */
  readonly requested: number | null
  readonly applied: number
  readonly used: number
  /** 0 when the first item alone exceeds the budget. */
  readonly remaining: number
  /** Something was left out or shortened. */
  readonly truncated: boolean
  readonly left_out: number
  /** Given as `cursor` with the same arguments, goes on with what was left out. */
  readonly next_cursor?: string
  /** Why less was applied than was requested, or how to bound a long answer. */
  readonly warning?: string
}

/** Report how the budget of a call was spent; undefined when none was in force. */
export function reportBudget(
  { requested, applied, warning }: CallBudget,
  spent: {
    readonly used: number
    readonly leftOut: number
    readonly isShortened?: boolean
    readonly nextCursor?: string | undefined
  },
): BudgetReport | undefined {
  if (applied === undefined) return undefined
  return {
    requested: requested ?? null,
    applied,
    used: spent.used,
    remaining: Math.max(applied - spent.used, 0),
    truncated: spent.leftOut > 0 || spent.isShortened === true,
    left_out: spent.leftOut,
    ...(spent.nextCursor === undefined ? {} : { next_cursor: spent.nextCursor }),
    ...(warning === undefined ? {} : { warning }),
  }
}
