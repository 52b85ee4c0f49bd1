/** Most passports with an account; the one that was opened first is closed for a new one. */
const MAX_ACCOUNTS = 10_000

/** What the calls of one passport came to since the daemon started; tokens by the dispatch estimator. */
export interface TokenUsage {
  readonly calls: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Sum of the budgets that calls named. */
  readonly declaredBudgetIn: number
}

type Account = { -readonly [Key in keyof TokenUsage]: TokenUsage[Key] }

const NOTHING: TokenUsage = Object.freeze({
  calls: 0,
  tokensIn: 0,
  tokensOut: 0,
  declaredBudgetIn: 0,
})

/**
 * Tokens that went in and out, by passport.
 *
 * In memory only, for this process; sums stop at the largest exact integer. Holds at most 10,000
 * passports.
 */
export class TokenAccounts {
  private readonly accounts = new Map<string, Account>()

  /** Add one call. */
  add(
    passport: string,
    call: {
      readonly tokensIn: number
      readonly tokensOut: number
      readonly declaredBudget?: number | undefined
    },
  ): void {
    const account = this.accounts.get(passport) ?? this.open(passport)
    account.calls = saturated(account.calls + 1)
    account.tokensIn = saturated(account.tokensIn + call.tokensIn)
    account.tokensOut = saturated(account.tokensOut + call.tokensOut)
    account.declaredBudgetIn = saturated(account.declaredBudgetIn + (call.declaredBudget ?? 0))
  }

  /** Tokens in and out of a passport together. */
  used(passport: string): number {
    const { tokensIn, tokensOut } = this.usage(passport)
    return saturated(tokensIn + tokensOut)
  }

  /** What a passport used so far. */
  usage(passport: string): TokenUsage {
    return { ...(this.accounts.get(passport) ?? NOTHING) }
  }

  private open(passport: string): Account {
    if (this.accounts.size >= MAX_ACCOUNTS) {
      for (const first of this.accounts.keys()) {
        this.accounts.delete(first)
        break
      }
    }
    const account = { ...NOTHING }
    this.accounts.set(passport, account)
    return account
  }
}

function saturated(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER)
}
