import { readFile } from 'node:fs/promises'
import {
  type Collection,
  type CollectionDoc,
  createIndexBuilder,
  createLexicalIndex,
  gradeQueries,
  type LexicalIndex,
  parseCollection,
  summariseTimes,
  textToIndex,
  timeQueries,
} from 'crux-retrieval'
import { type Hashes, loadHashes, tenantHash } from 'crux-segment'
import { createMemorySegmentStore, type FrameInput } from 'crux-storage'
import { CruxError, createPauser, DEFAULT_TENANT } from 'crux-types'

/** Thrown for a ranking that cannot be measured; `data.mode`. */
export type RetrievalBenchErrorCode = 'BENCH_MODE_UNKNOWN'

export interface RetrievalBenchOptions {
  /** Documents, one JSON object a line: `{id, text, title?, group?}`. */
  readonly docsPath: string
  /** Judged queries, one JSON object a line: `{id, text, group?, rels}`. */
  readonly queriesPath: string
  /** How to rank; `bm25` is the only way there is. */
  readonly mode: string
  readonly signal?: AbortSignal
  readonly onProgress?: (step: RetrievalBenchStep) => void
}

/** How far the bench is within one of its parts. */
export interface RetrievalBenchStep {
  readonly part: 'index' | 'queries'
  readonly done: number
  readonly of: number
}

/** One line of results; member names are what scripts read. */
export interface RetrievalBenchResult {
  readonly mode: 'bm25'
  readonly docs: number
  readonly queries: number
  /** From texts in memory to an index that answers. */
  readonly index_ms: number
  /** From texts and index to a whole segment with its companion, hashes and checksums included, without the disk. */
  readonly seal_ms: number
  /** Size of the `.ccxi`. */
  readonly bytes: number
  readonly p50_us: number
  readonly p95_us: number
  readonly ndcg10: number
  readonly recall10: number
}

/** Timed passes over all queries, after the one that grades the answers. */
const PASSES = 5
const HITS = 10
/** Documents between two reports of progress. */
const REPORT_EVERY = 250

/**
 * Measure the ranking of a test collection. Each group is a tenant of one index.
 *
 * The index is built first, before anything else has warmed the code up: called once, early, in a
 * process of its own (as `corecruxctl bench retrieval` does), `index_ms` is that of a fresh process.
 *
 * @throws {CruxError} `BENCH_MODE_UNKNOWN`; `COLLECTION_INVALID`.
 */
export async function runRetrievalBench(
  options: RetrievalBenchOptions,
): Promise<RetrievalBenchResult> {
  const { mode, signal, onProgress } = options
  if (mode !== 'bm25') {
    throw new CruxError<RetrievalBenchErrorCode>(
      'BENCH_MODE_UNKNOWN',
      `mode '${mode}' cannot be measured yet; use --mode bm25`,
      { data: { mode } },
    )
  }
  const [docLines, queryLines] = await Promise.all([
    readFile(options.docsPath, { encoding: 'utf8', signal }),
    readFile(options.queriesPath, { encoding: 'utf8', signal }),
  ])
  const collection = parseCollection(docLines, queryLines)
  const hashes = await loadHashes()
  const { index, ccxi, index_ms } = await buildIndex(collection, hashes, signal, onProgress)
  const seal_ms = await seal(collection.docs, ccxi, signal)
  const measures = await measure(collection, index, signal, onProgress)
  return {
    mode,
    docs: collection.docs.length,
    queries: collection.queries.length,
    index_ms: rounded(index_ms),
    seal_ms: rounded(seal_ms),
    bytes: ccxi?.length ?? 0,
    ...measures,
  }
}

const SEGMENT = 'bench'
type Report = RetrievalBenchOptions['onProgress']

async function buildIndex(
  { docs }: Collection,
  hashes: Hashes,
  signal: AbortSignal | undefined,
  report: Report,
): Promise<{ index: LexicalIndex; ccxi: Uint8Array | undefined; index_ms: number }> {
  const pause = createPauser({ signal })
  const start = performance.now()
  const builder = createIndexBuilder(hashes)
  for (const [docId, doc] of docs.entries()) {
    const owner = tenantHash(tenantOf(doc), hashes)
    await builder.addInSlices(docId, textToIndex(doc), owner, docId, pause)
    if (docId % REPORT_EVERY === 0) report?.({ part: 'index', done: docId, of: docs.length })
  }
  const ccxi = await builder.finishInSlices({ shardId: 0, segmentSeq: 1, epoch: 1 }, pause)
  const index = createLexicalIndex(hashes)
  if (ccxi !== undefined) await index.addSegmentInSlices(SEGMENT, ccxi, pause)
  const index_ms = performance.now() - start
  report?.({ part: 'index', done: docs.length, of: docs.length })
  return { index, ccxi, index_ms }
}

async function seal(
  docs: readonly CollectionDoc[],
  ccxi: Uint8Array | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  const store = await createMemorySegmentStore()
  const start = performance.now()
  const companions = async () =>
    ccxi === undefined ? [] : [{ kind: 'ccxi' as const, bytes: ccxi }]
  if (docs.length > 0) {
    await store.seal({ frames: docs.map(frameOf), companions, ...(signal && { signal }) })
  }
  const took = performance.now() - start
  await store.close()
  return took
}

function frameOf(doc: CollectionDoc): FrameInput {
  return {
    tenantId: tenantOf(doc),
    streamType: 'bench',
    streamId: doc.id,
    eventId: doc.id,
    eventType: 'corecrux.prose.chunk.v1',
    contentType: 'text/plain; charset=utf-8',
    occurredAt: '2000-01-01T00:00:00.000Z',
    payload: Buffer.from(textToIndex(doc)),
  }
}

async function measure(
  { docs, queries }: Collection,
  index: LexicalIndex,
  signal: AbortSignal | undefined,
  report: Report,
): Promise<Pick<RetrievalBenchResult, 'p50_us' | 'p95_us' | 'ndcg10' | 'recall10'>> {
  const search = async (query: { text: string; group?: string }): Promise<string[]> => {
    const found = await index.search({ query: query.text, tenant: tenantOf(query), limit: HITS })
    return found.hits.flatMap(({ docId }) => docs[docId]?.id ?? [])
  }
  const passes = { ...(signal && { signal }) }
  const of = (PASSES + 1) * queries.length
  const { ndcg10, recall10 } = await gradeQueries(queries, search, passes)
  const times: number[] = []
  for (let pass = 1; pass <= PASSES; pass++) {
    report?.({ part: 'queries', done: pass * queries.length, of })
    times.push(...(await timeQueries(queries, search, passes)))
  }
  report?.({ part: 'queries', done: of, of })
  const { p50Us, p95Us } = times.length === 0 ? { p50Us: 0, p95Us: 0 } : summariseTimes(times)
  return { p50_us: rounded(p50Us), p95_us: rounded(p95Us), ndcg10, recall10 }
}

function tenantOf({ group }: { group?: string }): string {
  return group ?? DEFAULT_TENANT
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
