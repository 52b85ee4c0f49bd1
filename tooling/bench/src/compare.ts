import {
  type Collection,
  gradeQueries,
  percentile,
  type QueryGrades,
  type QueryTimes,
  summariseTimes,
  timeQueries,
} from 'crux-retrieval'
import type { Engine, EngineName, OpenEngine } from './engines/engine.js'

/** What one engine reached on one collection. */
export interface EngineResult extends QueryGrades, QueryTimes {
  readonly engine: EngineName
  /** Median over fresh processes. */
  readonly indexMs: number
  readonly bytes: number
}

/** Index once in a process of its own and give the milliseconds that it took. */
export type IndexInFreshProcess = (engine: EngineName) => Promise<number>

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
  const indexTimes = new Map<EngineName, number[]>()
  for (let turn = 0; turn < (options.processes ?? 5); turn++) {
    for (const { name } of rotated(engines, turn)) {
      const times = indexTimes.get(name) ?? []
      times.push(await indexInFreshProcess(name))
      indexTimes.set(name, times)
    }
  }
  const running: { name: EngineName; open: OpenEngine; grades: QueryGrades; times: number[] }[] = []
  for (const { name, open } of engines) {
    const opened = await open(collection.docs)
    const grades = await gradeQueries(collection.queries, (query) => opened.search(query))
    running.push({ name, open: opened, grades, times: [] })
  }
  for (let pass = 0; pass < (options.passes ?? 5); pass++) {
    for (const { open, times } of rotated(running, pass)) {
      times.push(...(await timeQueries(collection.queries, (query) => open.search(query))))
    }
  }
  return running.map(({ name, open, grades, times }) => {
    open.close()
    const indexMs = percentile(indexTimes.get(name) ?? [open.indexMs], 0.5)
    return { engine: name, indexMs, bytes: open.bytes, ...grades, ...summariseTimes(times) }
  })
}

function rotated<T>(items: readonly T[], turn: number): T[] {
  const first = turn % Math.max(items.length, 1)
  return [...items.slice(first), ...items.slice(0, first)]
}
