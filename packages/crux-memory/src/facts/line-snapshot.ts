import { forEachStateLine } from 'crux-storage'
import { createPauser } from 'crux-types'
import type { LedgerState } from '../forgetting/forget-ledger.js'
import type { Consolidation } from './consolidation-edge.js'
import type { FactProjection } from './fact-projection.js'
import { decodeFact } from './journal-line.js'

/** First byte of a snapshot in lines. */
export const LINE_START = 0x7b

/**
 * Put a snapshot of the first version into an empty projection: one JSON line a fact in the order of
 * the rows, `{"f":<fact>,"a":<position of its chain>}`, with `"c"` for what a canonical fact retired; the
 * last line, `{"g":…}`, holds what was forgotten.
 */
export async function readLineSnapshot(
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
  if (line.g !== undefined) {
    projection.restoreForgotten(line.g)
    return
  }
  const fact = decodeFact(line.f)
  if (typeof fact === 'string') onWarning(`facts: skipped a fact of the snapshot: ${fact}`)
  else projection.restore(fact, line.a > 0 ? line.a : undefined, line.c)
}
