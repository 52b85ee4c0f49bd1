import { createPauser, toStoredTime } from 'crux-types'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { chainKey, encodeFactLine } from '../facts/journal-line.js'
import type { RecallContext } from '../recall/recall-context.js'
import type { FactWriter } from '../writing/fact-writer.js'
import { REVERIFY_PREFIX, SESSION_BINDING_PREFIX } from './audit-reserved.js'

const EPHEMERAL_MS = 30 * 86_400_000
/** Deletions that are on their way at the same time, to share the journal's syncs. */
const AT_ONCE = 256

/**
 * Delete the daemon's own records that nobody needs after 30 days: receipts of reverification, and
 * session bindings except the newest of each session.
 *
 * These are private to the daemon, so no caller sees them listed; the facts they speak of are not
 * touched.
 *
 * @returns How many were deleted.
 */
export async function collectEphemeral(
  context: RecallContext,
  writer: FactWriter,
): Promise<number> {
  const before = context.clock.now() - EPHEMERAL_MS
  let deleted = 0
  for (const table of [...context.projection.allTables()]) {
    const old = await ephemeralRows(context, table, before)
    for (let from = 0; from < old.length; from += AT_ONCE) {
      const batch = old.slice(from, from + AT_ONCE)
      const done = await Promise.all(batch.map((row) => deleteRow(writer, table, row)))
      deleted += done.filter(Boolean).length
    }
  }
  return deleted
}

async function ephemeralRows(
  context: RecallContext,
  table: FactTable,
  before: number,
): Promise<number[]> {
  const pause = createPauser()
  const index = context.indexOf(table)
  const rows: number[] = []
  for (const prefix of [REVERIFY_PREFIX, SESSION_BINDING_PREFIX]) {
    for (const piece of await index.entitiesStartingWith(prefix, pause)) {
      for (const entity of piece) {
        let isNewest = true
        let row = table.newestRowOf(entity)
        for (; row !== NONE; row = table.previousOfEntity.get(row)) {
          if (table.isDeleted(row)) continue
          const isKept = prefix === SESSION_BINDING_PREFIX && isNewest
          isNewest = false
          if (!isKept && table.storedAt.get(row) < before) rows.push(row)
        }
      }
      await pause()
    }
  }
  return rows
}

function deleteRow(writer: FactWriter, table: FactTable, row: number): Promise<boolean> {
  const entity = table.entity(row)
  const key = table.key(row)
  return writer.submit(table.tenant, entity, key, {
    plan: (head) => {
      if (table.isDeleted(row)) return { records: [], head, result: false }
      const deleted_at = toStoredTime(writer.storing.clock.now())
      const line = { op: 'delete', fact_id: table.ids.id(row), deleted_at } as const
      const record = { key: chainKey(table.tenant, entity, key), bytes: encodeFactLine(line) }
      return { records: [record], head, result: true }
    },
    isStackable: false,
    weight: 0,
  })
}
