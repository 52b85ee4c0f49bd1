import type { Journal, JournalRecord, Position } from 'crux-storage'
import {
  assertTenant,
  assertText,
  type Caller,
  type Clock,
  CruxError,
  hasCode,
  requireReadableTenant,
  requireWriter,
} from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { Fact } from '../fact.js'
import type { FactProjection } from '../facts/fact-projection.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { chainKey, decodeFact, encodeFactLine, type FactLine } from '../facts/journal-line.js'
import { anyTimeMs } from '../facts/stored-time.js'
import { MAX_NAME_BYTES, MAX_VALUE_BYTES } from '../writing/store-fact.js'
import type { ExportedFact, ImportOutcome } from './fact-transfer.js'
import { requireAdmin } from './require-admin.js'

/** How far the clocks of two machines may be apart. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000
/** Conflicts in a row after which a batch is given up. */
const MAX_CONFLICTS = 100

/** What came of one fact: an outcome, or the error that refused it. */
export type RestoreOutcome = ImportOutcome | CruxError

/**
 * Put facts of an export back with their ids, versions, times and marks: one append for all of them,
 * so that they keep their order.
 *
 * @returns One outcome a fact, in order.
 * @throws {CruxError} see `FactTransfer.restoreFacts`.
 */
export async function restoreFacts(
  { journal, projection, clock }: RestoreContext,
  caller: Caller,
  exported: readonly FactToRestore[],
  isDryRun: boolean,
): Promise<readonly RestoreOutcome[]> {
  requireWriter(caller)
  requireAdmin(caller, 'admin:write')
  const read = exported.map(({ fact }) => readFact(fact, caller, clock.now()))
  // Where the journal says that keys are; known better than the state after a rewrite of the stream.
  const known = new Map<string, Position | 'none'>()
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const batch = new RestoreBatch(projection)
    const outcomes = read.map((fact, i) =>
      fact instanceof CruxError ? fact : batch.add(fact, exported[i]?.consolidated),
    )
    if (isDryRun || batch.records.length === 0) return outcomes
    try {
      const expected = [...batch.positions].map(([key, last]) => ({
        key,
        last: known.get(key) ?? last,
      }))
      await journal.append(batch.records, expected)
      return outcomes
    } catch (error) {
      if (!hasCode(error, 'JOURNAL_CONFLICT')) throw error
      const { key, last } = error.data
      const at = typeof last === 'number' ? last : 'none'
      known.set(String(key), at)
      if (at !== 'none') await projection.reached(at)
    }
  }
  throw new CruxError<MemoryErrorCode>(
    'FACT_CONFLICT',
    `other writers changed the same facts ${MAX_CONFLICTS} times in a row; try again`,
  )
}

/** What restoring works on. */
export interface RestoreContext {
  readonly journal: Pick<Journal, 'append'>
  readonly projection: FactProjection
  readonly clock: Clock
}

/** One line of an export of everything, not checked yet. */
export interface FactToRestore {
  readonly fact: unknown
  readonly consolidated?: ExportedFact['consolidated']
}

/** Facts of one append, planned on each other. */
class RestoreBatch {
  readonly records: JournalRecord[] = []
  /** Newest position of each chain that is added to. */
  readonly positions = new Map<string, Position | 'none'>()
  private readonly facts = new Map<string, Fact>()
  /** Newest live fact of each chain that was added to. */
  private readonly heads = new Map<string, string>()

  constructor(private readonly projection: FactProjection) {}

