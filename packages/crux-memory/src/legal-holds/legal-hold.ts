import type { FactProjection } from '../facts/fact-projection.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { LEGAL_HOLD_PREFIX } from '../privacy.js'

/** Schema name of a hold, as it stands in its fact. */
export const LEGAL_HOLD_SCHEMA = 'crux.legal_hold.v1'
/** Key of the fact that holds a hold's state. */
export const LEGAL_HOLD_KEY = 'state'

/** A hold that keeps facts from being forgotten; times are RFC 3339 in UTC. */
export interface LegalHold {
  readonly schema: typeof LEGAL_HOLD_SCHEMA
  /** `lh_` and 32 hex digits. */
  readonly hold_id: string
  readonly tenant_id: string
  /** Starts of stored entities; empty covers the whole tenant. */
  readonly entity_prefixes: readonly string[]
  readonly reason: string
  readonly placed_at: string
  readonly placed_by: string
  readonly place_receipt_id: string
  readonly released_at?: string
  readonly released_by?: string
  readonly release_receipt_id?: string
}

/** Whether a hold keeps facts with this stored entity; the tenant is the hold's own. */
export function holdCovers(hold: LegalHold, storedEntity: string): boolean {
  if (hold.released_at !== undefined) return false
  const { entity_prefixes: prefixes } = hold
  return prefixes.length === 0 || prefixes.some((prefix) => storedEntity.startsWith(prefix))
}

/** Holds of a tenant, released ones included, in the order in which they were placed. */
export function holdsOf(projection: FactProjection, tenant: string): readonly LegalHold[] {
  const table = projection.table(tenant)
  return table === undefined ? [] : table.holdEntities.map((entity) => readHold(table, entity))
}

/** Holds of a tenant that are in force. */
export function activeHolds(projection: FactProjection, tenant: string): readonly LegalHold[] {
  return holdsOf(projection, tenant).filter((hold) => hold.released_at === undefined)
}

/** The state of one hold: its newest version that can be read, deleted ones included. */
function readHold(table: FactTable, entity: number): LegalHold {
  const name = table.entities.text(entity)
  const chain = table.findChain(name, LEGAL_HOLD_KEY)
  const rows = chain === NONE ? [] : table.chainRows(chain).reverse()
  for (const row of rows) {
    const hold = parseHold(table.value(row))
    if (hold !== undefined) return hold
  }
  // A hold that nobody can read may cover anything.
  return {
    schema: LEGAL_HOLD_SCHEMA,
    hold_id: name.slice(LEGAL_HOLD_PREFIX.length),
    tenant_id: table.tenant,
    entity_prefixes: [],
    reason: 'the record of this hold cannot be read',
    placed_at: '',
    placed_by: '',
    place_receipt_id: '',
  }
}

function parseHold(text: string): LegalHold | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  // Each member is looked at below.
  const hold = value as Record<string, unknown>
  const prefixes = hold.entity_prefixes
  const names = ['hold_id', 'tenant_id', 'reason', 'placed_at', 'placed_by', 'place_receipt_id']
  if (hold.schema !== LEGAL_HOLD_SCHEMA) return undefined
  if (!names.every((name) => typeof hold[name] === 'string')) return undefined
  if (!Array.isArray(prefixes) || !prefixes.every((one) => typeof one === 'string')) {
    return undefined
  }
  return value as LegalHold
}
