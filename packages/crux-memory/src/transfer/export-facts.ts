import { type Caller, CruxError, canReadTenant, createPauser } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { FactProjection } from '../facts/fact-projection.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { Sight } from '../recall/sight.js'
import type { ExportedFact, ExportQuery } from './fact-transfer.js'
import { requireAdmin } from './require-admin.js'

interface Part {
  readonly table: FactTable
  /** Rows at the start; later ones are left to a later export. */
  readonly size: number
  readonly sees: (row: number) => boolean
}

/**
 * The facts there are at the call, table by table in the order of their rows, which is the order of
 * the journal: a version comes after the one that it replaced.
 *
 * @param requireOpen - Throws once the store is closed.
 */
export async function* exportFacts(
  projection: FactProjection,
  caller: Caller,
  query: ExportQuery,
  requireOpen: () => void,
): AsyncGenerator<ExportedFact> {
  const isAll = query.all === true
  if (isAll) requireAdmin(caller, 'admin:read')
  const parts = partsOf(projection, caller, isAll)
  const start = startOf(parts, query.after)
  const pause = createPauser({ signal: query.signal })
  for (const [index, { table, size, sees }] of parts.entries()) {
    if (index < start.part) continue
    const sight = new Sight(caller, table)
    for (let row = index === start.part ? start.row : 0; row < size; row++) {
      await pause()
      requireOpen()
      if (table.isForgotten(row) || !sees(row)) continue
      if (isAll) yield wholeFact(table, row)
      else if (!table.isDeleted(row)) {
        const fact = table.storedFact(row)
        const entity = sight.entity(row) ?? fact.entity
        yield { fact: { ...fact, entity, private: table.isPrivate(row) } }
      }
    }
  }
}

function wholeFact(table: FactTable, row: number): ExportedFact {
  const fact = table.storedFact(row)
  const consolidation = table.consolidations.get(row)
  if (consolidation === undefined || consolidation.isUndone) return { fact }
  const { supersededIds: factIds, earlier } = consolidation
  return { fact, consolidated: { factIds, earlier } }
}

function partsOf(projection: FactProjection, caller: Caller, isAll: boolean): Part[] {
  const tables = [...projection.allTables()].filter(({ tenant }) =>
    isAll ? canReadTenant(caller, tenant) : tenant === caller.tenant,
  )
  return tables.map((table) => {
    const sight = new Sight(caller, table)
    return { table, size: table.size, sees: isAll ? () => true : (row) => sight.sees(row) }
  })
}

function startOf(
  parts: readonly Part[],
  after: string | undefined,
): { readonly part: number; readonly row: number } {
  if (after === undefined) return { part: 0, row: 0 }
  for (const [part, { table, sees }] of parts.entries()) {
    const row = table.ids.find(after)
    // A fact that the caller may not see is no place to start from: it would tell that it exists.
    if (row !== NONE && sees(row)) return { part, row: row + 1 }
  }
  throw new CruxError<MemoryErrorCode>(
    'CURSOR_INVALID',
    `no fact '${after.slice(0, 80)}' to go on after; export from the start`,
    { data: { cursor: after } },
  )
}
