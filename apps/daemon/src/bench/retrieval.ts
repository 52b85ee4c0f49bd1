import { monitorEventLoopDelay } from 'node:perf_hooks'
import {
  type CollectionQuery,
  createFusedSearch,
  createLocalHashEmbedder,
  createQueryReader,
  type DocPlace,
  type Embedder,
  type FusedSearch,
  gradeQueries,
  type LexicalIndex,
  type LexicalQuery,
  type RankIds,
  summariseTimes,
  timeQueries,
} from 'crux-retrieval'
import { CruxError } from 'crux-types'
import {
  type BenchCorpus,
  loadBenchCorpus,
  type SegmentLimits,
  tenantOf,
} from './retrieval-corpus.js'
import { type RetrievalBenchErrorCode, requireWhole } from './retrieval-errors.js'
import { readTextLines } from './retrieval-lines.js'

/** What to measure. */
export interface RetrievalBenchOptions {
  /** Documents, one JSON object a line: `{id, text, title?, group?}`. */
  readonly docsPath: string
  /** Judged queries, one JSON object a line: `{id, text, group?, class?, rels}`. */
  readonly queriesPath: string
  /** How to rank: one of {@link BENCH_MODES}. */
  readonly mode: string
  /** How to cut a large collection; default 65,536 documents or 64 Mi characters a segment. */
  readonly limits?: SegmentLimits
  /** Timed passes over all queries; default 5. */
  readonly passes?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (step: RetrievalBenchStep) => void
}

/** How far the bench is within one of its parts: bytes of the documents' file, or queries. */
export interface RetrievalBenchStep {
  readonly part: 'index' | 'queries'
  readonly done: number
  readonly of: number
}

/** One line of results; member names are what scripts read. */
export interface RetrievalBenchResult {
  readonly mode: BenchMode
  readonly docs: number
  readonly queries: number
  /** From texts in memory to an index that answers, over all segments. */
  readonly index_ms: number
  /** From texts and index to whole segments with their companions, hashes and checksums included, without the disk. */
  readonly seal_ms: number
  /** Size of the `.ccxi`, all together. */
  readonly bytes: number
  readonly p50_us: number
  readonly p95_us: number
  readonly ndcg10: number
  readonly recall10: number
  readonly segments: number
  /** Resident memory of the process after the last query, nothing collected on purpose. */
  readonly rss_bytes: number
  /** The most that the process ever had resident. */
  readonly peak_rss_bytes: number
  /** Longest time for which the timed passes held the event loop, to about a millisecond. */
  readonly max_block_ms: number
  /** Latency by class, when queries name one. */
  readonly classes?: Readonly<Record<string, ClassTimes>>
}

/** Latency of the queries of one class. */
export interface ClassTimes {
  readonly queries: number
  readonly p50_us: number
  readonly p95_us: number
}

const PASSES = 5
const HITS = 10

/**
 * The ways of ranking that can be measured. `dense` compares vectors of the local hash embedder, since
 * no model is at hand; `fused` compares none.
 */
export const BENCH_MODES = ['bm25', 'dense', 'fused'] as const

export type BenchMode = (typeof BENCH_MODES)[number]

/**
 * Measure the ranking of a test collection. Each group is a tenant of one index.
 *
 * The index is built first, before anything else has warmed the code up: called once, early, in a
 * process of its own (as `corecruxctl bench retrieval` does), `index_ms` is that of a fresh process.
 * The documents are read line by line and their texts not kept, so memory is that of the index, the
 * ids and one segment's texts.
 *
 * @throws {CruxError} `BENCH_MODE_UNKNOWN`; `BENCH_SETTING_INVALID`; `COLLECTION_INVALID`.
 */
export async function runRetrievalBench(
  options: RetrievalBenchOptions,
): Promise<RetrievalBenchResult> {
  const { mode, signal, onProgress } = options
  if (!isBenchMode(mode)) {
    throw new CruxError<RetrievalBenchErrorCode>(
      'BENCH_MODE_UNKNOWN',
      `mode '${mode}' cannot be measured; use --mode ${BENCH_MODES.join(', ')}`,
      { data: { mode } },
    )
  }
  requireWhole('passes', options.passes ?? PASSES, 1)
  const queries = await readQueries(options.queriesPath, signal)
  const embedder = createLocalHashEmbedder()
  const corpus = await loadBenchCorpus({
    docsPath: options.docsPath,
    words: mode === 'fused',
    ...(mode === 'dense' && { embedder }),
    ...(options.limits && { limits: options.limits }),
    ...(signal && { signal }),
    onProgress: (done, of) => onProgress?.({ part: 'index', done, of }),
  })
  const measures = await measure(queries, searchOf(mode, corpus, embedder), options)
  const { docs, segments, bytes, indexMs, sealMs } = corpus
  const { classes, max_block_ms, ...ranking } = measures
  return {
    mode,
    docs,
    queries: queries.length,
    index_ms: rounded(indexMs),
    seal_ms: rounded(sealMs),
    bytes,
    ...ranking,
    segments,
    rss_bytes: process.memoryUsage.rss(),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    max_block_ms,
    ...(classes && { classes }),
  }
}

