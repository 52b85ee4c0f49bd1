import {
  createFusedSearch,
  type FusedSearch,
  type FusionWeights,
  type LexicalAnswer,
  rerankDense,
  TUNED_FUSION,
  tenantHash,
  withWeights,
} from 'crux-retrieval'
import type { DocumentEmbedders } from '../embedders.js'
import { DocumentGraph } from '../graph/document-graph.js'
import type { RelationSource } from '../graph/relations.js'
import type { ScoreSpace, SearchAnswer, SearchHit, SearchQuery } from '../search-types.js'
import type { CompanionSources } from '../segments/companions.js'
import type { ReaderSet } from '../segments/reader-set.js'
import type { Readers } from '../segments/readers.js'
import type { QueryVector } from '../vectors/vector-set.js'
import { DEFAULT_WORD_BYTES, WordStore } from '../words/word-store.js'
import { DEFAULT_QUERY_TIMEOUT_MS, findVector } from './query-vector.js'

/** What searches work with. */
export interface SearcherOptions extends CompanionSources {
  readonly set: ReaderSet
  readonly embedders: DocumentEmbedders
  /** Weights of mode `fused`; default: those chosen by measurement. */
  readonly fusionWeights?: FusionWeights | undefined
  /** Bound on the words in memory; default 512 MiB. */
  readonly maxWordBytes?: number | undefined
  /** How long a query waits for its vector; default 5,000. */
  readonly queryTimeoutMs?: number | undefined
  /** Relations that mode `fused` follows besides links and the order of chunks. */
  readonly relations?: RelationSource | undefined
}

/** How hits of several segments become one list, by how they were scored. */
const MERGE_RULES: Readonly<Record<ScoreSpace, string>> = {
  bm25_lexical: 'score_desc_global_bm25',
  bm25_dense_fused: 'score_desc_of_0.7_bm25_over_best_plus_0.3_cosine_among_bm25_hits',
  dense_cosine: 'score_desc_cosine_of_all_comparable_vectors',
  fused_lanes: 'score_desc_weighted_sum_of_lanes_over_all_segments',
}

/** Vectors looked at when those under a floor are counted. */
const MOST_COUNTED = 100_000
/** How often words are looked for when commits come in between. */
const WORD_TRIES = 3

/** An answer before it is put into words. */
interface Ranked {
  readonly space: ScoreSpace
  readonly hits: readonly RankedHit[]
  readonly totalCandidates: number
  readonly coverage: SearchAnswer['coverage']
  readonly degraded: readonly string[]
  readonly compared?: QueryVector | undefined
  readonly weights?: FusionWeights
}

type RankedHit = Omit<SearchHit, 'rank' | 'segmentIndex' | 'chunkRef' | 'docLengthTokens'> & {
  readonly segment: string
  readonly docLength: number
}

/** Ranks the chunks of one tenant, in every mode. */
export class Searcher {
  private readonly words: WordStore
  private readonly fused = new WeakMap<Readers, FusedSearch>()

  constructor(private readonly options: SearcherOptions) {
    this.words = new WordStore(options, options.maxWordBytes ?? DEFAULT_WORD_BYTES)
  }

  /**
   * Search.
   *
   * @throws {RangeError} When the limit is not an integer from 0, the floor not a number, or a weight out of range.
   * @throws {CruxError} `EMBEDDING_FAILED` for a strict query. @throws The reason of an abort.
   */
  async search(query: SearchQuery, signal: AbortSignal | undefined): Promise<SearchAnswer> {
    requireNumbers(query)
    const { set } = this.options
    const { mode = 'auto' } = query
    if (mode === 'bm25') return set.query((readers) => this.byWords(readers, query, [], signal))
    const weights = withWeights(this.options.fusionWeights ?? TUNED_FUSION.weights, query.weights)
    const isAsked = mode === 'dense' || (mode === 'fused' && weights.dense > 0)
    const vector =
      isAsked || mode === 'auto' ? await this.vectorOf(query, isAsked, signal) : NO_VECTOR
    if (mode === 'fused') return this.fuse(query, weights, vector, signal)
    const { query: compared, degraded } = vector
    if (compared === undefined) {
      return set.query((readers) => this.byWords(readers, query, degraded, signal))
    }
    return set.queryHeld(async (readers) => {
      const found = { readers, query, compared, degraded, signal }
      return mode === 'dense' ? byVectors(found, this.options) : rerank(found)
    })
  }

