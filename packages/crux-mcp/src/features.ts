/** Groups of tools that the configuration switches; one that is off says so when it is called. */
export interface Features {
  /** `memory_view`, `memory_edit`, `memory_pin`, `memory_history`. */
  readonly memoryPanel: boolean
  /** `memory_freshness`, `memory_sweep_candidates`, `memory_set_horizon`, `memory_reverify`. */
  readonly freshness: boolean
  /** `memory_contradictions`, `memory_consolidate`. */
  readonly consolidation: boolean
  /** `memory_forget`. */
  readonly scopedForget: boolean
  /** `memory_acknowledge_use`. */
  readonly memoryAck: boolean
  /** `artefact_put`, `artefact_get`, `artefact_list`. */
  readonly artefacts: boolean
  /** `engram_resolve`. */
  readonly engrams: boolean
  /** `reuse_check`. */
  readonly reuseCheck: boolean
  /** What an answer used and cost, beside the answer of some tools. */
  readonly auditEnvelope: boolean
}

/** The switches as they stand when nothing is configured. */
export const DEFAULT_FEATURES: Features = Object.freeze({
  memoryPanel: true,
  freshness: true,
  consolidation: true,
  scopedForget: true,
  memoryAck: false,
  artefacts: false,
  engrams: false,
  reuseCheck: false,
  auditEnvelope: false,
})
