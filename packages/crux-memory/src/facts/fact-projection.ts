import type { JournalRecord, Position } from 'crux-storage'
import type { Fact } from '../fact.js'
import { ForgetLedger, type LedgerState } from '../forgetting/forget-ledger.js'
import type { ForgetLine } from '../forgetting/forget-lines.js'
import type { PrivacyPolicy } from '../privacy.js'
import type { Consolidation } from './consolidation-edge.js'
import { FactTable, NONE } from './fact-table.js'
import { decodeFactLine, ERASURE_KEY, type FactLine, PlannedRecord } from './journal-line.js'

/** Where a fact stands. */
export interface FactPlace {
  readonly table: FactTable
  readonly row: number
}

/** All facts as the journal determines them; changed only by {@link FactProjection.apply}. */
export class FactProjection {
  /** Newest position applied; 0 before the first. */
  applied: Position = 0
  /** Newest position of a change that forgets, restores, purges or holds; 0 when none is known. */
  erasurePosition: Position = 0
  readonly forgotten = new ForgetLedger()
  private readonly tables = new Map<string, FactTable>()
  private readonly waiting = new Map<() => void, Position>()

  /**
   * @param onWarning - Told of each line that was skipped; without stored text.
   * @param onChange - Told of each table that got a row or lost a value for good.
   */
  constructor(
    private readonly policy: PrivacyPolicy,
    private readonly onWarning: (message: string) => void,
    private readonly onChange: (table: FactTable) => void,
  ) {}

  /** Facts of a tenant; undefined when none was ever written. */
  table(tenant: string): FactTable | undefined {
    return this.tables.get(tenant)
  }

  allTables(): IterableIterator<FactTable> {
    return this.tables.values()
  }

  /** Change the state by one record of the journal; never throws on what the record holds. */
  apply(record: JournalRecord, at: Position): void {
    const line = record instanceof PlannedRecord ? record.line : decodeFactLine(record.bytes)
    // Lines of other programs have no key, and then no position to compare with.
    const keyed = record.key === '' ? undefined : at
    if (typeof line === 'string') {
      this.onWarning(`facts: skipped the line at position ${at}: ${line}`)
    } else if (line.op === 'store') {
      this.insert(line.fact, keyed, at)
    } else {
      this.applyLine(line, keyed, tenantOfKey(record.key), at)
    }
    if (record.key === ERASURE_KEY) this.erasurePosition = at
    this.applied = at
    if (this.waiting.size > 0) this.wake(at)
  }

  private wake(at: Position): void {
    for (const [resume, position] of this.waiting) {
      if (position > at) continue
      this.waiting.delete(resume)
      resume()
    }
  }

  /** The facts of a tenant, an empty table when there are none. */
  addTable(tenant: string): FactTable {
    let table = this.tables.get(tenant)
    if (table === undefined) {
      table = new FactTable(tenant, this.policy)
      this.tables.set(tenant, table)
    }
    return table
  }

  /** Take back what an unreadable snapshot brought. */
  clear(): void {
    this.tables.clear()
    this.applied = 0
  }

  /** Put a fact back from a snapshot, with the position of its chain and what it consolidated. */
  restore(fact: Fact, chainPosition: Position | undefined, consolidation?: Consolidation): void {
    this.insert(fact, chainPosition, undefined)
    if (consolidation === undefined) return
    const place = this.findFact(fact.fact_id, fact.tenant_hash)
    if (place !== undefined) place.table.consolidations.set(place.row, consolidation)
  }

  /** Put what was forgotten back from a snapshot, after the facts. */
  restoreForgotten(state: LedgerState): void {
    this.forgotten.restore(state)
    for (const { status, factIds, derivedFactIds, tenant } of state.entries) {
      if (status !== 'forgotten') continue
      this.eachFact([...factIds, ...derivedFactIds], tenant, ({ table, row }) =>
        table.setForgotten(row, true),
      )
    }
  }

  /** Resolves once the record at a position has been applied. */
  async reached(position: Position): Promise<void> {
    if (position <= this.applied) return
    await new Promise<void>((resolve) => {
      this.waiting.set(resolve, position)
    })
  }