  private vectorOf(query: SearchQuery, isAsked: boolean, signal: AbortSignal | undefined) {
    const { set, hashes, embedders, queryTimeoutMs } = this.options
    const timeoutMs = queryTimeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS
    return findVector({ set, hashes, embedders, timeoutMs }, query, isAsked, signal)
  }

  private async byWords(
    readers: Readers,
    query: SearchQuery,
    degraded: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<SearchAnswer> {
    const found = await readers.index.search(lexicalQuery(query), signalled(signal))
    return answerOf(readers, { ...lexicalOf(found), degraded })
  }

  private async fuse(
    query: SearchQuery,
    weights: FusionWeights,
    vector: Awaited<ReturnType<typeof findVector>>,
    signal: AbortSignal | undefined,
  ): Promise<SearchAnswer> {
    const { set } = this.options
    const { tenant } = query
    const inForce = vector.query === undefined ? { ...weights, dense: 0 } : weights
    if (Object.values(inForce).every((weight) => weight === 0)) {
      return set.query((readers) => this.byWords(readers, query, vector.degraded, signal))
    }
    await this.options.relations?.refresh()
    for (let left = WORD_TRIES; ; left--) {
      // Files are read before the query holds anything, and only as often as commits bring new ones.
      const before = await set.query(async (readers) => readers)
      await this.words.load(before, tenant, signal)
      const found = await set.queryHeld(async (readers) => {
        if (left > 1 && !this.words.isReady(readers, tenant)) return undefined
        return this.runFused(readers, query, inForce, vector, signal)
      })
      if (found !== undefined) return found
    }
  }

  private async runFused(
    readers: Readers,
    query: SearchQuery,
    weights: FusionWeights,
    vector: Awaited<ReturnType<typeof findVector>>,
    signal: AbortSignal | undefined,
  ): Promise<SearchAnswer> {
    const { tenant } = query
    const { segments, lacking } = this.words.count(readers, tenant)
    const compared = vector.query
    const found = await this.fusedOf(readers).search(
      {
        ...lexicalQuery(query),
        weights,
        ...(compared === undefined ? {} : { dense: denseLane(readers, tenant, compared) }),
      },
      signalled(signal),
    )
    const { maxWordBytes = DEFAULT_WORD_BYTES } = this.options
    const wordless =
      lacking === 0
        ? []
        : [
            `${lacking} of ${segments} segments take part by single words only: their words in order are missing or do not fit into ${maxWordBytes} bytes; run 'corecruxctl ccxi rebuild'`,
          ]
    return answerOf(readers, {
      space: 'fused_lanes',
      hits: found.hits,
      totalCandidates: found.totalCandidates,
      coverage: found.coverage,
      degraded: [...vector.degraded, ...wordless, ...found.degraded],
      compared,
      weights: found.weights,
    })
  }

  private fusedOf(readers: Readers): FusedSearch {
    const known = this.fused.get(readers)
    if (known !== undefined) return known
    const { index } = readers
    const { hashes, set, relations } = this.options
    const graph = new DocumentGraph(readers, set.catalog, relations)
    const fused = createFusedSearch({ index, hashes, words: this.words, graph })
    this.fused.set(readers, fused)
    return fused
  }
}

const NO_VECTOR: Awaited<ReturnType<typeof findVector>> = { query: undefined, degraded: [] }

interface VectorSearch {
  readonly readers: Readers
  readonly query: SearchQuery
  readonly compared: QueryVector
  readonly degraded: readonly string[]
  readonly signal: AbortSignal | undefined
}

/** The hits of BM25, ordered anew by what their vectors say as well. */
async function rerank({ readers, query, compared, degraded, signal }: VectorSearch) {
  const { minScore, ...unfloored } = lexicalQuery(query)
  const found = await readers.index.search(unfloored, signalled(signal))
  const score = readers.vectors.scorer(compared)
  const hits = rerankDense(found.hits, { score: ({ segment, docId }) => score(segment, docId) })
  const kept = minScore === undefined ? hits : hits.filter((hit) => hit.score >= minScore)
  return answerOf(readers, {
    space: 'bm25_dense_fused',
    hits: kept,
    totalCandidates: found.totalCandidates,
    coverage: { ...found.coverage, belowFloor: hits.length - kept.length },
    degraded,
    compared,
  })
}

/** The nearest vectors. The coverage stays that of the words. */
async function byVectors(
  { readers, query, compared, degraded, signal }: VectorSearch,
  { hashes }: Pick<SearcherOptions, 'hashes'>,
) {
  const { tenant, limit, minScore } = query
  const words = { query: query.query, tenant, limit: 0 }
  const { coverage } = await readers.index.search(words, signalled(signal))
  const most = minScore === undefined ? limit : Math.max(limit, MOST_COUNTED)
  const digestOf = (id: string) => readers.digestOf(id)
  const found = await readers.vectors.nearest(compared, tenant, digestOf, most, signal)
  const owner = tenantHash(tenant, hashes)
  const floor = minScore ?? Number.NEGATIVE_INFINITY
  const hits: RankedHit[] = []
  let belowFloor = 0
  for (const { segment, docId, score } of found.hits) {
    if (score < floor) belowFloor++
    else if (hits.length < limit) {
      // The index knows whose a document is, and whether it is one.
      const doc = readers.index.findDoc(segment, docId)
      if (doc?.tenantHash !== owner) continue
      const { docLength, frameOffset } = doc
      hits.push({ segment, docId, score, docLength, frameOffset, breakdown: { dense: score } })
    }
  }
  return answerOf(readers, {
    space: 'dense_cosine',
    hits,
    totalCandidates: found.compared,
    coverage: { ...coverage, belowFloor },
    degraded,
    compared,
  })
}

function denseLane(readers: Readers, tenant: string, compared: QueryVector) {
  const score = readers.vectors.scorer(compared)
  return {
    nearest: async (limit: number, signal?: AbortSignal) => {
      const digestOf = (id: string) => readers.digestOf(id)
      return (await readers.vectors.nearest(compared, tenant, digestOf, limit, signal)).hits
    },
    score,
  }
}

function lexicalOf({ hits, totalCandidates, coverage }: LexicalAnswer): Omit<Ranked, 'degraded'> {
  return {
    space: 'bm25_lexical',
    hits: hits.map((hit) => ({ ...hit, breakdown: { bm25: hit.score } })),
    totalCandidates,
    coverage,
  }
}

function answerOf(readers: Readers, ranked: Ranked): SearchAnswer {
  const { compared, weights, space } = ranked
  return {
    isEmpty: readers.size === 0,
    hits: ranked.hits.map((hit, place) => hitOf(readers, hit, place + 1)),
    totalCandidates: ranked.totalCandidates,
    coverage: ranked.coverage,
    scoreSpace: space,
    scoreMergeRule: MERGE_RULES[space],
    segmentsSearched: readers.size,
    totalDocs: readers.index.stats().docs,
    degraded: ranked.degraded,
    isDense: compared !== undefined,
    semanticProfile: compared?.profile ?? null,
    ...(weights === undefined ? {} : { weights }),
  }
}

function hitOf(readers: Readers, hit: RankedHit, rank: number): SearchHit {
  const { segment, docId, score, docLength, frameOffset, breakdown, hopDistance } = hit
  const segmentIndex = readers.positionOf(segment) ?? 0 // a segment of the index has a place
  return {
    rank,
    score,
    segmentIndex,
    docId,
    chunkRef: readers.chunkRefOf(segmentIndex, docId),
    docLengthTokens: docLength,
    frameOffset,
    breakdown,
    ...(hopDistance === undefined ? {} : { hopDistance }),
  }
}

function lexicalQuery({ query, tenant, limit, minScore }: SearchQuery) {
  return { query, tenant, limit, ...(minScore === undefined ? {} : { minScore }) }
}

function signalled(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

function requireNumbers({ limit, minScore }: SearchQuery): void {
  if (!(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new RangeError(`limit: expected an integer from 0, got ${limit}`)
  }
  if (minScore !== undefined && !Number.isFinite(minScore)) {
    throw new RangeError(`minScore: expected a number, got ${minScore}`)
  }
}
