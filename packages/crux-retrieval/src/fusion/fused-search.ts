import { type Hashes, tenantHash } from 'crux-segment'
import { createPauser, type Pause } from 'crux-types'
import { queryWeight, type Token } from '../analyser/analyser.js'
import { bm25Idf, bm25LengthNorm } from '../lexical/bm25.js'
import type {
  LexicalAnswer,
  LexicalDoc,
  LexicalIndex,
  TermAnswer,
  WeightedTerm,
} from '../lexical/lexical-types.js'
import { TopHits } from '../lexical/top-hits.js'
import { Candidates } from './candidates.js'
import { DocFrequencies } from './doc-frequencies.js'
import { feedbackTerms } from './feedback-terms.js'
import type {
  DocGraph,
  FusedAnswer,
  FusedHit,
  FusedQuery,
  FusionSettings,
  WordSource,
} from './fused-types.js'
import { type LaneShares, lanesOf, sharesOf, weighCandidates } from './lane-scores.js'
import type { SegmentWords } from './segment-words.js'
import { SimilarTerms, weighSimilar } from './similar-terms.js'
import { TUNED_FUSION } from './tuned-fusion.js'
import { type FusionWeights, weightsForGraph } from './weights.js'
import { WordMatcher } from './word-matcher.js'

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

/** Terms of a query, and what they were found by. */
interface Expansion {
  /** Terms of the query and those that joined it. */
  readonly all: readonly WeightedTerm[]
  /** Whether any joined it. */
  readonly isMore: boolean
  /** Those that joined it for their characters. */
  readonly similar: readonly WeightedTerm[]
}

/** What one query works with. */
interface Run {
  readonly query: FusedQuery
  readonly settings: FusionSettings
  readonly weights: FusionWeights
  readonly tokens: readonly Token[]
  readonly candidates: Candidates
  readonly pause: Pause
  readonly signal: { readonly signal?: AbortSignal }
}

/** Documents looked at between two looks at the clock. */
const SLICE = 16
/** Documents of the pool for each hit asked for, at least. */
const POOL_PER_HIT = 4
/** Words of a query that similar ones are looked for; a query may be a whole document. */
const MOST_COMPARED = 64
/** Documents whose words are looked at for each hit asked for, at least. */
const CLOSE_PER_HIT = 2

class LaneFusion implements FusedSearch {
  private readonly frequencies: DocFrequencies
  private readonly similar = new SimilarTerms()
  private spare: Candidates | undefined

  constructor(private readonly sources: FusedSearchSources) {
    this.frequencies = new DocFrequencies(sources.index)
  }