async function readQueries(
  path: string,
  signal: AbortSignal | undefined,
): Promise<CollectionQuery[]> {
  const queries: CollectionQuery[] = []
  const readQuery = createQueryReader()
  for await (const line of readTextLines(path, { ...(signal && { signal }) })) {
    const query = readQuery(line)
    if (query !== undefined) queries.push(query)
  }
  return queries
}

function isBenchMode(mode: string): mode is BenchMode {
  return BENCH_MODES.some((known) => known === mode)
}

function searchOf(mode: BenchMode, corpus: BenchCorpus, embedder: Embedder): RankIds {
  const idsOf = (hits: readonly DocPlace[]) => hits.map((hit) => corpus.idOf(hit) ?? '')
  if (mode === 'dense') {
    return async ({ text, ...query }) => {
      const tenant = tenantOf(query)
      const [vector] = await embedder.embed([text])
      if (vector === undefined) return []
      const allow = (segment: string) => (docId: number) => corpus.isOf(tenant, segment, docId)
      return idsOf((await corpus.vectors.search(vector, { limit: HITS, allow })).hits)
    }
  }
  const { search } =
    mode === 'fused' ? boundSearch(createFusedSearch(corpus)) : boundSearch(corpus.index)
  return async ({ text, ...query }) =>
    idsOf((await search({ query: text, tenant: tenantOf(query), limit: HITS })).hits)
}

/** What `bm25` and `fused` have in common. */
function boundSearch(source: FusedSearch | LexicalIndex): {
  search(query: LexicalQuery): Promise<{ readonly hits: readonly DocPlace[] }>
} {
  return { search: (query) => source.search(query) }
}

type Measures = Pick<
  RetrievalBenchResult,
  'p50_us' | 'p95_us' | 'ndcg10' | 'recall10' | 'max_block_ms' | 'classes'
>

async function measure(
  queries: readonly CollectionQuery[],
  search: RankIds,
  { signal, onProgress, passes = PASSES }: RetrievalBenchOptions,
): Promise<Measures> {
  const abort = { ...(signal && { signal }) }
  const of = (passes + 1) * queries.length
  const { ndcg10, recall10 } = await gradeQueries(queries, search, abort)
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const times: number[][] = []
  for (let pass = 1; pass <= passes; pass++) {
    onProgress?.({ part: 'queries', done: pass * queries.length, of })
    times.push(await timeQueries(queries, search, abort))
  }
  delays.disable()
  onProgress?.({ part: 'queries', done: of, of })
  const classes = timesByClass(queries, times)
  return {
    ...quantiles(times.flat()),
    ndcg10,
    recall10,
    max_block_ms: rounded(delays.max / 1e6),
    ...(classes && { classes }),
  }
}

function timesByClass(
  queries: readonly CollectionQuery[],
  passes: readonly (readonly number[])[],
): Record<string, ClassTimes> | undefined {
  const classes = new Map<string, { queries: number; times: number[] }>()
  for (const [at, query] of queries.entries()) {
    if (query.class === undefined) continue
    const known = classes.get(query.class) ?? { queries: 0, times: [] }
    classes.set(query.class, known)
    known.queries += 1
    known.times.push(...passes.flatMap((times) => times[at] ?? []))
  }
  if (classes.size === 0) return undefined
  return Object.fromEntries(
    [...classes].map(([name, { queries, times }]) => [name, { queries, ...quantiles(times) }]),
  )
}

function quantiles(times: readonly number[]): { p50_us: number; p95_us: number } {
  if (times.length === 0) return { p50_us: 0, p95_us: 0 }
  const { p50Us, p95Us } = summariseTimes(times)
  return { p50_us: rounded(p50Us), p95_us: rounded(p95Us) }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
