import type { CallBudget } from './token-budget.js'

/** What became of a token budget; in tokens, except `left_out`, which counts items. */
export interface BudgetReport {
  /** As asked; null when the tool's own default applied. */
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
  /** Why less was applied than was requested. */
  readonly warning?: string
}

/**
 * Report how a budget was spent.
 *
 * @param requested - What the caller asked for; undefined gives no report, unless `applied` is set.
 * @returns Undefined when no budget was in force.
 */
export function reportBudget(
  requested: number | undefined,
  spent: {
    readonly used: number
    readonly leftOut: number
    readonly isShortened?: boolean
    readonly applied?: number
    readonly nextCursor?: string | undefined
  },
): BudgetReport | undefined {
  const applied = requested ?? spent.applied
  if (applied === undefined) return undefined
  return {
    requested: requested ?? null,
    applied,
    used: spent.used,
    remaining: Math.max(applied - spent.used, 0),
    truncated: spent.leftOut > 0 || spent.isShortened === true,
    left_out: spent.leftOut,
    ...(spent.nextCursor === undefined ? {} : { next_cursor: spent.nextCursor }),
  }
}

/** Report how the budget of a call was spent; undefined when none was in force. */
export function reportCallBudget(
  { requested, applied, warning }: CallBudget,
  spent: {
    readonly used: number
    readonly leftOut: number
    readonly isShortened?: boolean
    readonly nextCursor?: string | undefined
  },
): BudgetReport | undefined {
  const report = reportBudget(applied, spent)
  if (report === undefined) return undefined
  return {
    ...report,
    requested: requested ?? null,
    ...(warning === undefined ? {} : { warning }),
  }
}
