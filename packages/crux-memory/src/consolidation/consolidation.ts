import { type Caller, requireWriter, type WorkWatch } from 'crux-types'
import type { HorizonClass } from '../fact.js'
import type { RecallContext } from '../recall/recall-context.js'
import { Sight } from '../recall/sight.js'
import type { FactWriter } from '../writing/fact-writer.js'
import { consolidateFacts } from './consolidate-facts.js'
import { type Contradiction, findContradictions } from './contradictions.js'
import { type ReviewRun, reviewContradictions } from './review.js'
import { type UndoReport, undoConsolidation } from './undo-consolidation.js'

export interface ConsolidateInput {
  /** Entity and key that all targets share. */
  readonly entity: string
  readonly key: string
  /** What holds from now on. */
  readonly canonicalValue: string
  /** Facts that it stands for; the one in force must be among them. */
  readonly targetFactIds: readonly string[]
  /** Facts that must not be targets. */
  readonly protectedFactIds?: readonly string[]
  /** Names the act in the canonical fact's receipt. */
  readonly consolidationId: string
  /** Of the canonical fact; 0..1, default 1. */
  readonly confidence?: number
  /** Targets at least this sure are refused; default 0.99. */
  readonly protectedConfidenceFloor?: number
  /** Default: by the entity's prefix. */
  readonly horizonClass?: HorizonClass
}

export interface ConsolidationReceipt {
  readonly consolidationId: string
  readonly canonicalFactId: string
  /** The facts that were retired. */
  readonly supersededFactIds: readonly string[]
  /** The targets, as they were named. */
  readonly sourceFactIds: readonly string[]
}

/** Finding facts that contradict each other, and putting one in the place of several: explicit and undoable. */
export interface Consolidations {
  /**
   * Facts in force that say yes and no under one entity and key, of those that the caller sees.
   *
   * @param watch - Follows and stops it.
   * @throws {CruxError} `FACT_STORE_CLOSED`.
   */
  contradictions(caller: Caller, watch?: WorkWatch): Promise<readonly Contradiction[]>
  /**
   * Store one fact that retires several others, in one record; history keeps them all.
   *
   * @throws {CruxError} `CONSOLIDATION_REFUSED`, and nothing changed; `TEXT_INVALID`,
   *   `CONFIDENCE_INVALID`, `HORIZON_INVALID`, `READ_ONLY_CALLER`.
   */
  consolidate(caller: Caller, input: ConsolidateInput): Promise<ConsolidationReceipt>
  /**
   * Delete a canonical fact and put in force again what it retired, exactly as that was before.
   * Undefined when no visible fact has that id.
   *
   * @throws {CruxError} `UNDO_REFUSED`, `READ_ONLY_CALLER`.
   */
  undo(caller: Caller, canonicalFactId: string): Promise<UndoReport | undefined>
  /**
   * Look for contradictions in every tenant and store what was found as a review, for a person to
   * resolve; resolves nothing itself. Groups all of whose facts are protected are left out.
   */
  review(): Promise<readonly ReviewRun[]>
}

/** Consolidation of the facts that a context reads and a writer changes. */
export function createConsolidations(context: RecallContext, writer: FactWriter): Consolidations {
  return {
    async contradictions(caller, watch) {
      writer.requireOpen()
      const table = context.projection.table(caller.tenant)
      if (table === undefined) return []
      const sight = new Sight(caller, table)
      return findContradictions(table, { entityOf: (row) => sight.entity(row) }, watch)
    },

    async consolidate(caller, input) {
      requireWriter(caller)
      return consolidateFacts(context, writer, caller, input)
    },

    undo: (caller, canonicalFactId) => undoConsolidation(writer, caller, canonicalFactId),
    review: () => reviewContradictions(context, writer),
  }
}
