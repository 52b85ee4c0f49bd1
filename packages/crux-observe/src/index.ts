export { TokenAccounts, type TokenUsage } from './accounting/token-accounts.js'
export {
  ACTIVITY_KINDS,
  type ActivityEntry,
  type ActivityInput,
  type ActivityKind,
  activityEntrySchema,
  activityInputSchema,
  activityKinds,
} from './activity/activity-entry.js'
export {
  type ActivityLog,
  type ActivityPage,
  type ActivityQuery,
  type ActivityTurn,
  MAX_ACTIVITY_ROWS,
} from './activity/activity-log.js'
export type { ActivityVerification } from './activity/activity-receipt.js'
export { type ActivityRow, activityRowSchema } from './activity/activity-row.js'
export {
  ACTIVITY_STREAM,
  type ActivityLogOptions,
  openActivityLog,
} from './activity/open-activity-log.js'
export type { BootstrapEntry } from './bootstrap/entry.js'
export { bootstrapGroups, type SeedReport, seedBootstrap } from './bootstrap/seed.js'
export type { DescribedTool } from './bootstrap/tool-outputs.js'
export {
  CAPTURED_KINDS,
  type Capture,
  captureFromSession,
  captureFromText,
  MAX_CAPTURE_TEXT_BYTES,
  MAX_CAPTURED,
} from './capture/capture-statements.js'
export type { ObserveErrorCode } from './errors.js'
export { isControl } from './holdout/assign-arm.js'
export { type HoldoutSnapshot, OutputHoldout } from './holdout/output-holdout.js'
export { pairedSavings, type Savings, unpairedSavings } from './holdout/savings.js'
export type { LedgerCall, LedgerHash } from './ledger/invocation-record.js'
export {
  createToolLedger,
  type LedgerFailure,
  type OfferedList,
  type ToolLedger,
  type ToolLedgerOptions,
} from './ledger/tool-ledger.js'
export {
  createObservability,
  type Observability,
  type ObservabilityOptions,
  type SessionBudget,
} from './observability.js'
export type {
  Acknowledgement,
  Observation,
  ObservationInput,
  Receipt,
} from './observations/observation.js'
export { receiptSchema } from './observations/observation.js'
export type {
  FoundText,
  ObservationPage,
  ObservationQuery,
  ObservationStore,
  ObservedSession,
} from './observations/observation-store.js'
export {
  DEFAULT_PAYLOAD_BYTES,
  type ObservationStoreOptions,
  openObservationStore,
} from './observations/open-observation-store.js'
export { MAX_LABEL_BYTES } from './observations/prepare-record.js'
export { createRecordSigner, SEED_BYTES } from './observations/record-signer.js'
export { ledgerSession } from './observations/session-reach.js'
export type { RecordHash, RecordSigner } from './observations/sign-record.js'
export type { FileChain, RecordInChain, Verification } from './observations/verify-record.js'
export { createToolSpans, type ToolSpan, type ToolSpans } from './spans/tool-spans.js'
export { callSignature } from './traces/call-signature.js'
export { type EffectKind, type PredictedEffect, predictEffect } from './traces/predicted-effect.js'
export { type Guardrail, proposeGuardrails } from './traces/propose-guardrails.js'
export type { TracedCall, TraceEntry } from './traces/trace-entry.js'
export { MAX_TRACES, TraceRings } from './traces/trace-rings.js'
