import type { EngineResult } from './compare.js'

/** Results of all engines on one collection; the one that the others are compared with first. */
export interface CollectionReport {
  readonly collection: string
  readonly docs: number
  readonly queries: number
  readonly results: readonly EngineResult[]
}

/** Where and how the numbers were taken. */
export interface Setting {
  readonly machine: string
  readonly node: string
  /** Timed passes over all queries. */
  readonly passes: number
  /** Fresh processes that indexed. */
  readonly processes: number
}

const MEASURES = ['index ms', 'index bytes', 'p50 µs', 'p95 µs', 'nDCG@10', 'recall@10']
/** What stands where nothing was measured. */
const NONE = '-'

/** The reports as Markdown tables: absolute numbers, then each engine's over the first one's. */
export function formatReports(reports: readonly CollectionReport[], setting: Setting): string {
  const first = reports[0]?.results[0]?.title ?? NONE
  return [
    `Machine: ${setting.machine}; Node.js ${setting.node}; processes: ${setting.processes}; passes: ${setting.passes}.`,
    '',
    row('Collection (documents / queries)', 'Engine', ...MEASURES),
    row('---', '---', ...MEASURES.map(() => '---:')),
    ...reports.flatMap(({ collection, docs, queries, results }) =>
      results.map((result) => absoluteRow(`${collection} (${docs} / ${queries})`, result)),
    ),
    '',
    `Each over ${first}: times and bytes above 1 mean that it needs more, grades above 1 that it finds more.`,
    '',
    row('Collection', 'Engine', 'index', 'bytes', 'p50', 'p95', 'nDCG@10', 'recall@10'),
    row('---', '---', ...MEASURES.map(() => '---:')),
    ...reports.flatMap(ratioRows),
    '',
  ].join('\n')
}

function absoluteRow(collection: string, { title, indexMs, bytes, ranking }: EngineResult): string {
  return row(
    collection,
    title,
    indexMs.toFixed(1),
    bytes?.toString() ?? NONE,
    ranking?.p50Us.toFixed(1) ?? NONE,
    ranking?.p95Us.toFixed(1) ?? NONE,
    ranking?.ndcg10.toFixed(4) ?? NONE,
    ranking?.recall10.toFixed(4) ?? NONE,
  )
}

function ratioRows({ collection, results }: CollectionReport): string[] {
  const [ours, ...others] = results
  if (ours === undefined) return []
  const base = measuresOf(ours)
  return others.map((other) =>
    row(
      collection,
      other.title,
      ...measuresOf(other).map((value, i) => ratio(value, base[i] ?? null)),
    ),
  )
}

/** In the order of the columns; null where nothing was measured. */
function measuresOf({ indexMs, bytes, ranking }: EngineResult): (number | null)[] {
  return [
    indexMs,
    bytes,
    ranking?.p50Us ?? null,
    ranking?.p95Us ?? null,
    ranking?.ndcg10 ?? null,
    ranking?.recall10 ?? null,
  ]
}

function ratio(value: number | null, base: number | null): string {
  return value === null || base === null || base === 0 ? NONE : (value / base).toFixed(2)
}

function row(...cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
