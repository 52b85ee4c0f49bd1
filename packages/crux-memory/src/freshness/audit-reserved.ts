import type { FactTable } from '../facts/fact-table.js'
import { AGENT_PREFIX, findPrefix } from '../privacy.js'

/** Entities of the daemon's own records that are of no use after a month. */
export const SESSION_BINDING_PREFIX = '__session_binding__::'
/** Start of the entities that hold a fact's reverification receipts, followed by its id. */
export const REVERIFY_PREFIX = '__reverify_receipts__::'

// Tested against the stored entity, so that private facts do not appear in reports about freshness.
const RESERVED: readonly string[] = [
  AGENT_PREFIX,
  '__ops::',
  '__bootstrap__::',
  SESSION_BINDING_PREFIX,
  REVERIFY_PREFIX,
]

/** Whether reports about freshness and use leave an entity out. */
export function isAuditReserved(storedEntity: string): boolean {
  return findPrefix(storedEntity, RESERVED) !== undefined
}

/** The same by row, for scans: each entity's name is looked at once. */
export function auditReservedRows(table: FactTable): (row: number) => boolean {
  const known = new Uint8Array(table.entities.size)
  return (row) => {
    const entity = table.entityOf.get(row)
    const before = known[entity]
    if (before === 1 || before === 2) return before === 2
    const isReserved = isAuditReserved(table.entities.text(entity))
    known[entity] = isReserved ? 2 : 1
    return isReserved
  }
}
