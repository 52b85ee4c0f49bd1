import type { Caller, CruxError } from 'crux-types'
import type { Fact, HorizonClass } from '../fact.js'
import type { EarlierLink } from '../facts/consolidation-edge.js'

export interface ExportQuery {
  /**
   * Every version with everything that is known of it, private and deleted ones included, of all
   * tenants that the caller may read; for administrators. Default false: what the caller sees.
   */
  readonly all?: boolean
  /** Id of the fact after which to go on. */
  readonly after?: string
  readonly signal?: AbortSignal
}

/** One fact of an export. */
export interface ExportedFact {
  /** With the stored entity in an export of everything, else with the entity as the caller sees it. */
  readonly fact: Fact
  /** Set on a canonical fact whose consolidation stands; only in an export of everything. */
  readonly consolidated?: {
    readonly factIds: readonly string[]
    readonly earlier: readonly EarlierLink[]
  }
}

/** A fact from elsewhere. */
export interface ImportFactInput {
  /** Names the item where it comes from; the same one is stored once. At most 4 KiB of UTF-8. */
  readonly sourceId: string
  readonly entity: string
  readonly key: string
  readonly value: string
  readonly sourceReceipt?: string
  /** 0..1; default 1. */
  readonly confidence?: number
  readonly private?: boolean
  readonly horizonClass?: HorizonClass
  readonly actor?: string
  /** World time; milliseconds since 1970-01-01 UTC. */
  readonly validFrom?: number
  readonly validTo?: number
  /** When it was last known to hold; its age counts from then. Milliseconds since 1970-01-01 UTC. */
  readonly observedAt?: number
  /** Id under which this store may have the fact itself already. */
  readonly factId?: string
}

export interface ImportOutcome {
  /** `unchanged`: it was there already, be it deleted or forgotten since. */
  readonly status: 'added' | 'unchanged'
  readonly factId: string
  /** 2 and more when it retired an earlier version. */
  readonly version: number
}

/** The part of a fact store that moves facts in and out. */
export interface FactTransfer {
  /**
   * Facts in the order in which they were stored. Forgotten ones are left out.
   *
   * @throws {CruxError} `ADMIN_REQUIRED`, `CURSOR_INVALID`.
   */
  exportFacts(caller: Caller, query: ExportQuery): AsyncIterable<ExportedFact>
  /**
   * Store a fact from elsewhere under an id made from its source id, unless it is there already.
   *
   * @param options.dryRun - Check everything, store nothing.
   * @throws {CruxError} what `store` throws, and `IMPORT_CONFLICT` when the source id was imported with
   *   another value.
   */
  importFact(
    caller: Caller,
    input: ImportFactInput,
    options?: { dryRun?: boolean },
  ): Promise<ImportOutcome>
  /**
   * Put facts of an export of everything back as they were, in one append; those whose ids are there
   * already are left as they are. The order of the export has to be kept.
   *
   * @returns One outcome a fact, in order; a `CruxError` for one that was refused: `IMPORT_INVALID`, a
   *   code of crux-types, or `IMPORT_CONFLICT` when it would stand beside a current value of the same
   *   (entity, key) that it does not follow.
   * @throws {CruxError} `ADMIN_REQUIRED`, `READ_ONLY_CALLER`, `FACT_CONFLICT` and the journal's codes.
   */
  restoreFacts(
    caller: Caller,
    exported: readonly {
      readonly fact: unknown
      readonly consolidated?: ExportedFact['consolidated']
    }[],
    options?: { dryRun?: boolean },
  ): Promise<readonly (ImportOutcome | CruxError)[]>
}