  async search(
    query: FusedQuery,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<FusedAnswer> {
    const { graph } = this.sources
    const asked = query.weights ?? TUNED_FUSION.weights
    const nodes = graph?.nodes(query.tenant) ?? 0
    const warm = weightsForGraph(asked, nodes)
    const weights = query.dense === undefined ? { ...warm, dense: 0 } : warm
    const candidates = this.spare ?? new Candidates()
    this.spare = undefined
    const pause = createPauser({ signal: options.signal })
    try {
      const answer = await this.run({
        query,
        settings: { ...TUNED_FUSION.settings, ...query.settings },
        weights,
        tokens: await this.sources.index.tokensOf(query.query, pause),
        candidates,
        pause,
        signal: options,
      })
      return { ...answer, degraded: this.degraded(asked, weights, query, nodes) }
    } finally {
      candidates.clear()
      this.spare = candidates
    }
  }

  private async run(run: Run): Promise<Omit<FusedAnswer, 'degraded'>> {
    const { query, settings, weights, candidates } = run
    const poolSize = Math.max(settings.pool, query.limit * POOL_PER_HIT)
    const { base, lexical, expansion } = await this.findLexical(run, poolSize)
    for (const { segment, docId, score } of lexical.hits) {
      candidates.lexical[candidates.numberOf(segment, docId)] = score
    }
    if (lexical !== base) this.addUnexpanded(candidates, base)
    const inPool = candidates.size
    await this.addDense(run, poolSize, expansion.all)
    await this.matchWords(run, Math.max(settings.closeLook, query.limit * CLOSE_PER_HIT))
    const shares = sharesOf(candidates, weights, settings)
    weighCandidates(candidates, shares, weights, candidates.before)
    const steps = await this.walk(run)
    weighCandidates(candidates, shares, weights, candidates.after)
    const floor = query.minScore ?? Number.NEGATIVE_INFINITY
    let ranked = 0
    let belowFloor = 0
    for (let number = 0; number < candidates.size; number++) {
      const score = candidates.after[number] as number // a number of a candidate
      if (score <= 0) continue
      ranked += 1
      if (score < floor) belowFloor += 1
    }
    return {
      hits: this.hitsOf(run, floor, expansion.similar, shares),
      totalCandidates: Math.max(base.totalCandidates, ranked),
      coverage: { ...base.coverage, belowFloor },
      onlyStopWords: base.onlyStopWords,
      weights,
      stats: {
        docsScanned: candidates.size,
        poolSize: inPool,
        graphNodesExpanded: steps,
        denseLaneActive: weights.dense > 0,
      },
    }
  }

  /** The best documents for the query alone, then for the query with the terms that joined it. */
  private async findLexical(
    run: Run,
    poolSize: number,
  ): Promise<{ base: LexicalAnswer; lexical: LexicalAnswer | TermAnswer; expansion: Expansion }> {
    const { index } = this.sources
    const { tenant, query } = run.query
    const segments = [...(this.sources.words?.all() ?? [])]
    // Documents whose words are not at hand are ranked by the query alone, so all of the pool is needed.
    const isComplete = segments.length > 0 && segments.length === index.stats().segments
    const limit = isComplete ? Math.min(run.settings.feedbackDocs, poolSize) : poolSize
    const base = await index.search({ query, tenant, limit }, run.signal)
    const expansion = await this.expand(run, base, segments)
    if (expansion.isMore) {
      const wanted = { terms: expansion.all, tenant, limit: poolSize }
      return { base, lexical: await index.searchTerms(wanted, run.signal), expansion }
    }
    if (limit === poolSize) return { base, lexical: base, expansion }
    const all = await index.search({ query, tenant, limit: poolSize }, run.signal)
    return { base: all, lexical: all, expansion }
  }

  /** The terms of the query with those that the best documents and the shapes of its words bring in. */
  private async expand(
    { tokens, weights, settings, pause }: Run,
    best: LexicalAnswer,
    segments: readonly SegmentWords[],
  ): Promise<Expansion> {
    const own: WeightedTerm[] = []
    for (const token of tokens) {
      if (!token.isStop) own.push({ term: token.term, weight: queryWeight(token) })
    }
    if (own.length === 0 || weights.bm25 === 0) return { all: own, isMore: false, similar: [] }
    const feedback: WeightedTerm[] = []
    const speakers: { words: SegmentWords; docId: number; score: number }[] = []
    if (settings.feedbackWeight > 0) {
      for (const { segment, docId, score } of best.hits.slice(0, settings.feedbackDocs)) {
        const words = await this.loaded(segment, pause)
        if (words !== undefined) speakers.push({ words, docId, score })
      }
    }
    if (speakers.length > 0) {
      const { tokens: corpusWords } = this.sources.index.stats()
      const total = own.reduce((sum, { weight }) => sum + weight, 0) * settings.feedbackWeight
      const { feedbackTerms: most } = settings
      for (const { term, weight } of feedbackTerms(speakers, this.frequencies, corpusWords, most)) {
        feedback.push({ term, weight: weight * total })
      }
    }
    const similar: WeightedTerm[] = []
    const share = similarShare(weights, settings)
    if (share > 0 && segments.length > 0) {
      this.similar.setSegments(segments)
      const seen = new Set<string>()
      for (const { term } of own) {
        if (seen.size === MOST_COMPARED) break
        if (seen.has(term)) continue
        seen.add(term)
        const found = this.similar.known(term) ?? (await this.similar.find(term, pause))
        for (const one of weighSimilar(found)) {
          similar.push({ term: one.term, weight: one.weight * share })
        }
      }
    }
    const isMore = feedback.length > 0 || similar.length > 0
    return { all: isMore ? [...own, ...feedback, ...similar] : own, isMore, similar }
  }

  /** Documents whose words are not at hand keep what the query alone gave them. */
  private addUnexpanded(candidates: Candidates, { hits }: LexicalAnswer): void {
    for (const { segment, docId, score } of hits) {
      if (this.sources.words?.of(segment) !== undefined) continue
      if (candidates.has(segment, docId)) continue
      candidates.lexical[candidates.numberOf(segment, docId)] = score
    }
  }

  private async addDense(
    { query: { dense, tenant }, weights, candidates, signal }: Run,
    limit: number,
    terms: readonly WeightedTerm[],
  ): Promise<void> {
    if (dense === undefined || weights.dense === 0) return
    const nearest = await dense.nearest(limit, signal.signal)
    const fresh = nearest.filter(({ segment, docId }) => !candidates.has(segment, docId))
    const scores = this.sources.index.scoreOf(terms, tenant, fresh)
    for (const [i, { segment, docId }] of fresh.entries()) {
      candidates.lexical[candidates.numberOf(segment, docId)] = scores[i] ?? 0
    }
    for (let number = 0; number < candidates.size; number++) {
      const { segment, docId } = candidates.placeOf(number)
      candidates.dense[number] = dense.score(segment, docId) ?? 0
    }
  }

  /** Look for the query's words and their neighbours in the words of the best documents of the pool. */
  private async matchWords(run: Run, most: number): Promise<void> {
    const { candidates, tokens, pause } = run
    const { index } = this.sources
    const { docs, tokens: corpusWords } = index.stats()
    const meanLength = docs === 0 ? 1 : corpusWords / docs
    const query = []
    for (const { kind, term, isStop } of tokens) {
      if (kind !== 'word' && kind !== 'part') continue
      const df = isStop ? 0 : this.frequencies.ofTerm(term)
      query.push({ term, isStop, idf: df === 0 ? 0 : bm25Idf(docs, df) })
    }
    const matcher = new WordMatcher(query)
    const matches = { coverage: 0, content: 0, text: 0 }
    try {
      const end = Math.min(candidates.size, most)
      for (let number = 0; number < end; number++) {
        if (number % SLICE === SLICE - 1) {
          const pausing = pause()
          if (pausing !== undefined) await pausing
        }
        const segment = candidates.segments[number] ?? ''
        const docId = candidates.docIds[number] ?? 0
        const words = this.sources.words?.of(segment)
        if (words === undefined) continue
        const loading = words.load(pause)
        if (loading !== undefined) await loading
        const norm = bm25LengthNorm(index.docLength(segment, docId), meanLength)
        matcher.score(words, docId, norm, matches)
        candidates.coverage[number] = matches.coverage
        candidates.contentPairs[number] = matches.content
        candidates.textPairs[number] = matches.text
      }
    } finally {
      matcher.close()
    }
  }

  /** Let each document speak for its neighbours. @returns Steps taken. */
  private async walk({
    candidates,
    query: { tenant },
    settings,
    weights,
    pause,
  }: Run): Promise<number> {
    const { graph } = this.sources
    const { hops, leastConfidence } = settings
    if (graph === undefined || weights.graph === 0 || hops < 1) return 0
    const most = (weights.bm25 + weights.sparse + weights.dense) * bothSides(hops)
    let steps = 0
    let score = 0
    const visit = (segment: string, docId: number, hop: number, confidence: number): void => {
      steps += 1
      if (confidence < leastConfidence) return
      const known = candidates.size
      const number = candidates.numberOf(segment, docId)
      const sum = (candidates.graph[number] as number) + (score * confidence) / hop / most
      candidates.graph[number] = Math.min(sum, 1)
      const isNew = candidates.size > known
      if (isNew || (candidates.hops[number] as number) > hop) candidates.hops[number] = hop
    }
    // Candidates that the walk adds are behind the end: they have nothing to say themselves.
    for (let number = 0, end = candidates.size; number < end; number++) {
      score = candidates.before[number] as number // below the size
      if (score > 0) graph.walk(candidates.placeOf(number), tenant, hops, visit)
      if (number % SLICE === SLICE - 1) {
        const pausing = pause()
        if (pausing !== undefined) await pausing
      }
    }
    return steps
  }

  private hitsOf(
    { candidates, query: { tenant, limit }, weights }: Run,
    floor: number,
    similar: readonly WeightedTerm[],
    shares: LaneShares,
  ): FusedHit[] {
    const { index, hashes } = this.sources
    const owner = tenantHash(tenant, hashes)
    const chosen: { number: number; doc: LexicalDoc }[] = []
    const ranking = limit === 0 ? [] : rankedNumbers(candidates, floor, limit)
    for (const number of ranking) {
      const { segment, docId } = candidates.placeOf(number)
      // What a neighbour or a vector led to has not been through the index, which knows the owners.
      const doc = index.findDoc(segment, docId)
      if (doc?.tenantHash === owner) chosen.push({ number, doc })
      // Before the next one is asked for: those behind the best few are costly to find.
      if (chosen.length === limit) break
    }
    // Similar words were found together with the others, but belong to another lane.
    const places = chosen.map(({ number }) => candidates.placeOf(number))
    const similarScores = similar.length === 0 ? [] : index.scoreOf(similar, tenant, places)
    return chosen.map(({ number, doc }, i) => {
      const { bm25, graph, dense, sparse } = lanesOf(candidates, number, shares)
      const ofSimilar = (similarScores[i] ?? 0) * shares.lexical
      return {
        segment: candidates.segments[number] ?? '',
        docId: candidates.docIds[number] ?? 0,
        score: candidates.after[number] ?? 0,
        docLength: doc.docLength,
        frameOffset: doc.frameOffset,
        breakdown: {
          bm25: bm25 - ofSimilar,
          graph,
          dense,
          sparse: sparse + (ofSimilar * weights.bm25) / (weights.sparse || 1),
        },
        hopDistance: candidates.hops[number] ?? 0,
      }
    })
  }

  private async loaded(segment: string, pause: Pause): Promise<SegmentWords | undefined> {
    const words = this.sources.words?.of(segment)
    await words?.load(pause)
    return words
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

/**
 * Candidates that reach the floor, best first; equal ones in the order in which they were found. The
 * best few are found without sorting all; those behind them follow for whoever goes on.
 */
function* rankedNumbers(
  { size, after }: Candidates,
  floor: number,
  limit: number,
): Generator<number> {
  const top = new TopHits(Math.min(limit, size))
  for (let number = 0; number < size; number++) {
    const score = after[number] as number // below the size
    if (score > 0 && score >= floor && score >= top.entry) top.offer(number, score)
  }
  top.sort()
  const given = new Set<number>()
  for (let i = 0; i < top.size; i++) {
    given.add(top.docAt(i))
    yield top.docAt(i)
  }
  const others: number[] = []
  for (let number = 0; number < size; number++) {
    const score = after[number] as number // as above
    if (score > 0 && score >= floor && !given.has(number)) others.push(number)
  }
  yield* others.sort((a, b) => (after[b] ?? 0) - (after[a] ?? 0) || a - b)
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
