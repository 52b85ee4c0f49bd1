import { CHARS4, type TokenCounter } from 'crux-types'
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
  /** Vocabulary by which tokens were counted; absent: four bytes a token. */
  readonly tokenizer?: string
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
    /** What counted the tokens of texts; absent where none were counted. */
    readonly countedBy?: TokenCounter
    readonly nextCursor?: string | undefined
  },
): BudgetReport | undefined {
  if (applied === undefined) return undefined
  const { countedBy = CHARS4 } = spent
  return {
    requested: requested ?? null,
    applied,
    used: spent.used,
    remaining: Math.max(applied - spent.used, 0),
    truncated: spent.leftOut > 0 || spent.isShortened === true,
    left_out: spent.leftOut,
    ...(countedBy === CHARS4 ? {} : { tokenizer: countedBy.id }),
    ...(spent.nextCursor === undefined ? {} : { next_cursor: spent.nextCursor }),
    ...(warning === undefined ? {} : { warning }),
  }
}