  add(fact: Fact, consolidated: ExportedFact['consolidated']): RestoreOutcome {
    const { tenant_hash: tenant, fact_id: factId, entity, key } = fact
    const place = this.projection.findFact(factId, tenant)
    if (place !== undefined && place.table.tenant !== tenant) {
      return conflict(fact, 'its id belongs to a fact of another tenant')
    }
    if (place !== undefined || this.facts.has(factId)) {
      const version = place?.table.version.get(place.row) ?? fact.version
      return { status: 'unchanged', factId, version }
    }
    const chain = chainKey(tenant, entity, key)
    const table = this.projection.table(tenant)
    if (!this.follows(fact, this.heads.get(chain) ?? headOf(table, entity, key))) {
      return conflict(fact, 'its entity and key hold another current value here')
    }
    if (!this.positions.has(chain)) {
      const found = table?.findChain(entity, key) ?? NONE
      const at = found === NONE ? 0 : (table?.chainPosition(found) ?? 0)
      this.positions.set(chain, at || 'none')
    }
    const lines = linesOf(fact, consolidated, (id) => this.retirement(tenant, id))
    for (const line of lines) this.records.push({ key: chain, bytes: encodeFactLine(line) })
    this.facts.set(factId, fact)
    if (!fact.deleted) this.heads.set(chain, factId)
    return { status: 'added', factId, version: fact.version }
  }

  /** Whether a fact can become the newest of its chain without a second current value. */
  private follows(fact: Fact, head: string | undefined): boolean {
    const { tenant_hash: tenant, entity, key, supersedes } = fact
    if (head === undefined || this.retirement(tenant, head).by !== undefined) return true
    if (supersedes === undefined) return false
    const other = this.facts.get(supersedes)
    if (other !== undefined) return other.entity === entity && other.key === key
    const table = this.projection.table(tenant)
    const row = table?.ids.find(supersedes) ?? NONE
    if (table === undefined || row === NONE) return false
    return table.entity(row) === entity && table.key(row) === key
  }

  private retirement(tenant: string, id: string): Retirement {
    const other = this.facts.get(id)
    if (other !== undefined) return { isThere: true, by: other.superseded_by }
    const table = this.projection.table(tenant)
    const row = table?.ids.find(id) ?? NONE
    return row === NONE
      ? { isThere: false, by: undefined }
      : { isThere: true, by: table?.retiredBy(row) }
  }
}

/** Whether a fact is there, and which one retired it. */
interface Retirement {
  readonly isThere: boolean
  readonly by: string | undefined
}

function headOf(table: FactTable | undefined, entity: string, key: string): string | undefined {
  const chain = table?.findChain(entity, key) ?? NONE
  if (table === undefined || chain === NONE) return undefined
  const row = table.newestLive(chain)
  return row === NONE ? undefined : table.ids.id(row)
}

function linesOf(
  fact: Fact,
  consolidated: ExportedFact['consolidated'],
  retirementOf: (id: string) => Retirement,
): FactLine[] {
  const lines: FactLine[] = []
  const sources = consolidated?.factIds.filter((id) => retirementOf(id).isThere) ?? []
  if (consolidated === undefined || sources.length === 0) {
    lines.push({ op: 'store', fact })
  } else {
    const { earlier } = consolidated
    lines.push({ op: 'consolidate', canonical: fact, superseded_fact_ids: sources, earlier })
    // The line points them all at the canonical fact; some may have been retired by others since.
    for (const id of sources) {
      const { by } = retirementOf(id)
      if (by !== undefined && by !== fact.fact_id) {
        lines.push({ op: 'supersede', fact_id: id, by_fact_id: by })
      }
    }
  }
  const { supersedes } = fact
  if (supersedes === undefined || fact.deleted) return lines
  const before = retirementOf(supersedes)
  // It was the newest version here until now.
  if (before.isThere && before.by === undefined) {
    lines.push({ op: 'supersede', fact_id: supersedes, by_fact_id: fact.fact_id })
  }
  return lines
}

/** The fact of a line, or why it is none that can be taken in. */
function readFact(value: unknown, caller: Caller, now: number): Fact | CruxError {
  try {
    return checkedFact(value, caller, now)
  } catch (error) {
    if (error instanceof CruxError) return error
    throw error
  }
}

function checkedFact(value: unknown, caller: Caller, now: number): Fact {
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
