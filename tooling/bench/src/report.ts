import type { EngineResult } from './compare.js'
import type { EngineName } from './engines/engine.js'

/** Results of all engines on one collection; ours first. */
export interface CollectionReport {
  readonly collection: string
  readonly docs: number
  readonly queries: number
  readonly results: readonly EngineResult[]
}

/** Where and on what the numbers were taken. */
export interface Setting {
  readonly machine: string
  readonly node: string
}

const TITLES: Readonly<Record<EngineName, string>> = {
  crux: 'Crux',
  fts5: 'SQLite FTS5',
}

/** The reports as Markdown tables: absolute numbers, then each rival's over ours. */
export function formatReports(reports: readonly CollectionReport[], setting: Setting): string {
  return [
    `Machine: ${setting.machine}; Node.js ${setting.node}.`,
    '',
    ...row(
      'Collection',
      'Engine',
      'index ms',
      'index bytes',
      'p50 µs',
      'p95 µs',
      'nDCG@10',
      'recall@10',
    ),
    ...row('---', '---', '---:', '---:', '---:', '---:', '---:', '---:'),
    ...reports.flatMap(({ collection, docs, queries, results }) =>
      results.flatMap((result) => absoluteRow(`${collection} (${docs} / ${queries})`, result)),
    ),
    '',
    'Each rival over Crux: times and bytes above 1 mean that Crux needs less, grades below 1 that it finds more.',
    '',
    ...row('Collection', 'Rival', 'index', 'bytes', 'p50', 'p95', 'nDCG@10', 'recall@10'),
    ...row('---', '---', '---:', '---:', '---:', '---:', '---:', '---:'),
    ...reports.flatMap(ratioRows),
    '',
  ].join('\n')
}

function absoluteRow(collection: string, result: EngineResult): string[] {
  return row(
    collection,
    TITLES[result.engine],
    result.indexMs.toFixed(1),
    result.bytes.toString(),
    result.p50Us.toFixed(1),
    result.p95Us.toFixed(1),
    result.ndcg10.toFixed(4),
    result.recall10.toFixed(4),
  )
}

function ratioRows({ collection, results }: CollectionReport): string[] {
  const [ours, ...rivals] = results
  if (ours === undefined) return []
  return rivals.flatMap((rival) =>
    row(
      collection,
      TITLES[rival.engine],
      ...(['indexMs', 'bytes', 'p50Us', 'p95Us', 'ndcg10', 'recall10'] as const).map((measure) =>
        ours[measure] === 0 ? '-' : (rival[measure] / ours[measure]).toFixed(2),
      ),
    ),
  )
}

function row(...cells: readonly string[]): string[] {
  return [`| ${cells.join(' | ')} |`]
}
