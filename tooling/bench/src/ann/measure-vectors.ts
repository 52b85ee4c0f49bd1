import { createVectorIndex, percentile, type VectorIndex } from 'crux-retrieval'
import type { VectorSet } from './vector-sets.js'

/**
 * What one set of vectors costs to search, in full and approximately. Times are those of the
 * processor, so that what else the machine does changes them little.
 */
export interface VectorFigures {
  readonly name: string
  readonly vectors: number
  readonly dim: number
  readonly queries: number
  /** Mean share of the ten nearest that the approximate search finds. */
  readonly recall10: number
  /** The same of the worst query. */
  readonly worstRecall10: number
  readonly exactP50Ms: number
  readonly approximateP50Ms: number
  readonly approximateP95Ms: number
  /** To add the vectors: checks and lengths. */
  readonly addMs: number
  /** To make the codes of all vectors. */
  readonly encodeMs: number
  /** Of the vectors and what is kept beside them, without codes. */
  readonly vectorBytes: number
  readonly codeBytes: number
}

const LIMIT = 10
const allow = (): true => true

/**
 * Search a set both ways in turns, one query at a time and in one go, after some to warm up.
 *
 * @param options.candidates - Vectors compared by an approximate search; by default the index's own choice.
 */
export async function measureVectors(
  set: VectorSet,
  options: { readonly candidates?: number | undefined } = {},
): Promise<VectorFigures> {
  const { name, dim, vectors, queries } = set
  const docIds = Uint32Array.from({ length: vectors.length / dim }, (_, i) => i)
  const exact = createVectorIndex({ approximateAbove: Number.POSITIVE_INFINITY })
  const approximate = createVectorIndex({ approximateAbove: 0 })
  const rows = { dim, docIds, vectors }
  const addMs = timeMs(() => exact.addSegment('all', rows))
  approximate.addSegment('all', rows)
  const vectorBytes = approximate.stats().bytes
  const started = processorMs()
  await approximate.prepare()
  const encodeMs = processorMs() - started
  const { candidates } = options
  const searchBoth = (query: Float32Array) => ({
    reference: timeSearch(exact, query, {}),
    found: timeSearch(approximate, query, { candidates }),
  })
  for (const query of queries.slice(0, WARM_UP)) searchBoth(query)
  const answers = queries.map(searchBoth)
  const recalls = answers.map(({ reference, found }) => {
    const docs = new Set(found.docs)
    const { docs: nearest } = reference
    return nearest.length === 0 ? 1 : nearest.filter((doc) => docs.has(doc)).length / nearest.length
  })
  const exactMs = answers.map(({ reference }) => reference.ms)
  const approximateMs = answers.map(({ found }) => found.ms)
  return {
    name,
    vectors: docIds.length,
    dim,
    queries: queries.length,
    recall10: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
    worstRecall10: Math.min(...recalls),
    exactP50Ms: percentile(exactMs, 0.5),
    approximateP50Ms: percentile(approximateMs, 0.5),
    approximateP95Ms: percentile(approximateMs, 0.95),
    addMs,
    encodeMs,
    vectorBytes,
    codeBytes: approximate.stats().bytes - vectorBytes,
  }
}

const WARM_UP = 20

function timeSearch(
  index: VectorIndex,
  query: Float32Array,
  options: { readonly candidates?: number | undefined },
): { readonly ms: number; readonly docs: readonly number[] } {
  const started = processorMs()
  const { hits } = index.searchNow(query, { limit: LIMIT, allow, ...options })
  return { ms: processorMs() - started, docs: hits.map(({ docId }) => docId) }
}

function timeMs(work: () => void): number {
  const started = processorMs()
  work()
  return processorMs() - started
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const MIB = 1024 * 1024

/** The figures as a Markdown table. */
export function formatFigures(figures: readonly VectorFigures[]): string {
  const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    row(
      'Vectors',
      'recall@10',
      'worst',
      'exact p50 ms',
      'approximate p50 ms',
      'p95 ms',
      'speed-up',
      'vectors MiB',
      'codes MiB',
      'add ms',
      'codes s',
    ),
    row('---', ...Array.from({ length: 10 }, () => '---:')),
    ...figures.map((each) =>
      row(
        `${each.name}, ${each.vectors} x ${each.dim}`,
        each.recall10.toFixed(3),
        each.worstRecall10.toFixed(1),
        each.exactP50Ms.toFixed(1),
        each.approximateP50Ms.toFixed(2),
        each.approximateP95Ms.toFixed(2),
        (each.exactP50Ms / each.approximateP50Ms).toFixed(1),
        (each.vectorBytes / MIB).toFixed(0),
        (each.codeBytes / MIB).toFixed(1),
        each.addMs.toFixed(0),
        (each.encodeMs / 1000).toFixed(1),
      ),
    ),
    '',
  ].join('\n')
}