  /** @param tenant - Looked in first; the id is unique over all tenants. */
  findFact(id: string, tenant: string | undefined): FactPlace | undefined {
    const first = tenant === undefined ? undefined : this.tables.get(tenant)
    const row = first?.ids.find(id) ?? NONE
    if (first !== undefined && row !== NONE) return { table: first, row }
    for (const table of this.tables.values()) {
      const other = table === first ? NONE : table.ids.find(id)
      if (other !== NONE) return { table, row: other }
    }
    return undefined
  }

  private applyLine(
    line: Exclude<FactLine, { op: 'store' }>,
    keyed: Position | undefined,
    tenant: string | undefined,
    at: Position,
  ): void {
    const change = (id: string, what: (place: FactPlace) => void): void => {
      const place = this.findFact(id, tenant)
      if (place === undefined) {
        this.onWarning(
          `facts: the line at position ${at} (${line.op}) names a fact that is not there`,
        )
        return
      }
      what(place)
      if (keyed !== undefined) {
        place.table.setChainPosition(place.table.chainOfRow(place.row), keyed)
      }
    }
    switch (line.op) {
      case 'store_batch':
        for (const fact of line.facts) this.insert(fact, keyed, at)
        break
      case 'delete':
        change(line.fact_id, ({ table, row }) => table.markDeleted(row))
        break
      case 'supersede':
        change(line.fact_id, ({ table, row }) => table.setSupersededBy(row, line.by_fact_id))
        break
      case 'clear_supersede':
        change(line.fact_id, ({ table, row }) => table.setSupersededBy(row, undefined))
        break
      case 'set_validity':
        change(line.fact_id, ({ table, row }) =>
          table.setValidity(row, line.valid_from, line.valid_to),
        )
        break
      case 'set_horizon':
        change(line.fact_id, ({ table, row }) => table.setHorizon(row, line.horizon_class))
        break
      case 'reverify':
        change(line.fact_id, ({ table, row }) => table.setReverifiedAt(row, line.reverified_at))
        break
      case 'consolidate':
        this.insert(line.canonical, keyed, at)
        change(line.canonical.fact_id, ({ table, row }) => {
          table.consolidations.set(row, {
            supersededIds: line.superseded_fact_ids,
            earlier: line.earlier ?? [],
            isUndone: false,
          })
        })
        for (const id of line.superseded_fact_ids) {
          change(id, ({ table, row }) => table.setSupersededBy(row, line.canonical.fact_id))
        }
        break
      case 'consolidate_undo':
        change(line.canonical_fact_id, ({ table, row }) => {
          table.markDeleted(row)
          const consolidation = table.consolidations.get(row)
          if (consolidation === undefined) return
          table.consolidations.set(row, { ...consolidation, isUndone: true })
        })
        for (const id of line.restored_fact_ids) {
          change(id, ({ table, row }) => table.setSupersededBy(row, undefined))
        }
        break
      default:
        this.applyForget(line)
    }
  }

  private applyForget(line: ForgetLine): void {
    if (!this.forgotten.apply(line)) return
    if (line.op === 'values_erased') return
    if (line.op === 'compact') {
      this.eachFact(line.fact_ids, undefined, (place) => this.wipe(place))
      return
    }
    const entry = this.forgotten.get(line.receipt_id)
    if (entry === undefined) return
    this.eachFact([...entry.factIds, ...entry.derivedFactIds], entry.tenant, (place) => {
      if (line.op === 'forget_purge') this.wipe(place)
      else place.table.setForgotten(place.row, line.op === 'forget')
    })
  }

  private wipe({ table, row }: FactPlace): void {
    table.wipe(row)
    this.onChange(table)
  }

  private eachFact(
    ids: readonly string[],
    tenant: string | undefined,
    use: (place: FactPlace) => void,
  ): void {
    for (const id of ids) {
      const place = this.findFact(id, tenant)
      if (place !== undefined) use(place)
    }
  }

  /** @param at - Position of its line; undefined when the snapshot has it. */
  private insert(fact: Fact, keyed: Position | undefined, at: Position | undefined): void {
    const table = this.addTable(fact.tenant_hash)
    if (!table.insert(fact, keyed)) {
      const where = at === undefined ? 'the snapshot' : `position ${at}`
      this.onWarning(`facts: ignored a second fact with id ${fact.fact_id} at ${where}`)
      return
    }
    this.onChange(table)
  }
}

function tenantOfKey(key: string): string | undefined {
  const end = key.indexOf('/')
  return end <= 0 ? undefined : key.slice(0, end)
}
