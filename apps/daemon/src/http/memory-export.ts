import { type ExportedFact, type FactStore, shortFloat32 } from 'crux-memory'
import { type Caller, type Clock, toStoredTime } from 'crux-types'
import { EXPORT_VERSION } from './memory-import.js'

/** Bytes of lines that are sent together. */
const CHUNK_BYTES = 64 * 1024

/**
 * Facts as lines of JSON, between a head and an end that say which export it is. An answer that
 * breaks off has no end.
 *
 * A line is a fact as HTTP gives it; a canonical fact of an export of everything also says what it
 * retired, as `consolidated`.
 *
 * @throws {CruxError} `ADMIN_REQUIRED`, `CURSOR_INVALID`; before the first byte.
 */
export async function exportStream(
  { facts, clock }: { readonly facts: Pick<FactStore, 'exportFacts'>; readonly clock: Clock },
  options: {
    readonly caller: Caller
    readonly isAll: boolean
    readonly after: string | undefined
    readonly signal: AbortSignal
  },
): Promise<ReadableStream<Uint8Array>> {
  const { caller, isAll, after, signal } = options
  const exported = facts
    .exportFacts(caller, { all: isAll, signal, ...(after === undefined ? {} : { after }) })
    [Symbol.asyncIterator]()
  const head = { version: EXPORT_VERSION, all: isAll, exported_at: toStoredTime(clock.now()) }
  let text = `${JSON.stringify({ crux_export: head })}\n`
  let count = 0
  // Asked for before the answer starts, so that a refusal still gets its status.
  let next = await exported.next()
  return new ReadableStream({
    async pull(controller) {
      while (text.length < CHUNK_BYTES && next.done !== true) {
        text += `${JSON.stringify(toLine(next.value))}\n`
        count += 1
        next = await exported.next()
      }
      if (next.done === true) {
        const end = { version: EXPORT_VERSION, end: true, facts: count }
        text += `${JSON.stringify({ crux_export: end })}\n`
      }
      controller.enqueue(Buffer.from(text))
      text = ''
      if (next.done === true) controller.close()
    },
    async cancel() {
      await exported.return?.()
    },
  })
}

function toLine({ fact, consolidated }: ExportedFact): object {
  const line = { ...fact, confidence: shortFloat32(fact.confidence) }
  if (consolidated === undefined) return line
  const { factIds, earlier } = consolidated
  return { ...line, consolidated: { fact_ids: factIds, earlier } }
}
