import type { JournalRecord } from 'crux-storage'
import {
  assertTenant,
  assertText,
  type Caller,
  CruxError,
  requireReadableTenant,
  requireWriter,
} from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { Fact } from '../fact.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { chainKey, decodeFact, encodeFactLine } from '../facts/journal-line.js'
import { anyTimeMs } from '../facts/stored-time.js'
import type { ChainHead } from '../writing/chain-lanes.js'
import type { FactWriter } from '../writing/fact-writer.js'
import { MAX_NAME_BYTES, MAX_VALUE_BYTES } from '../writing/store-fact.js'
import type { ExportedFact, ImportOutcome } from './fact-transfer.js'
import { requireAdmin } from './require-admin.js'

/** Facts on their way to the journal, by id. */
export type RestoresUnderway = Map<string, Fact>

/** How far the clocks of two machines may be apart. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000

/**
 * Put one fact of an export back with its id, version, times and marks.
 *
 * @param underway - Shared by all restores of a store.
 * @throws {CruxError} see `FactTransfer.restoreFact`.
 */
export async function restoreFact(
  writer: FactWriter,
  underway: RestoresUnderway,
  caller: Caller,
  exported: { readonly fact: unknown; readonly consolidated?: ExportedFact['consolidated'] },
  isDryRun: boolean,
): Promise<ImportOutcome> {
  requireWriter(caller)
  requireAdmin(caller, 'admin:write')
  const { projection, clock } = writer.storing
  const fact = readFact(exported.fact, caller, clock.now())
  const { tenant_hash: tenant, fact_id: factId, entity, key } = fact
  const table = (): FactTable | undefined => projection.table(tenant)
  const known = (): ImportOutcome | undefined => {
    const place = projection.findFact(factId, tenant)
    if (place !== undefined && place.table.tenant !== tenant) {
      throw conflict(fact, 'its id belongs to a fact of another tenant')
    }
    const other = underway.get(factId)
    if (place === undefined && (other === undefined || other === fact)) return undefined
    const version = place?.table.version.get(place.row) ?? fact.version
    return { status: 'unchanged', factId, version }
  }
  /** The fact with an id in this tenant: where it stands, or on its way. */
  const retiredBy = (id: string): { isThere: boolean; by: string | undefined } => {
    const row = table()?.ids.find(id) ?? NONE
    if (row === NONE) return { isThere: underway.has(id), by: underway.get(id)?.superseded_by }
    return { isThere: true, by: table()?.retiredBy(row) }
  }
  const isFollowing = (head: ChainHead): boolean => {
    if (head.factId === undefined || retiredBy(head.factId).by !== undefined) return true
    return fact.supersedes !== undefined && isOfChain(fact.supersedes)
  }
  const isOfChain = (id: string): boolean => {
    const other = underway.get(id)
    if (other !== undefined) return other.entity === entity && other.key === key
    const found = table()
    const row = found?.ids.find(id) ?? NONE
    return (
      found !== undefined && row !== NONE && found.entity(row) === entity && found.key(row) === key
    )
  }
  const check = (head: ChainHead): ImportOutcome | undefined => {
    const result = known()
    if (result === undefined && !isFollowing(head)) {
      throw conflict(fact, 'its entity and key hold another current value here')
    }
    return result
  }
  const added: ImportOutcome = { status: 'added', factId, version: fact.version }
  if (isDryRun) return check(writer.head(tenant, entity, key)) ?? added

  const recordKey = chainKey(tenant, entity, key)
  try {
    return await writer.submit<ImportOutcome>(tenant, entity, key, {
      isStackable: true,
      weight: fact.value.length + entity.length + key.length + 1024,
      plan(head) {
        const result = check(head)
        if (result !== undefined) return { records: [], head, result }
        underway.set(factId, fact)
        const lines = linesOf(fact, exported.consolidated, retiredBy)
        const records: JournalRecord[] = lines.map((line) => ({
          key: recordKey,
          bytes: encodeFactLine(line),
        }))
        const isHidden = fact.deleted
        return { records, head: isHidden ? head : { factId, version: fact.version }, result: added }
      },
    })
  } finally {
    if (underway.get(factId) === fact) underway.delete(factId)
  }
}

type Line = Parameters<typeof encodeFactLine>[0]

function linesOf(
  fact: Fact,
  consolidated: ExportedFact['consolidated'],
  retiredBy: (id: string) => { isThere: boolean; by: string | undefined },
): Line[] {
  const lines: Line[] = []
  const sources = consolidated?.factIds.filter((id) => retiredBy(id).isThere) ?? []
  if (consolidated === undefined || sources.length === 0) {
    lines.push({ op: 'store', fact })
  } else {
    const { earlier } = consolidated
    lines.push({ op: 'consolidate', canonical: fact, superseded_fact_ids: sources, earlier })
    // The line points them all at the canonical fact; some may have been retired by others since.
    for (const id of sources) {
      const { by } = retiredBy(id)
      if (by !== undefined && by !== fact.fact_id) {
        lines.push({ op: 'supersede', fact_id: id, by_fact_id: by })
      }
    }
  }
  const { supersedes } = fact
  if (supersedes === undefined || fact.deleted) return lines
  const before = retiredBy(supersedes)
  // It was the newest version here until now.
  if (before.isThere && before.by === undefined) {
    lines.push({ op: 'supersede', fact_id: supersedes, by_fact_id: fact.fact_id })
  }
  return lines
}

function readFact(value: unknown, caller: Caller, now: number): Fact {
  const fact = decodeFact(value)
  if (typeof fact === 'string') throw invalid(fact)
  if (fact.forgotten === true) throw invalid('it was forgotten, and its value is gone')
  assertTenant(fact.tenant_hash)
  requireReadableTenant(caller, fact.tenant_hash)
  for (const field of ['fact_id', 'entity', 'key', 'source_receipt', 'actor'] as const) {
    const text = fact[field]
    if (typeof text !== 'string') continue
    assertText(text, { field, maxBytes: MAX_NAME_BYTES, allowControl: false })
  }
  assertText(fact.value, { field: 'value', maxBytes: MAX_VALUE_BYTES, allowControl: true })
  if (!(fact.confidence >= 0 && fact.confidence <= 1)) {
    throw invalid(`confidence is ${fact.confidence}; expected a number within 0..1`)
  }
  if (fact.version < 1) throw invalid(`version is ${fact.version}; expected a number from 1`)
  // Later facts of the tenant would have to carry the same time: it never runs backwards.
  if ((anyTimeMs(fact.stored_at) ?? 0) > now + MAX_AHEAD_MS) {
    throw invalid(`stored_at ${fact.stored_at} lies more than a day in the future`)
  }
  if (caller.tenants === '*') return fact
  // Seeded facts are shown in every tenant, so only who reaches all of them may bring some.
  const { seeded, ...rest } = fact
  return rest
}

function invalid(why: string): CruxError<MemoryErrorCode> {
  return new CruxError('IMPORT_INVALID', `this is no fact of an export of everything: ${why}`)
}

function conflict(fact: Fact, why: string): CruxError<MemoryErrorCode> {
  return new CruxError(
    'IMPORT_CONFLICT',
    `fact ${fact.fact_id} was not restored: ${why}; restore into an empty data directory, or import an export without --all`,
    { data: { fact_id: fact.fact_id } },
  )
}
