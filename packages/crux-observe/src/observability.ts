import type { Clock } from 'crux-types'
import { TokenAccounts } from './accounting/token-accounts.js'
import { OutputHoldout } from './holdout/output-holdout.js'
import type { ToolLedger } from './ledger/tool-ledger.js'
import type { ToolSpans } from './spans/tool-spans.js'
import { TraceRings } from './traces/trace-rings.js'

/** What a surface keeps of the calls that it answers, for agents to look at. */
export interface Observability {
  readonly accounts: TokenAccounts
  /** Absent when calls are not to be remembered. */
  readonly traces: TraceRings | undefined
  readonly holdout: OutputHoldout
  /** Absent when no spans are wanted. */
  readonly spans: ToolSpans | undefined
  /** Absent when calls are not to be kept as observations. */
  readonly ledger: ToolLedger | undefined
  /** Tokens that a passport is meant to get by with; absent when there is no limit. */
  readonly sessionBudget: SessionBudget | undefined
}

/** A limit to the tokens of a passport, counted since the daemon started. */
export interface SessionBudget {
  readonly tokens: number
  /** `report` only tells how much of it is used; `enforce` refuses further retrieval. */
  readonly mode: 'report' | 'enforce'
}

export interface ObservabilityOptions {
  readonly clock: Clock
  /** How long calls are remembered; 0 remembers none. Default 3,600. */
  readonly traceSeconds?: number
  /** Share of answers that go out unshaped, to compare with; default 0. */
  readonly holdoutFraction?: number
  readonly spans?: ToolSpans | undefined
  readonly ledger?: ToolLedger | undefined
  readonly sessionBudget?: SessionBudget | undefined
}

const DEFAULT_TRACE_SECONDS = 3_600

/** Fresh accounts, traces and samples: they live in memory and end with the process. */
export function createObservability(options: ObservabilityOptions): Observability {
  const { clock, traceSeconds = DEFAULT_TRACE_SECONDS, holdoutFraction = 0 } = options
  return {
    accounts: new TokenAccounts(),
    traces: traceSeconds > 0 ? new TraceRings({ clock, ttlSeconds: traceSeconds }) : undefined,
    holdout: new OutputHoldout(holdoutFraction),
    spans: options.spans,
    ledger: options.ledger,
    sessionBudget: options.sessionBudget,
  }
}
