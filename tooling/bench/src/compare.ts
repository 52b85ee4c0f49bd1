import {
  type Collection,
  gradeQueries,
  percentile,
  type QueryGrades,
  type QueryTimes,
  summariseTimes,
  timeQueries,
} from 'crux-retrieval'
import type { Engine, OpenEngine } from './engines/engine.js'

/** What one engine reached on one collection. */
export interface EngineResult {
  readonly engine: string
  readonly title: string
  /** Median over fresh processes. */
  readonly indexMs: number
  readonly bytes: number | null
  /** Absent when the collection has no queries. */
  readonly ranking?: QueryGrades & QueryTimes
}

/** Index once in a process of its own and give the milliseconds that it took. */
export type IndexInFreshProcess = (engine: string) => Promise<number>

/** How often to measure. */
export interface CompareOptions {
  /** Timed passes over all queries per engine; default 5. */
  readonly passes?: number
  /** Fresh processes per engine; default 5. */
  readonly processes?: number
}

/**
 * Measure engines side by side on one collection. Their turns alternate, and each goes first as
 * often as the others, so that a busy moment of the machine falls on all of them.
 */
export async function compareEngines(
  engines: readonly Engine[],
  collection: Collection,
  indexInFreshProcess: IndexInFreshProcess,
  options: CompareOptions = {},
): Promise<EngineResult[]> {
  const indexTimes = new Map<string, number[]>()
  for (let turn = 0; turn < (options.processes ?? 5); turn++) {
    for (const { name } of rotated(engines, turn)) {
      const times = indexTimes.get(name) ?? []
      times.push(await indexInFreshProcess(name))
      indexTimes.set(name, times)
    }
  }
  const { queries } = collection
  const running: { engine: Engine; open: OpenEngine; grades: QueryGrades; times: number[] }[] = []
  for (const engine of engines) {
    const open = await engine.open(collection.docs)
    const grades = await gradeQueries(queries, (query) => open.search(query))
    running.push({ engine, open, grades, times: [] })
  }
  for (let pass = 0; pass < (options.passes ?? 5); pass++) {
    for (const { open, times } of rotated(running, pass)) {
      times.push(...(await timeQueries(queries, (query) => open.search(query))))
    }
  }
  return running.map(({ engine: { name, title }, open, grades, times }) => {
    open.close()
    const indexMs = percentile(indexTimes.get(name) ?? [open.indexMs], 0.5)
    const ranking = times.length === 0 ? {} : { ranking: { ...grades, ...summariseTimes(times) } }
    return { engine: name, title, indexMs, bytes: open.bytes, ...ranking }
  })
}

function rotated<T>(items: readonly T[], turn: number): T[] {
  const first = turn % Math.max(items.length, 1)
  return [...items.slice(first), ...items.slice(0, first)]
}
