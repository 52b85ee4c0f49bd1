import { createPauser, parseTime } from 'crux-types'
import { type Observation, readObservation } from './observation.js'
import type { ObservedSession } from './observation-store.js'

/** Kinds and providers that are told apart in one session; the others are counted under `other`. */
const MAX_LABELS = 64
const OTHER = 'other'

interface Counting {
  count: number
  first: { readonly at: number; readonly text: string } | undefined
  last: { readonly at: number; readonly text: string } | undefined
  readonly kinds: Map<string, number>
  readonly providers: Map<string, number>
}

/**
 * What there is of each session in one file.
 *
 * @param sees - The id by which whoever asks knows a record's session; undefined when it may not know of it.
 * @param since - Milliseconds since 1970: earlier records do not count.
 */
export async function observedSessions(
  file: AsyncIterable<readonly Buffer[]>,
  sees: (record: Observation) => string | undefined,
  since: number | undefined,
): Promise<readonly ObservedSession[]> {
  const sessions = new Map<string, Counting>()
  const pause = createPauser()
  for await (const lines of file) {
    for (const line of lines) {
      const record = readObservation(line)
      const id = record && sees(record)
      const at = record?.ts === undefined ? undefined : parseTime(record.ts)
      if (record !== undefined && id !== undefined && !(at !== undefined && at < (since ?? at))) {
        const counting = sessions.get(id) ?? newCounting()
        sessions.set(id, counting)
        count(counting, record, at)
      }
      await pause()
    }
  }
  return [...sessions].map(([sessionId, counted]) => ({
    sessionId,
    count: counted.count,
    firstAt: counted.first?.text ?? null,
    lastAt: counted.last?.text ?? null,
    kinds: Object.fromEntries(counted.kinds),
    providers: Object.fromEntries(counted.providers),
  }))
}

function newCounting(): Counting {
  return { count: 0, first: undefined, last: undefined, kinds: new Map(), providers: new Map() }
}

function count(counting: Counting, record: Observation, at: number | undefined): void {
  counting.count++
  add(counting.kinds, record.kind)
  add(counting.providers, record.provider)
  if (at === undefined || record.ts === undefined) return
  if (counting.first === undefined || at < counting.first.at)
    counting.first = { at, text: record.ts }
  if (counting.last === undefined || at >= counting.last.at) counting.last = { at, text: record.ts }
}

function add(counts: Map<string, number>, label = OTHER): void {
  const name = counts.has(label) || counts.size < MAX_LABELS ? label : OTHER
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
