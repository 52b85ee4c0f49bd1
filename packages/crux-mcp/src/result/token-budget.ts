/** What the operator says about token budgets; nothing when both are absent. */
export interface BudgetLimits {
  /** Applies when a call names none; it never widens an answer. */
  readonly defaultTokens?: number | undefined
  /** No budget is larger. */
  readonly maxTokens?: number | undefined
}

/** The budget of one call, in tokens. */
export interface CallBudget {
  readonly requested: number | undefined
  /** Undefined: no bound. */
  readonly applied: number | undefined
  /** Why less was applied than was asked for. */
  readonly warning: string | undefined
}

/** No bound, whatever the operator says. */
export const NO_BUDGET: CallBudget = {
  requested: undefined,
  applied: undefined,
  warning: undefined,
}

/**
 * The budget that is in force when a call asks for this one.
 *
 * @param own - Default of the tool itself, which comes before the operator's.
 */
export function budgetInForce(
  requested: number | undefined,
  { defaultTokens, maxTokens }: BudgetLimits,
  own?: number,
): CallBudget {
  const wanted = requested ?? own ?? defaultTokens ?? maxTokens
  if (wanted === undefined) return { requested, applied: undefined, warning: undefined }
  const applied = maxTokens === undefined ? wanted : Math.min(wanted, maxTokens)
  return {
    requested,
    applied,
    warning:
      requested !== undefined && applied < requested
        ? `token_budget ${requested} is above the maximum of ${maxTokens}, which was applied`
        : undefined,
  }
}

/**
 * The budget of a call to a tool whose schema declares a default.
 *
 * @param call - Its arguments as they were sent tell whether the budget is the caller's or the schema's.
 * @param parsed - The budget after parsing.
 */
export function defaultedBudget(
  call: {
    readonly args: Readonly<Record<string, unknown>>
    readonly budgets: BudgetLimits
  },
  parsed: number,
): CallBudget {
  const { token_budget: sent } = call.args
  const isSent = sent !== undefined && sent !== null
  return budgetInForce(isSent ? parsed : undefined, call.budgets, parsed)
}
