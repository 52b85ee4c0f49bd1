export {
  type Candidate,
  type CandidateSource,
  type CandidateStatus,
  candidateRecord,
} from './candidates/candidate.js'
export type { CandidateFacts, Promoter, Proposal } from './candidates/candidate-facts.js'
export {
  type Extraction,
  extractStatements,
  type Statement,
} from './candidates/extract-statements.js'
export type { NearDuplicate, NearDuplicates } from './candidates/near-duplicates.js'
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
  AggregateQuery,
  BootstrapAnswer,
  BootstrapQuery,
  FactAggregate,
  FactMatch,
  FactPage,
  FactQuery,
  FactScoreSpace,
  FactStore,
  FactView,
  HistoryPage,
  PageMark,
  RankedFact,
  StoreFactInput,
  StoreFactResult,
  ViewFilter,
} from './fact-store.js'
export { shortFloat32 } from './facts/float32.js'
export { ARTEFACT_COPIES, artefactCopies } from './forgetting/artefact-copies.js'
export type { PurgeFailpoint } from './forgetting/eraser.js'
export type { ForgetEntry } from './forgetting/forget-ledger.js'
export type { CopyRef } from './forgetting/forget-lines.js'
export type {
  CompactReport,
  ErasableCopies,
  ForgetCandidate,
  ForgetMark,
  ForgetPreview,
  ForgetReceipt,
  ForgetRequest,
  ForgettingStore,
  ListedForget,
  PurgeReceipt,
  PurgeRun,
} from './forgetting/forgetting-store.js'
export { type ForgetScope, parseScope, renderScope, SCOPE_TYPES } from './forgetting/scope.js'
export { isAuditReserved } from './freshness/audit-reserved.js'
export type {
  FactFreshness,
  FreshnessPage,
  OldestFilter,
  PageRequest,
  Reverification,
  SweepCandidate,
  SweepReason,
} from './freshness/fact-freshness.js'
export type { LegalHold } from './legal-holds/legal-hold.js'
export type {
  LegalHoldChange,
  LegalHoldReceipt,
  LegalHoldStore,
} from './legal-holds/legal-hold-store.js'
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
  EXTENSION_GRANT_PREFIX,
  EXTENSION_PREFIX,
  type PrivacyPolicy,
  splitPrivateEntity,
} from './privacy.js'
export { AGGREGATE_OPS } from './recall/aggregate-facts.js'
export { BOOTSTRAP_PREFIX, ENGRAM_PREFIX, GAPS_PREFIX } from './recall/bootstrap-facts.js'
export type {
  Artefact,
  ArtefactStore,
  PutArtefactInput,
} from './substrate/artefacts/artefact-store.js'
export {
  type ArtefactStoreOptions,
  DEFAULT_ARTEFACT_TTL_SECONDS,
  DEFAULT_MAX_ARTEFACT_BYTES,
  MAX_ARTEFACT_TTL_SECONDS,
  MAX_OWNER_BYTES,
  openArtefactStore,
} from './substrate/artefacts/open-artefact-store.js'
export type { Blake3 } from './substrate/blake3.js'
export { BUILT_IN_KINDS, CAPABILITY_KIND, DOCUMENT_KIND } from './substrate/built-in-kinds.js'
export {
  type DocumentEdge,
  type DocumentEdges,
  type EdgeName,
  type EdgeRecord,
  type EdgeStore,
  openEdgeStore,
} from './substrate/edge-store.js'
export {
  createEngramCatalogue,
  type EngramCatalogue,
  type EngramManifest,
  type EngramQuery,
  type ResolvedEngrams,
} from './substrate/engrams/engram-catalogue.js'
export { type EntityRecord, type EntityStore, openEntityStore } from './substrate/entity-store.js'
export type { SubstrateErrorCode } from './substrate/errors.js'
export {
  createKindRegistry,
  type KindRegistration,
  type KindRegistry,
} from './substrate/kind-registry.js'
export {
  openSubstrate,
  type Substrate,
  type SubstrateOptions,
} from './substrate/open-substrate.js'
export { type SimilarCapability, similarCapabilities } from './substrate/similar-capabilities.js'
export { MAX_PAYLOAD_BYTES } from './substrate/versioned-records.js'
export type {
  ExportedFact,
  ExportQuery,
  FactTransfer,
  ImportFactInput,
  ImportOutcome,
} from './transfer/fact-transfer.js'
export { MAX_NAME_BYTES, MAX_VALUE_BYTES } from './writing/store-fact.js'
