export type { ConsolidationRefusal } from './consolidation/consolidate-facts.js'
export type {
  ConsolidateInput,
  ConsolidationReceipt,
  Consolidations,
} from './consolidation/consolidation.js'
export type { Contradiction } from './consolidation/contradictions.js'
export type { ReviewRun } from './consolidation/review.js'
export type { UndoReport } from './consolidation/undo-consolidation.js'
export {
  ageHours,
  defaultHorizonClass,
  effectiveConfidence,
  freshnessAt,
  HORIZON_CLASSES,
  type Horizons,
  horizonStretch,
  horizonsOf,
  parseHorizon,
} from './decay.js'
export type { MemoryErrorCode } from './errors.js'
export type { Fact, Freshness, HorizonClass } from './fact.js'
export type {
  BootstrapAnswer,
  BootstrapQuery,
  FactPage,
  FactQuery,
  FactStore,
  FactView,
  RankedFact,
  StoreFactInput,
  StoreFactResult,
} from './fact-store.js'
export { shortFloat32 } from './facts/float32.js'
export type {
  FactFreshness,
  FreshnessPage,
  Reverification,
  SweepCandidate,
  SweepReason,
} from './freshness/fact-freshness.js'
export { type FactStoreOptions, openFactStore } from './open-fact-store.js'
export type { UsedInTurn } from './panel/acknowledgements.js'
export type {
  Acknowledgement,
  EditedFact,
  HistoryOf,
  MemoryHistory,
  MemoryPanel,
  UsedFact,
} from './panel/memory-panel.js'
export {
  AGENT_PREFIX,
  createPrivacyPolicy,
  type PrivacyPolicy,
  splitPrivateEntity,
} from './privacy.js'
export { BOOTSTRAP_PREFIX } from './recall/bootstrap-facts.js'
export type {
  ExportedFact,
  ExportQuery,
  FactTransfer,
  ImportFactInput,
  ImportOutcome,
} from './transfer/fact-transfer.js'
export { MAX_NAME_BYTES, MAX_VALUE_BYTES } from './writing/store-fact.js'
