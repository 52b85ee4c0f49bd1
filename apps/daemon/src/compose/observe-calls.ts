import { createObservability, createToolSpans, type Observability } from 'crux-observe'
import type { Clock } from 'crux-types'
import type { Config } from '../config/load.js'

/** What the daemon keeps of the tool calls that it answers. */
export function observeCalls(config: Config, clock: Clock): Observability {
  const { sessionTokenBudget: tokens, sessionTokenBudgetMode: mode } = config
  return createObservability({
    clock,
    traceSeconds: config.featureToolTraces ? config.featureToolTracesTtlSecs : 0,
    holdoutFraction: config.outputHoldout,
    spans: config.featureOtelSpans ? createToolSpans() : undefined,
    sessionBudget: tokens === undefined ? undefined : { tokens, mode },
  })
}
