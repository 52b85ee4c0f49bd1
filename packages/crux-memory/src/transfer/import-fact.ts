import { createHash } from 'node:crypto'
import { assertText, type Caller, CruxError, toStoredTime } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { StoreFactInput } from '../fact-store.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { splitPrivateEntity } from '../privacy.js'
import { Sight } from '../recall/sight.js'
import type { ChainHead } from '../writing/chain-lanes.js'
import type { FactWriter } from '../writing/fact-writer.js'
import { type KnownTimes, MAX_NAME_BYTES, planStore } from '../writing/store-fact.js'
import type { ImportFactInput, ImportOutcome } from './fact-transfer.js'

/** Values on their way to the journal, by the id of their fact. */
export type FactsUnderway = Map<string, { readonly value: string }>

/**
 * Store a fact from elsewhere, once.
 *
 * Its id is made from the source id, so that the store itself knows what it has taken in, across
 * restarts and without a list of its own.
 *
 * @param underway - Shared by all imports of a store.
 * @throws {CruxError} see `FactTransfer.importFact`.
 */
export async function importFact(
  writer: FactWriter,
  underway: FactsUnderway,
  caller: Caller,
  input: ImportFactInput,
  isDryRun: boolean,
): Promise<ImportOutcome> {
  assertText(input.sourceId, {
    field: 'source_id',
    maxBytes: MAX_NAME_BYTES,
    allowControl: false,
  })
  const { storing } = writer
  const table = (): FactTable | undefined => storing.projection.table(caller.tenant)
  const own = ownFact(table(), caller, input)
  if (own !== undefined) return own

  let hex = ''
  const planned = planStore(
    { ...storing, ids: () => hex },
    caller,
    toStoreInput(input),
    timesOf(input),
  )
  hex = idOf(caller, planned.storedEntity, input.sourceId)
  const factId = `f_${hex}`
  const mine = { value: input.value }
  const known = (head: ChainHead): ImportOutcome | undefined => {
    const found = table()
    const row = found?.ids.find(factId) ?? NONE
    if (found !== undefined && row !== NONE) {
      // What was forgotten is neither compared nor brought back.
      const isSame = found.isForgotten(row) || found.value(row) === input.value
      return unchanged(factId, found.version.get(row), isSame, input)
    }
    const other = underway.get(factId)
    if (other === undefined || other === mine) return undefined
    return unchanged(factId, head.version, other.value === input.value, input)
  }
  if (isDryRun) {
    const head = writer.head(caller.tenant, planned.storedEntity, input.key)
    return known(head) ?? { status: 'added', factId, version: head.version + 1 }
  }
  try {
    return await writer.submit<ImportOutcome>(caller.tenant, planned.storedEntity, input.key, {
      ...planned.change,
      plan(head) {
        const result = known(head)
        if (result !== undefined) return { records: [], head, result }
        underway.set(factId, mine)
        const plan = planned.change.plan(head)
        const { version } = plan.result.fact
        return { ...plan, result: { status: 'added', factId, version } }
      },
    })
  } finally {
    if (underway.get(factId) === mine) underway.delete(factId)
  }
}

/** The fact itself, when it was exported from this very store. */
function ownFact(
  table: FactTable | undefined,
  caller: Caller,
  { factId }: ImportFactInput,
): ImportOutcome | undefined {
  const row = factId === undefined ? NONE : (table?.ids.find(factId) ?? NONE)
  if (table === undefined || factId === undefined || row === NONE) return undefined
  if (!new Sight(caller, table).sees(row)) return undefined
  return { status: 'unchanged', factId, version: table.version.get(row) }
}

function unchanged(
  factId: string,
  version: number,
  isSame: boolean,
  { sourceId }: ImportFactInput,
): ImportOutcome {
  if (isSame) return { status: 'unchanged', factId, version }
  throw new CruxError<MemoryErrorCode>(
    'IMPORT_CONFLICT',
    `source id '${sourceId.slice(0, 80)}' was imported before with another value; give the changed item a source id of its own`,
    { data: { source_id: sourceId, fact_id: factId } },
  )
}

/** Private facts of different owners never share an id: one would learn of the other's. */
function idOf(caller: Caller, storedEntity: string, sourceId: string): string {
  const owner = splitPrivateEntity(storedEntity)?.owner ?? null
  const name = JSON.stringify(['import', caller.tenant, owner, sourceId])
  return createHash('sha256').update(name).digest('hex').slice(0, 32)
}

function toStoreInput(input: ImportFactInput): StoreFactInput {
  const { entity, key, value, sourceReceipt, confidence, horizonClass, actor } = input
  return {
    entity,
    key,
    value,
    private: input.private ?? false,
    ...(sourceReceipt !== undefined && { sourceReceipt }),
    ...(confidence !== undefined && { confidence }),
    ...(horizonClass !== undefined && { horizonClass }),
    ...(actor !== undefined && { actor }),
  }
}

function timesOf({ validFrom, validTo, observedAt }: ImportFactInput): KnownTimes {
  if (validFrom !== undefined && validTo !== undefined && validTo < validFrom) {
    throw new CruxError<MemoryErrorCode>(
      'VALIDITY_INVALID',
      `valid_to ${toStoredTime(validTo)} lies before valid_from ${toStoredTime(validFrom)}; swap them`,
      { data: { from: validFrom, to: validTo } },
    )
  }
  return {
    ...(validFrom !== undefined && { valid_from: toStoredTime(validFrom) }),
    ...(validTo !== undefined && { valid_to: toStoredTime(validTo) }),
    ...(observedAt !== undefined && { reverified_at: toStoredTime(observedAt) }),
  }
}
