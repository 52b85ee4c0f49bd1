import { type Hashes, tenantHash } from 'crux-segment'
import { createPauser, type Pause } from 'crux-types'
import {
  analyserOf,
  DEFAULT_ANALYSER_VERSION,
  queryWeight,
  type Token,
} from '../analyser/analyser.js'
import { bm25Idf } from '../lexical/bm25.js'
import type {
  LexicalDoc,
  LexicalHit,
  LexicalIndex,
  WeightedTerm,
} from '../lexical/lexical-types.js'
import { type Candidate, Candidates } from './candidates.js'
import { DocFrequencies } from './doc-frequencies.js'
import { feedbackTerms } from './feedback-terms.js'
import type {
  DocGraph,
  FusedAnswer,
  FusedHit,
  FusedQuery,
  FusionSettings,
  LaneScores,
  WordSource,
} from './fused-types.js'
import type { SegmentWords } from './segment-words.js'
import { SimilarTerms, weighSimilar } from './similar-terms.js'
import { TUNED_FUSION } from './tuned-fusion.js'
import { type FusionWeights, weightsForGraph } from './weights.js'
import { type QueryWord, WordMatcher } from './word-matcher.js'

/** What a fused search reads. */
export interface FusedSearchSources {
  readonly index: LexicalIndex
  readonly hashes: Hashes
  /** Without words there are no neighbouring words, no similar words and no feedback. */
  readonly words?: WordSource
  readonly graph?: DocGraph
}

/** Ranks documents by several lanes at once. */
export interface FusedSearch {
  /**
   * Search, giving the event loop back every few milliseconds.
   *
   * Takes the best documents by weighted BM25 and the nearest vectors, looks at the words and the
   * neighbours of each, and orders them by the weighted sum of what the lanes say, each lane as a
   * share of its best.
   *
   * @throws {RangeError} When a weight or the limit is out of range.
   */
  search(query: FusedQuery, options?: { readonly signal?: AbortSignal }): Promise<FusedAnswer>
}

/** A fused search over an index; keeps what it learns of words and frequencies for later queries. */
export function createFusedSearch(sources: FusedSearchSources): FusedSearch {
  return new LaneFusion(sources)
}

interface Expansion {
  /** Terms of the query and those that joined it. */
  readonly all: readonly WeightedTerm[]
  /** Whether any joined it. */
  readonly isMore: boolean
  /** Those that joined it for their characters. */
  readonly similar: readonly WeightedTerm[]
}

/** Documents looked at between two looks at the clock. */
const SLICE = 16
/** Documents of the pool for each hit asked for, at least. */
const POOL_PER_HIT = 4

class LaneFusion implements FusedSearch {
  private readonly frequencies: DocFrequencies
  private readonly similar = new SimilarTerms()

  constructor(private readonly sources: FusedSearchSources) {
    this.frequencies = new DocFrequencies(sources.index)
  }

