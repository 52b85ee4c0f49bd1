import type { Caller } from 'crux-types'
import type { Fact } from '../fact.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { ownersOf, visibleEntity } from '../privacy.js'

/** What one caller sees of its tenant's facts. */
export class Sight {
  /** Names whose private facts the caller sees. */
  readonly owners: readonly string[]
  private readonly ownerEntries: readonly number[]

  constructor(
    caller: Caller,
    private readonly table: FactTable,
  ) {
    this.owners = ownersOf(caller)
    this.ownerEntries = this.owners
      .map((owner) => table.owners.findText(owner))
      .filter((entry) => entry !== NONE)
  }

  /** Whether the caller may see the fact in a row, deleted or not. */
  sees(row: number): boolean {
    const owner = this.table.ownerOf(this.table.entityOf.get(row))
    return owner === NONE ? !this.table.isPrivate(row) : this.ownerEntries.includes(owner)
  }

  /** Whether the caller may see facts of an entity that are not private by themselves. */
  seesEntity(entity: number): boolean {
    const owner = this.table.ownerOf(entity)
    return owner === NONE || this.ownerEntries.includes(owner)
  }

  /** Entity of a row as the caller sees it; undefined when it may not see the fact. */
  entity(row: number): string | undefined {
    return visibleEntity(this.owners, this.table.entity(row), this.table.isPrivate(row))
  }

  /** The same of a fact that was read already, which costs less. */
  entityOf(fact: Fact): string | undefined {
    return visibleEntity(this.owners, fact.entity, fact.private)
  }
}
