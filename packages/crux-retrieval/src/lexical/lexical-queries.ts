import type { Hashes } from 'crux-segment'
import {
  analyserOf,
  DEFAULT_ANALYSER_VERSION,
  queryWeight,
  type Token,
} from '../analyser/analyser.js'
import { countCandidates } from './count-candidates.js'
import type {
  LexicalAnswer,
  LexicalHit,
  LexicalQuery,
  TermAnswer,
  TermQuery,
  WeightedTerm,
} from './lexical-types.js'
import {
  type AnalysedQuery,
  analyseQuery,
  analyseQueryInSlices,
  coverageOf,
  LONG_QUERY,
} from './query-words.js'
import { makeScoreScratch, scoreAll } from './score-all.js'
import { scorePruned } from './score-pruned.js'
import { type ScoredTerm, sortByWeight, termWeight } from './scored-term.js'
import { createScratchPool } from './scratch-pool.js'
import type { AnalyserVersion, TenantView } from './tenant-view.js'
import { keepsShares, shareAt, type TermList } from './term-list.js'
import { TopHits } from './top-hits.js'

/** Postings of a query up to which walking all of them is cheaper than finding out which not to walk. */
const PRUNE_FROM = 16 * 1024
/** The same where lists keep the shares of their postings, and walking takes a third of the time. */
const PRUNE_SMALL_FROM = 128 * 1024
/** Terms looked up between two looks at the clock. */
const TERM_SLICE = 256

/** A term of a query with how much of it there is. */
interface CountedList {
  readonly list: TermList
  factor: number
}

/** Answers queries over views; keeps what queries share. */
export class LexicalQueries {
  private readonly scores = createScratchPool(makeScoreScratch)
  private readonly windows = createScratchPool((size) => new Float64Array(size))
  private readonly seen = createScratchPool((size) => new Uint32Array(size))
  private queryId = 0
  private last:
    | { readonly query: string; readonly version: number; readonly tokens: readonly Token[] }
    | undefined

  constructor(
    private readonly hashes: Hashes,
    private readonly pruneFrom?: number,
  ) {}

  /** Tokens of a short query; those of the last one are remembered, as another lane may ask for them. */
  tokensOf(version: AnalyserVersion, query: string): readonly Token[] {
    const { last } = this
    if (last !== undefined && last.query === query && last.version === version) return last.tokens
    const tokens = analyserOf(version).analyse(query)
    this.last = { query, version, tokens }
    return tokens
  }

  /** Answer at once a query whose lists are there and short; undefined for any other. */
  searchAtOnce(view: TenantView, request: LexicalQuery): LexicalAnswer | undefined {
    const { query, limit, minScore } = request
    if (query.length > LONG_QUERY) return undefined
    const { version, isMixed } = view.corpus
    const main = { version, tokens: this.tokensOf(version, query), lists: [] }
    if (!this.findLists(view, main)) return undefined
    const other = isMixed ? analyseQuery(1, query) : undefined
    if (other !== undefined && !this.findLists(view, other)) return undefined
    const terms = this.weigh(view, this.count(main, other))
    if (this.isPruned(view, terms)) return undefined
    const found = this.rankAll(view, terms, limit, minScore)
    return answerOf(found, query, main, other)
  }

  /** Answer any query; yields wherever it may be interrupted. */
  *search(view: TenantView, request: LexicalQuery): Generator<void, LexicalAnswer> {
    const { query, limit, minScore } = request
    const { version, isMixed } = view.corpus
    const main = yield* analyseQueryInSlices(version, query)
    yield* this.readLists(view, main)
    const other = isMixed ? yield* analyseQueryInSlices(1, query) : undefined
    if (other !== undefined) yield* this.readLists(view, other)
    const terms = this.weigh(view, this.count(main, other))
    const found = yield* this.rank(view, terms, limit, minScore)
    return answerOf(found, query, main, other)
  }

  /** Answer a query of weighted terms; yields wherever it may be interrupted. */
  *searchTerms(view: TenantView, request: TermQuery): Generator<void, TermAnswer> {
    const { terms, limit, minScore } = request
    const scored = yield* this.readTerms(view, terms)
    return yield* this.rank(view, scored, limit, minScore)
  }

  /** Scores of documents by number in the view; 0 for undefined. */
  *scoreOf(
    view: TenantView,
    terms: readonly WeightedTerm[],
    docs: readonly (number | undefined)[],
  ): Generator<void, Float64Array> {
    const scores = new Float64Array(docs.length)
    for (const { list, weight } of yield* this.readTerms(view, terms)) {
      for (const [i, doc] of docs.entries()) {
        const place = doc === undefined ? -1 : list.placeOf(doc)
        if (place < 0) continue
        const share = shareAt(list, view.norm, view.lengths, place)
        scores[i] = (scores[i] as number) + weight * share
      }
      yield
    }
    return scores
  }

  /** A term's list, read if need be. */
  *listOf(view: TenantView, version: AnalyserVersion, term: string): Generator<void, TermList> {
    return view.find(version, term) ?? (yield* view.read(version, term, this.hashes))
  }

  private findLists(view: TenantView, { version, tokens, lists }: AnalysedQuery): boolean {
    for (const token of tokens) {
      if (token.isStop) {
        lists.push(undefined)
        continue
      }
      const list = view.find(version, token.term)
      if (list === undefined) return false
      lists.push(list)
    }
    return true
  }