  async search(
    query: FusedQuery,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<FusedAnswer> {
    const { index, graph } = this.sources
    const settings = { ...TUNED_FUSION.settings, ...query.settings }
    const { tenant, limit, dense } = query
    const nodes = graph?.nodes(tenant) ?? 0
    const asked = query.weights ?? TUNED_FUSION.weights
    const cold = weightsForGraph(asked, nodes)
    const weights = dense === undefined ? { ...cold, dense: 0 } : cold
    const pause = createPauser({ signal: options.signal })
    const poolSize = Math.max(settings.pool, limit * POOL_PER_HIT)
    const tokens = analyserOf(DEFAULT_ANALYSER_VERSION).analyse(query.query)
    const base = await index.search({ query: query.query, tenant, limit: poolSize }, options)
    const expansion = await this.expand(tokens, base.hits, weights, settings, pause)
    const lexical = !expansion.isMore
      ? base
      : await index.searchTerms({ terms: expansion.all, tenant, limit: poolSize }, options)
    const pool = new Candidates()
    for (const hit of lexical.hits) pool.at(hit.segment, hit.docId).lexical = hit.score
    if (lexical !== base) this.addUnexpanded(pool, base.hits)
    const docsInPool = pool.all.length
    await this.addDense(pool, query, weights, poolSize, expansion.all, options.signal)
    await this.matchWords(pool, tokens, pause)
    const shares = sharesOf(pool.all, weights, settings)
    const scoreOf = (candidate: Candidate): number => weighted(lanesOf(candidate, shares), weights)
    const steps =
      weights.graph === 0 ? 0 : await this.walk(pool, query, settings, weights, scoreOf, pause)
    const ranked = pool.all
      .map((candidate) => ({ candidate, score: scoreOf(candidate) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
    const floor = query.minScore ?? Number.NEGATIVE_INFINITY
    const kept = ranked.filter(({ score }) => score >= floor)
    return {
      hits: this.hitsOf(kept, query, expansion.similar, shares, weights),
      totalCandidates: Math.max(base.totalCandidates, ranked.length),
      coverage: { ...base.coverage, belowFloor: ranked.length - kept.length },
      onlyStopWords: base.onlyStopWords,
      weights,
      degraded: this.degraded(asked, weights, query, nodes),
      stats: {
        docsScanned: pool.all.length,
        poolSize: docsInPool,
        graphNodesExpanded: steps,
        denseLaneActive: weights.dense > 0,
      },
    }
  }

  /** Documents whose words are not at hand keep what the query alone gave them. */
  private addUnexpanded(pool: Candidates, hits: readonly LexicalHit[]): void {
    for (const hit of hits) {
      if (this.wordsOf(hit.segment) !== undefined || pool.has(hit)) continue
      pool.at(hit.segment, hit.docId).lexical = hit.score
    }
  }

  private wordsOf(segment: string): SegmentWords | undefined {
    return this.sources.words?.of(segment)
  }

  /** The terms of the query with those that the best documents and the shapes of its words bring in. */
  private async expand(
    tokens: readonly Token[],
    best: readonly LexicalHit[],
    weights: FusionWeights,
    settings: FusionSettings,
    pause: Pause,
  ): Promise<Expansion> {
    const own = tokens
      .filter(({ isStop }) => !isStop)
      .map((token) => ({ term: token.term, weight: queryWeight(token) }))
    if (own.length === 0 || weights.bm25 === 0) return { all: own, isMore: false, similar: [] }
    const feedback: WeightedTerm[] = []
    const speakers = best.slice(0, settings.feedbackDocs).flatMap((hit) => {
      const words = this.wordsOf(hit.segment)
      return words === undefined ? [] : [{ ...hit, words }]
    })
    if (speakers.length > 0 && settings.feedbackWeight > 0) {
      const { tokens: corpusWords } = this.sources.index.stats()
      const total = own.reduce((sum, { weight }) => sum + weight, 0) * settings.feedbackWeight
      const { feedbackTerms: most } = settings
      for (const { term, weight } of feedbackTerms(speakers, this.frequencies, corpusWords, most)) {
        feedback.push({ term, weight: weight * total })
      }
    }
    const similar: WeightedTerm[] = []
    const share = similarShare(weights, settings)
    if (share > 0 && this.sources.words !== undefined) {
      const segments = [...this.sources.words.all()]
      for (const term of new Set(own.map((one) => one.term))) {
        for (const one of weighSimilar(await this.similar.of(term, segments, pause))) {
          similar.push({ term: one.term, weight: one.weight * share })
        }
      }
    }
    const isMore = feedback.length > 0 || similar.length > 0
    return { all: [...own, ...feedback, ...similar], isMore, similar }
  }

  private async addDense(
    pool: Candidates,
    { dense, tenant }: FusedQuery,
    weights: FusionWeights,
    limit: number,
    terms: readonly WeightedTerm[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (dense === undefined || weights.dense === 0) return
    const nearest = await dense.nearest(limit, signal)
    const fresh = nearest.filter((place) => !pool.has(place))
    const scores = this.sources.index.scoreOf(terms, tenant, fresh)
    for (const [i, { segment, docId }] of fresh.entries()) {
      pool.at(segment, docId).lexical = scores[i] ?? 0
    }
    for (const candidate of pool.all) {
      candidate.dense = dense.score(candidate.segment, candidate.docId) ?? 0
    }
  }

  /** Look for the query's words and their neighbours in the words of each document of the pool. */
  private async matchWords(
    pool: Candidates,
    tokens: readonly Token[],
    pause: Pause,
  ): Promise<void> {
    const { index } = this.sources
    const { docs, tokens: corpusWords } = index.stats()
    const query: QueryWord[] = tokens
      .filter(({ kind }) => kind === 'word' || kind === 'part')
      .map(({ term, isStop }) => {
        const df = isStop ? 0 : index.documentFrequency(term)
        return { term, isStop, idf: df === 0 ? 0 : bm25Idf(docs, df) }
      })
    const meanLength = docs === 0 ? 1 : corpusWords / docs
    const matcher = new WordMatcher(query)
    try {
      for (const [i, candidate] of pool.all.entries()) {
        const words = this.wordsOf(candidate.segment)
        const length = index.docLength(candidate.segment, candidate.docId)
        if (words === undefined || length === 0) continue
        const matches = matcher.score(words, candidate.docId, length, meanLength)
        candidate.coverage = matches.coverage
        candidate.contentPairs = matches.content
        candidate.textPairs = matches.text
        if (i % SLICE === SLICE - 1) await pause()
      }
    } finally {
      matcher.close()
    }
  }

  /** Let each document speak for its neighbours. @returns Steps taken. */
  private async walk(
    pool: Candidates,
    { tenant }: FusedQuery,
    { hops, leastConfidence }: FusionSettings,
    weights: FusionWeights,
    scoreOf: (candidate: Candidate) => number,
    pause: Pause,
  ): Promise<number> {
    const { graph } = this.sources
    if (graph === undefined || hops < 1) return 0
    const seeds = pool.all.map((candidate) => ({ candidate, score: scoreOf(candidate) }))
    const others = weights.bm25 + weights.sparse + weights.dense
    const most = others * bothSides(hops)
    let steps = 0
    for (const [i, { candidate, score }] of seeds.entries()) {
      if (score === 0) continue
      graph.walk(candidate, tenant, hops, (segment, docId, hop, confidence) => {
        steps += 1
        if (confidence < leastConfidence) return
        const known = pool.all.length
        const neighbour = pool.at(segment, docId)
        neighbour.graph = Math.min(neighbour.graph + (score * confidence) / hop / most, 1)
        const isNew = pool.all.length > known
        if (isNew || neighbour.hopDistance > hop) neighbour.hopDistance = hop
      })
      if (i % SLICE === SLICE - 1) await pause()
    }
    return steps
  }

  private hitsOf(
    ranked: readonly { readonly candidate: Candidate; readonly score: number }[],
    { tenant, limit }: FusedQuery,
    similar: readonly WeightedTerm[],
    shares: Shares,
    weights: FusionWeights,
  ): FusedHit[] {
    const { index, hashes } = this.sources
    const owner = tenantHash(tenant, hashes)
    const chosen: { candidate: Candidate; score: number; doc: LexicalDoc }[] = []
    for (const { candidate, score } of ranked) {
      if (chosen.length === limit) break
      // What a neighbour or a vector led to has not been through the index, which knows the owners.
      const doc = index.findDoc(candidate.segment, candidate.docId)
      if (doc?.tenantHash === owner) chosen.push({ candidate, score, doc })
    }
    // Similar words were found together with the others, but belong to another lane.
    const places = chosen.map(({ candidate }) => candidate)
    const similarScores = similar.length === 0 ? [] : index.scoreOf(similar, tenant, places)
    return chosen.map(({ candidate, score, doc }, i) => {
      const { segment, docId, hopDistance } = candidate
      const { docLength, frameOffset } = doc
      const lanes = lanesOf(candidate, shares)
      const ofSimilar = (similarScores[i] ?? 0) * shares.lexical
      const breakdown = {
        ...lanes,
        bm25: lanes.bm25 - ofSimilar,
        sparse: lanes.sparse + (ofSimilar * weights.bm25) / (weights.sparse || 1),
      }
      return { segment, docId, score, docLength, frameOffset, breakdown, hopDistance }
    })
  }

  private degraded(
    asked: FusionWeights,
    weights: FusionWeights,
    { dense }: FusedQuery,
    nodes: number,
  ): readonly string[] {
    const reasons: string[] = []
    if (asked.dense > 0 && dense === undefined) {
      reasons.push('the dense lane was left out: there are no vectors to compare')
    }
    if (asked.graph > 0 && weights.graph === 0) {
      reasons.push(`the weight of the graph lane went to bm25: its graph has ${nodes} nodes only`)
    }
    if (asked.sparse > 0 && this.sources.words === undefined) {
      reasons.push('the sparse lane was left out: the words of the documents are not at hand')
    }
    return reasons
  }
}

/** Factors that turn what was counted into lanes of 0..1. */
interface Shares {
  readonly lexical: number
  readonly coverage: number
  readonly contentPairs: number
  readonly textPairs: number
}

function sharesOf(
  candidates: readonly Candidate[],
  weights: FusionWeights,
  { coverage, contentPairs, textPairs, similarTerms }: FusionSettings,
): Shares {
  let best = 0
  let bestContent = 0
  let bestText = 0
  for (const candidate of candidates) {
    if (candidate.lexical > best) best = candidate.lexical
    if (candidate.contentPairs > bestContent) bestContent = candidate.contentPairs
    if (candidate.textPairs > bestText) bestText = candidate.textPairs
  }
  const parts = contentPairs + textPairs + similarTerms
  const share = (of: number, most: number): number =>
    most === 0 || parts === 0 ? 0 : of / parts / most
  return {
    lexical: best === 0 ? 0 : 1 / (1 + coverage) / best,
    coverage: coverage / (1 + coverage),
    contentPairs: weights.sparse === 0 ? 0 : share(contentPairs, bestContent),
    textPairs: weights.sparse === 0 ? 0 : share(textPairs, bestText),
  }
}

function lanesOf(candidate: Candidate, shares: Shares): LaneScores {
  return {
    bm25: candidate.lexical * shares.lexical + candidate.coverage * shares.coverage,
    graph: candidate.graph,
    dense: candidate.dense,
    sparse: candidate.contentPairs * shares.contentPairs + candidate.textPairs * shares.textPairs,
  }
}

function weighted(lanes: LaneScores, weights: FusionWeights): number {
  return (
    lanes.bm25 * weights.bm25 +
    lanes.graph * weights.graph +
    lanes.dense * weights.dense +
    lanes.sparse * weights.sparse
  )
}

/** Sum of 1 / hop over both directions: what a chain of equally good documents would give. */
function bothSides(hops: number): number {
  let sum = 0
  for (let hop = 1; hop <= hops; hop++) sum += 2 / hop
  return sum
}

/** Weight of a term that is similar to one of the query, so that it counts within the sparse lane. */
function similarShare(
  weights: FusionWeights,
  { coverage, contentPairs, textPairs, similarTerms }: FusionSettings,
): number {
  const parts = contentPairs + textPairs + similarTerms
  if (parts === 0) return 0
  return ((weights.sparse * similarTerms) / parts) * ((1 + coverage) / weights.bm25)
}
