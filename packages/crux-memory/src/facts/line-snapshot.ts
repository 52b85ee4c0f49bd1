import { forEachStateLine } from 'crux-storage'
import { createPauser } from 'crux-types'
import type { LedgerState } from '../forgetting/forget-ledger.js'
import type { Consolidation } from './consolidation-edge.js'
import type { FactProjection } from './fact-projection.js'
import type { FactTable } from './fact-table.js'
import { decodeFact, toStoredFact } from './journal-line.js'

const LINES_PER_CHUNK = 256

/**
 * The facts there are at the call, one JSON line each, in the order of their rows:
 * `{"f":<fact>,"a":<position of its chain>}`, with `"c"` for what a canonical fact retired. The last line, `{"g":…}`, holds what was forgotten.
 *
 * Marks that arrive while it is read may or may not be in it. That is harmless: the records behind
 * them follow the snapshot's position, and applying a mark again changes nothing.
 */
export function writeFactSnapshot(
  projection: Pick<FactProjection, 'allTables' | 'forgotten'>,
): AsyncIterable<Uint8Array> {
  const parts = [...projection.allTables()].map((table) => ({ table, size: table.size }))
  // Taken now: what is forgotten afterwards follows in the journal.
  return writeLines(parts, projection.forgotten.state())
}

async function* writeLines(
  parts: readonly { readonly table: FactTable; readonly size: number }[],
  forgotten: LedgerState,
): AsyncIterable<Uint8Array> {
  for (const { table, size } of parts) {
    let lines = ''
    for (let row = 0; row < size; row++) {
      const at = table.chainPosition(table.chainOfRow(row))
      const c = table.consolidations.get(row)
      lines += `${JSON.stringify({ f: toStoredFact(table.storedFact(row)), a: at, c })}\n`
      if (row % LINES_PER_CHUNK !== LINES_PER_CHUNK - 1 && row !== size - 1) continue
      yield Buffer.from(lines)
      lines = ''
    }
  }
  yield Buffer.from(`${JSON.stringify({ g: forgotten })}\n`)
}

/** Put the facts of a snapshot into an empty projection. */
export async function readFactSnapshot(
  projection: FactProjection,
  state: AsyncIterable<Uint8Array>,
  onWarning: (message: string) => void,
): Promise<void> {
  const pause = createPauser()
  await forEachStateLine(state, (line) => {
    restoreLine(projection, line.toString(), onWarning)
    return pause()
  })
}

function restoreLine(
  projection: FactProjection,
  text: string,
  onWarning: (message: string) => void,
): void {
  // Written by this module and guarded by the journal's checksum; decodeFact checks the fact's shape.
  const line = JSON.parse(text) as {
    f: unknown
    a: number
    c?: Consolidation
    g?: LedgerState
  }
  if (line.g !== undefined) return projection.restoreForgotten(line.g)
  const fact = decodeFact(line.f)
  if (typeof fact === 'string') onWarning(`facts: skipped a fact of the snapshot: ${fact}`)
  else projection.restore(fact, line.a > 0 ? line.a : undefined, line.c)
}
