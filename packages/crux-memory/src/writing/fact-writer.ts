import type { Journal, JournalRecord, Position } from 'crux-storage'
import { type Caller, requireWriter } from 'crux-types'
import type { StoreFactInput, StoreFactResult } from '../fact-store.js'
import type { FactProjection } from '../facts/fact-projection.js'
import type { FactTable } from '../facts/fact-table.js'
import { NONE } from '../facts/fact-table.js'
import { chainKey, encodeFactLine, type FactLine } from '../facts/journal-line.js'
import { Sight } from '../recall/sight.js'
import { type ChainChange, type ChainHead, ChainLanes, type ChainState } from './chain-lanes.js'
import { planStore, type StoreContext } from './store-fact.js'

/** A visible fact that is about to be changed. */
export interface FactInHand {
  readonly table: FactTable
  readonly row: number
  /** What the caller sees of the table. */
  readonly sight: Sight
}

/** What to do with a fact. */
export interface FactChange<T> {
  /** Whether a deleted fact counts as absent. */
  readonly isLiveOnly: boolean
  /**
   * The change, planned while nothing else changes the fact's chain; may run again after a conflict.
   *
   * @param now - Milliseconds since 1970-01-01 UTC.
   * @throws what refuses it.
   */
  plan(
    fact: FactInHand,
    now: number,
  ): {
    /** About facts of the same chain. */
    readonly lines: readonly FactLine[]
    /** About other chains; part of the same append. */
    readonly others?: readonly JournalRecord[]
    readonly result: T
  }
}

const EMPTY_CHAIN: ChainHead = { factId: undefined, version: 0 }

/** Changes facts: every write goes through the lane of its version chain. */
export class FactWriter {
  private readonly lanes: ChainLanes

  constructor(
    journal: Journal,
    /** What planning a new fact needs to know. */
    readonly storing: StoreContext,
    /** @throws {CruxError} `FACT_STORE_CLOSED`. */
    readonly requireOpen: () => void,
  ) {
    this.lanes = new ChainLanes(journal, (position) => storing.projection.reached(position))
  }

  /**
   * Store a new version.
   *
   * @param extend - Records to append together with it.
   * @throws {CruxError} what `planStore` and the journal throw.
   */
  store(
    caller: Caller,
    input: StoreFactInput,
    extend?: (result: StoreFactResult) => readonly JournalRecord[],
  ): Promise<StoreFactResult> {
    // Not async: a promise less for each fact that is stored.
    try {
      this.requireOpen()
      const { chainKey: key, storedEntity, change } = planStore(this.storing, caller, input)
      const state = this.chainState(caller.tenant, storedEntity, input.key)
      if (extend === undefined) return this.lanes.submit(key, state, change)
      return this.lanes.submit(key, state, {
        ...change,
        plan(head) {
          const plan = change.plan(head)
          return { ...plan, records: [...plan.records, ...extend(plan.result)] }
        },
      })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Change a fact of the caller's tenant that it sees; undefined when there is none. */
  async change<T>(caller: Caller, factId: string, change: FactChange<T>): Promise<T | undefined> {
    this.requireOpen()
    requireWriter(caller)
    const found = this.find(caller, factId, change.isLiveOnly)
    if (found === undefined) return undefined
    const entity = found.table.entity(found.row)
    const key = found.table.key(found.row)
    const recordKey = chainKey(caller.tenant, entity, key)
    return this.submit<T | undefined>(caller.tenant, entity, key, {
      plan: (head) => {
        const fact = this.find(caller, factId, change.isLiveOnly)
        if (fact === undefined) return { records: [], head, result: undefined }
        const { lines, others = [], result } = change.plan(fact, this.storing.clock.now())
        const own = lines.map((line) => ({ key: recordKey, bytes: encodeFactLine(line) }))
        return { records: [...own, ...others], head, result }
      },
      isStackable: false,
      weight: 0,
    })
  }

  /** Queue a change of the chain of (tenant, stored entity, key). */
  async submit<T>(
    tenant: string,
    storedEntity: string,
    key: string,
    change: ChainChange<T>,
  ): Promise<T> {
    this.requireOpen()
    const state = this.chainState(tenant, storedEntity, key)
    return this.lanes.submit(chainKey(tenant, storedEntity, key), state, change)
  }

  /** Newest version of the chain of (tenant, stored entity, key), without what is still on its way. */
  head(tenant: string, storedEntity: string, key: string): ChainHead {
    return this.chainState(tenant, storedEntity, key).head()
  }

  /** A fact of the caller's tenant that it sees; undefined when there is none. */
  find(caller: Caller, factId: string, isLiveOnly: boolean): FactInHand | undefined {
    const table = this.storing.projection.table(caller.tenant)
    const row = table?.ids.find(factId) ?? NONE
    if (table === undefined || row === NONE) return undefined
    if (isLiveOnly && table.isDeleted(row)) return undefined
    const sight = new Sight(caller, table)
    return sight.sees(row) ? { table, row, sight } : undefined
  }

  private chainState(tenant: string, storedEntity: string, key: string): ChainState {
    return new KnownChain(this.storing.projection, tenant, storedEntity, key)
  }
}

/** The chain of (tenant, stored entity, key) as the projection has it, looked up no more often than needed. */
class KnownChain implements ChainState {
  private table: FactTable | undefined
  private chain = NONE
  private askedAt = -1

  constructor(
    private readonly projection: FactProjection,
    private readonly tenant: string,
    private readonly storedEntity: string,
    private readonly key: string,
  ) {}

  head(): ChainHead {
    const table = this.find()
    if (table === undefined) return EMPTY_CHAIN
    const row = table.newestLive(this.chain)
    return {
      factId: row === NONE ? undefined : table.ids.id(row),
      version: table.newestVersion(this.chain),
    }
  }

  position(): Position {
    return this.find()?.chainPosition(this.chain) ?? 0
  }

  /** The table that has the chain. */
  private find(): FactTable | undefined {
    const { projection } = this
    // A chain that is there stays; one that is not may come with the next record.
    if (this.table !== undefined || this.askedAt === projection.applied) return this.table
    this.askedAt = projection.applied
    const table = projection.table(this.tenant)
    if (table === undefined) return undefined
    this.chain = table.findChain(this.storedEntity, this.key)
    if (this.chain !== NONE) this.table = table
    return this.table
  }
}
