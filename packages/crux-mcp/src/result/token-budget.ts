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

/** The budget that is in force when a call asks for this one. */
export function budgetInForce(requested: number | undefined, limits: BudgetLimits): CallBudget {
  const { defaultTokens, maxTokens } = limits
  const wanted = requested ?? defaultTokens ?? maxTokens
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
