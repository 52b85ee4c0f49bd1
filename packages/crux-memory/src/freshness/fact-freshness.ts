import { type Caller, CruxError, toStoredTime, uuidHex, type WorkWatch } from 'crux-types'
import { HORIZON_CLASSES, type Horizons } from '../decay.js'
import type { MemoryErrorCode } from '../errors.js'
import type { HorizonClass } from '../fact.js'
import type { PageMark, RankedFact } from '../fact-store.js'
import type { RecallContext } from '../recall/recall-context.js'
import type { FactInHand, FactWriter } from '../writing/fact-writer.js'
import { firstVersion } from '../writing/store-fact.js'
import { isAuditReserved, REVERIFY_PREFIX } from './audit-reserved.js'
import { collectEphemeral } from './ephemeral.js'
import { oldestFacts, sweepCandidates } from './oldest-facts.js'

/** Why a fact may go. */
export type SweepReason = 'stale' | 'superseded' | 'stale+superseded'

export interface SweepCandidate extends RankedFact {
  readonly reason: SweepReason
}

/** Rows of a report, and how many there would be without a limit. */
export interface FreshnessPage<Row> {
  /** Oldest first. */
  readonly rows: readonly Row[]
  /** Those that were given before do not count. */
  readonly matched: number
  /** Time at which freshness was taken, milliseconds since 1970-01-01 UTC. */
  readonly now: number
  /** Where to go on after each row. */
  readonly marks: readonly PageMark[]
}

/** Which part of a report is wanted. */
export interface PageRequest {
  readonly topK: number
  /** Go on after this mark; what was stored since its first page is left out. */
  readonly after?: PageMark | undefined
}

/** Which facts a report on age is about. */
export interface OldestFilter extends PageRequest {
  /** Exactly this stored entity. */
  readonly entity?: string
  readonly key?: string
}

export interface Reverification {
  /** `rev_` and 32 hex digits; also the key of the receipt. */
  readonly receiptId: string
  /** Milliseconds since 1970-01-01 UTC. */
  readonly reverifiedAt: number
}

/** How fresh facts are, and what changes it. Private facts and the system's own have no part in it. */
export interface FactFreshness {
  /** How long facts stay fresh. */
  readonly horizons: Horizons
  /**
   * Live facts that the caller sees, superseded ones included.
   *
   * @throws {CruxError} `QUERY_INVALID`.
   */
  oldest(caller: Caller, filter: OldestFilter): Promise<FreshnessPage<RankedFact>>
  /**
   * Live facts that the caller sees and that are stale or superseded. Changes nothing.
   *
   * @param watch - Follows and stops it.
   * @throws {CruxError} `QUERY_INVALID`.
   */
  sweepCandidates(
    caller: Caller,
    page: PageRequest,
    watch?: WorkWatch,
  ): Promise<FreshnessPage<SweepCandidate>>
  /**
   * Give a fact another horizon. False when no visible live fact has that id.
   *
   * @throws {CruxError} `HORIZON_INVALID`, `FACT_RESERVED`, `READ_ONLY_CALLER`.
   */
  setHorizon(caller: Caller, factId: string, horizonClass: HorizonClass): Promise<boolean>
  /**
   * Say that a fact still holds: its age counts from now. The receipt is a fact of its own, in the
   * same append. Undefined when no visible live fact has that id.
   *
   * @throws {CruxError} `FACT_RESERVED`, `READ_ONLY_CALLER`.
   */
  reverify(caller: Caller, factId: string): Promise<Reverification | undefined>
  /**
   * Delete the daemon's reverification receipts and session bindings that are older than 30 days, in
   * every tenant; the newest binding of each session stays.
   *
   * @returns How many were deleted.
   */
  collectEphemeral(): Promise<number>
}

/** Freshness of the facts that a context reads and a writer changes. */
export function createFactFreshness(context: RecallContext, writer: FactWriter): FactFreshness {
  const refuseReserved = ({ table, row }: FactInHand, factId: string): void => {
    if (!isAuditReserved(table.entity(row))) return
    throw new CruxError<MemoryErrorCode>(
      'FACT_RESERVED',
      `fact ${factId} is private or belongs to the system, and its freshness is not kept`,
      { data: { fact_id: factId } },
    )
  }

  return {
    horizons: context.horizons,
    async oldest(caller, filter) {
      writer.requireOpen()
      return oldestFacts(context, caller, filter)
    },

    async sweepCandidates(caller, page, watch) {
      writer.requireOpen()
      return sweepCandidates(context, caller, page, watch)
    },

    async setHorizon(caller, factId, horizonClass) {
      if (!HORIZON_CLASSES.includes(horizonClass)) {
        throw new CruxError<MemoryErrorCode>(
          'HORIZON_INVALID',
          `horizon_class is '${horizonClass}'; expected one of ${HORIZON_CLASSES.join(', ')}`,
          { data: { value: horizonClass, allowed: HORIZON_CLASSES } },
        )
      }
      const isDone = await writer.change(caller, factId, {
        isLiveOnly: true,
        plan(fact, now) {
          refuseReserved(fact, factId)
          const set_at = toStoredTime(now)
          return {
            lines: [{ op: 'set_horizon', fact_id: factId, horizon_class: horizonClass, set_at }],
            result: true,
          }
        },
      })
      return isDone === true
    },

    reverify: (caller, factId) =>
      writer.change(caller, factId, {
        isLiveOnly: true,
        plan(fact, now) {
          refuseReserved(fact, factId)
          const receiptId = `rev_${uuidHex()}`
          const reverified_at = toStoredTime(now)
          const receipt = {
            class: 'Reverify',
            fact_id: factId,
            reverified_by: caller.identity,
            reverified_at,
          }
          return {
            lines: [{ op: 'reverify', fact_id: factId, reverified_at, receipt_id: receiptId }],
            others: [
              firstVersion(writer.storing, {
                tenant_hash: caller.tenant,
                entity: `${REVERIFY_PREFIX}${factId}`,
                key: receiptId,
                value: JSON.stringify(receipt),
                source_receipt: receiptId,
                confidence: 1,
                private: true,
                horizon_class: 'stable',
              }),
            ],
            result: { receiptId, reverifiedAt: now },
          }
        },
      }),

    collectEphemeral: () => collectEphemeral(context, writer),
  }
}