  private *readLists(
    view: TenantView,
    { version, tokens, lists }: AnalysedQuery,
  ): Generator<void, void> {
    // A term keeps its list for the whole query, whatever leaves the cache meanwhile.
    const known = new Map<string, TermList>()
    for (const [i, { term, isStop }] of tokens.entries()) {
      if (i % TERM_SLICE === TERM_SLICE - 1) yield
      if (isStop) {
        lists.push(undefined)
        continue
      }
      const list = known.get(term) ?? (yield* this.listOf(view, version, term))
      known.set(term, list)
      lists.push(list)
    }
  }

  /** Each list of a query once, in the order in which they come, with its number of occurrences. */
  private count(main: AnalysedQuery, other: AnalysedQuery | undefined): CountedList[] {
    const counted: CountedList[] = []
    const id = this.nextQueryId()
    addCounts(counted, main, id)
    if (other !== undefined) addCounts(counted, other, id)
    return counted
  }

  private *readTerms(
    view: TenantView,
    terms: readonly WeightedTerm[],
  ): Generator<void, ScoredTerm[]> {
    const lists: TermList[] = []
    for (const [i, { term, weight }] of terms.entries()) {
      if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) {
        throw new RangeError(`weight of term '${term}' is ${weight}, expected a number from 0 on`)
      }
      if (i % TERM_SLICE === TERM_SLICE - 1) yield
      const known = view.find(DEFAULT_ANALYSER_VERSION, term)
      lists.push(known ?? (yield* this.listOf(view, DEFAULT_ANALYSER_VERSION, term)))
    }
    const counted: CountedList[] = []
    const id = this.nextQueryId()
    for (const [i, list] of lists.entries()) addCount(counted, list, terms[i]?.weight ?? 0, id)
    return this.weigh(view, counted)
  }

  /** The lists that hold documents, heaviest first. */
  private weigh({ corpus }: TenantView, counted: readonly CountedList[]): ScoredTerm[] {
    const terms: ScoredTerm[] = []
    for (const { list, factor } of counted) {
      if (list.length === 0 || factor === 0) continue
      terms.push({ list, weight: termWeight(corpus.docs, list.df, factor) })
    }
    sortByWeight(terms)
    return terms
  }

  private isPruned({ size }: TenantView, terms: readonly ScoredTerm[]): boolean {
    const from = this.pruneFrom ?? (keepsShares(size) ? PRUNE_SMALL_FROM : PRUNE_FROM)
    let postings = 0
    for (const { list } of terms) postings += list.length
    return postings >= from
  }

  private *rank(
    view: TenantView,
    terms: readonly ScoredTerm[],
    limit: number,
    minScore: number | undefined,
  ): Generator<void, TermAnswer> {
    if (!this.isPruned(view, terms)) return this.rankAll(view, terms, limit, minScore)
    const most = Math.min(limit, view.size)
    const top = new TopHits(most)
    for (const { list } of terms) yield* list.prepare(view.norm, view.lengths)
    const totalCandidates = yield* countCandidates(terms, view.size, this.seen)
    const reached = yield* scorePruned(terms, view, most, minScore, top, this.windows)
    const belowFloor = minScore === undefined ? 0 : totalCandidates - reached
    return { hits: hitsOf(view, top), totalCandidates, belowFloor }
  }

  private rankAll(
    view: TenantView,
    terms: readonly ScoredTerm[],
    limit: number,
    minScore: number | undefined,
  ): TermAnswer {
    const top = new TopHits(Math.min(limit, view.size))
    const { candidates, belowFloor } = scoreAll(terms, view, minScore, top, this.scores)
    return { hits: hitsOf(view, top), totalCandidates: candidates, belowFloor }
  }

  private nextQueryId(): number {
    this.queryId += 1
    return this.queryId
  }
}

/** Marks on the lists tell whether one was met before: cheaper than a map of terms, and nothing waits meanwhile. */
function addCounts(counted: CountedList[], { tokens, lists }: AnalysedQuery, id: number): void {
  for (let i = 0; i < lists.length; i++) {
    const list = lists[i]
    if (list !== undefined) addCount(counted, list, queryWeight(tokens[i] as Token), id) // as many tokens
  }
}

function addCount(counted: CountedList[], list: TermList, factor: number, id: number): void {
  if (list.queryId === id) {
    const known = counted[list.queryAt] as CountedList // where it was put below
    known.factor += factor
    return
  }
  list.queryId = id
  list.queryAt = counted.length
  counted.push({ list, factor })
}

function hitsOf(view: TenantView, top: TopHits): LexicalHit[] {
  top.sort()
  const hits: LexicalHit[] = []
  for (let i = 0; i < top.size; i++) {
    const { segment, docId } = view.locate(top.docAt(i))
    hits.push({
      segment: segment.key,
      docId,
      score: top.scoreAt(i),
      docLength: segment.lengths[docId] as number, // a document of the segment
      frameOffset: segment.reader.docFrameOffset(docId),
    })
  }
  return hits
}

function answerOf(
  { hits, totalCandidates, belowFloor }: TermAnswer,
  query: string,
  main: AnalysedQuery,
  other: AnalysedQuery | undefined,
): LexicalAnswer {
  const { score, missingTokens, onlyStopWords } = coverageOf(query, main, other)
  return {
    hits,
    totalCandidates,
    coverage: { score, missingTokens, belowFloor },
    onlyStopWords,
  }
}
