import {
  createObservability,
  createToolLedger,
  createToolSpans,
  type LedgerHash,
  type Observability,
  type ObservationStore,
  type ToolLedger,
} from 'crux-observe'
import type { Clock } from 'crux-types'
import type { Config } from '../config/load.js'
import type { Metrics } from '../metrics.js'

/** What the daemon keeps of the tool calls that it answers. */
export function observeCalls(
  config: Config,
  clock: Clock,
  ledger: ToolLedger | undefined,
): Observability {
  const { sessionTokenBudget: tokens, sessionTokenBudgetMode: mode } = config
  return createObservability({
    clock,
    traceSeconds: config.featureToolTraces ? config.featureToolTracesTtlSecs : 0,
    holdoutFraction: config.outputHoldout,
    spans: config.featureOtelSpans ? createToolSpans() : undefined,
    ledger,
    sessionBudget: tokens === undefined ? undefined : { tokens, mode },
  })
}

/** The ledger of tool calls, where the configuration asks for one. */
export function openLedger(
  config: Config,
  about: {
    readonly observations: () => ObservationStore
    readonly hashes: LedgerHash
    readonly metrics: Pick<Metrics, 'ledgerFailed'>
  },
): ToolLedger | undefined {
  if (!config.featureToolLedger) return undefined
  return createToolLedger({
    observations: about.observations,
    hashes: about.hashes,
    keepsArguments: config.toolLedgerRawArgs,
    maxPayloadBytes: config.maxObservationPayloadBytes,
    onFailure: (reason) => about.metrics.ledgerFailed(reason),
  })
}
