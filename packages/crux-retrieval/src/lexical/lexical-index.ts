import { type CcxiReader, type Hashes, openCcxi, openCcxiInSlices, tenantHash } from 'crux-segment'
import { CruxError, createPauser, type Pause, runInSlices, runNow } from 'crux-types'
import { DEFAULT_ANALYSER_VERSION, type Token } from '../analyser/analyser.js'
import type { RetrievalErrorCode } from '../errors.js'
import {
  hideDocs,
  type IndexedSegment,
  isHidden,
  isIndexed,
  readSegment,
} from './indexed-segment.js'
import { LexicalQueries } from './lexical-queries.js'
import type {
  DocPlace,
  LexicalAnswer,
  LexicalDoc,
  LexicalIndex,
  LexicalQuery,
  NewSegment,
  TermAnswer,
  TermQuery,
  WeightedTerm,
} from './lexical-types.js'
import { PostingCache } from './posting-cache.js'
import { analyseQueryInSlices, LONG_QUERY } from './query-words.js'
import { type Corpus, TenantLists, TenantView } from './tenant-view.js'

/**
 * Default bound on the memory of decoded postings. With a million documents of 120 words the lists that
 * queries ask for most take about 200 MiB; with 64 MiB they are decoded again and again, which makes
 * the slowest twentieth of queries seven times slower.
 */
export const DEFAULT_POSTING_BYTES = 256 * 1024 * 1024

/**
 * An empty index over `.ccxi` bytes, ranked by BM25 (k1 1.2, b 0.75).
 *
 * Document frequencies and the mean length are those of all segments and tenants, so that scores
 * do not depend on how documents are spread over segments. Each segment is searched with the
 * terms of the analyser that made it.
 *
 * @param options.maxPostingBytes - Bound on decoded postings kept for later queries; default 256 MiB.
 * @param options.pruneFrom - Postings of a query from which on documents are passed over that cannot be
 *   hits; the answers are the same. For measurements and tests.
 */
export function createLexicalIndex(
  hashes: Hashes,
  options: { maxPostingBytes?: number; pruneFrom?: number } = {},
): LexicalIndex {
  const { maxPostingBytes = DEFAULT_POSTING_BYTES, pruneFrom } = options
  return new MemoryLexicalIndex(hashes, maxPostingBytes, new LexicalQueries(hashes, pruneFrom))
}

/** The corpus at one time with the views of those tenants that asked; dropped when the corpus changes. */
interface Snapshot {
  readonly corpus: Corpus
  readonly views: Map<string, TenantView>
}

class MemoryLexicalIndex implements LexicalIndex {
  private segments = new Map<string, IndexedSegment>()
  private serial = 0
  private snapshots = 0
  private current: Snapshot | undefined
  private readonly cache: PostingCache
  /** Decoded lists by tenant; they outlive snapshots. */
  private readonly lists = new Map<string, TenantLists>()

  constructor(
    private readonly hashes: Hashes,
    maxPostingBytes: number,
    private readonly queries: LexicalQueries,
  ) {
    this.cache = new PostingCache(maxPostingBytes)
  }

  addSegment(key: string, ccxi: CcxiReader | Uint8Array): void {
    this.replaceSegments([], [{ key, ccxi }])
  }

  addSegmentInSlices(key: string, ccxi: CcxiReader | Uint8Array, pause: Pause): Promise<void> {
    return this.replaceSegmentsInSlices([], [{ key, ccxi }], pause)
  }

  removeSegment(key: string): boolean {
    const wasThere = this.segments.delete(key)
    if (wasThere) this.current = undefined
    return wasThere
  }

  replaceSegments(remove: Iterable<string>, add: readonly NewSegment[]): void {
    const gone = new Set(remove)
    this.requireAbsent(add, gone)
    const read: IndexedSegment[] = []
    for (const segment of add) {
      const { ccxi } = segment
      const reader = ccxi instanceof Uint8Array ? openCcxi(ccxi, this.hashes) : ccxi
      const steps = this.read(segment, reader)
      let step = steps.next()
      while (!step.done) step = steps.next()
      read.push(step.value)
    }
    this.place(gone, read)
  }

  async replaceSegmentsInSlices(
    remove: Iterable<string>,
    add: readonly NewSegment[],
    pause: Pause,
  ): Promise<void> {
    const gone = new Set(remove)
    this.requireAbsent(add, gone)
    const read: IndexedSegment[] = []
    for (const segment of add) {
      const { ccxi } = segment
      const reader =
        ccxi instanceof Uint8Array ? await openCcxiInSlices(ccxi, this.hashes, pause) : ccxi
      const steps = this.read(segment, reader)
      let step = steps.next()
      for (; !step.done; step = steps.next()) await pause()
      read.push(step.value)
    }
    this.requireAbsent(add, gone)
    this.place(gone, read)
  }

  hide(key: string, docIds: Iterable<number>): void {
    const segment = this.segments.get(key)
    if (segment === undefined) {
      throw new CruxError<RetrievalErrorCode>(
        'INDEX_UNKNOWN_SEGMENT',
        `segment ${key} is not in the index; add it before hiding its documents`,
        { data: { segment: key } },
      )
    }
    this.segments.set(key, hideDocs(segment, docIds))
    this.current = undefined
  }

  get revision(): number {
    return this.snapshot().corpus.snapshot
  }

  docLength(key: string, docId: number): number {
    return this.segments.get(key)?.lengths[docId] ?? 0
  }

  findDoc(key: string, docId: number): LexicalDoc | undefined {
    const segment = this.segments.get(key)
    if (segment === undefined || !(docId in segment.lengths)) return undefined
    const { reader, hidden } = segment
    if (isHidden(hidden, docId) || !isIndexed(reader, docId)) return undefined
    return {
      docLength: reader.docLength(docId),
      frameOffset: reader.docFrameOffset(docId),
      tenantHash: reader.docTenantHash(docId),
    }
  }

  async search(
    query: LexicalQuery,
    options: { signal?: AbortSignal } = {},
  ): Promise<LexicalAnswer> {
    options.signal?.throwIfAborted()
    const view = this.view(query.tenant)
    const answer = this.queries.searchAtOnce(view, query)
    return (
      answer ??
      (await runInSlices(
        this.queries.search(view, query),
        createPauser({ signal: options.signal }),
      ))
    )
  }

  searchNow(query: LexicalQuery): LexicalAnswer {
    const view = this.view(query.tenant)
    return this.queries.searchAtOnce(view, query) ?? runNow(this.queries.search(view, query))
  }

  async searchTerms(query: TermQuery, options: { signal?: AbortSignal } = {}): Promise<TermAnswer> {
    options.signal?.throwIfAborted()
    return runInSlices(
      this.queries.searchTerms(this.view(query.tenant), query),
      createPauser({ signal: options.signal }),
    )
  }

  searchTermsNow(query: TermQuery): TermAnswer {
    return runNow(this.queries.searchTerms(this.view(query.tenant), query))
  }

  scoreOf(terms: readonly WeightedTerm[], tenant: string, docs: readonly DocPlace[]): Float64Array {
    const view = this.view(tenant)
    const numbers = docs.map(({ segment, docId }) => {
      const found = this.segments.get(segment)
      return found === undefined ? undefined : view.numberOf(found, docId)
    })
    return runNow(this.queries.scoreOf(view, terms, numbers))
  }

  tokensOf(text: string, pause: Pause): Promise<readonly Token[]> | readonly Token[] {
    if (text.length <= LONG_QUERY) return this.queries.tokensOf(DEFAULT_ANALYSER_VERSION, text)
    const steps = analyseQueryInSlices(DEFAULT_ANALYSER_VERSION, text)
    return runInSlices(steps, pause).then(({ tokens }) => tokens)
  }

  documentFrequency(term: string): number {
    return runNow(this.queries.listOf(this.view(''), DEFAULT_ANALYSER_VERSION, term)).df
  }

  stats() {
    const { docs, tokens, segments } = this.snapshot().corpus
    return { segments: segments.length, docs, tokens, postingBytes: this.cache.bytes }
  }

  private snapshot(): Snapshot {
    this.current ??= { corpus: this.takeCorpus(), views: new Map() }
    return this.current
  }

  private takeCorpus(): Corpus {
    const segments = [...this.segments.values()]
    let docs = 0
    let tokens = 0
    let hasFirst = false
    let hasSecond = false
    for (const segment of segments) {
      docs += segment.docs
      tokens += segment.tokens
      if (segment.version === 1) hasFirst = true
      else hasSecond = true
    }
    this.snapshots += 1
    return {
      snapshot: this.snapshots,
      segments,
      docs,
      tokens,
      meanLength: tokens === 0 ? 1 : tokens / docs,
      version: hasFirst && !hasSecond ? 1 : DEFAULT_ANALYSER_VERSION,
      isMixed: hasFirst && hasSecond,
    }
  }

  private view(tenant: string): TenantView {
    const { corpus, views } = this.snapshot()
    const known = views.get(tenant)
    if (known !== undefined) return known
    const hash = tenantHash(tenant, this.hashes)
    const isKnown = corpus.segments.some((segment) => segment.tenants.has(hash))
    // Tenants without documents share one view, so that made-up names take no memory.
    const name = isKnown ? tenant : ''
    const shared = views.get(name)
    if (shared !== undefined) return shared
    const lists = this.lists.get(name) ?? new TenantLists()
    this.lists.set(name, lists)
    const view = new TenantView(corpus, hash, lists, this.cache)
    views.set(name, view)
    return view
  }

  private *read({ key, hidden }: NewSegment, reader: CcxiReader): Generator<void, IndexedSegment> {
    this.serial += 1
    const segment = yield* readSegment(key, this.serial, reader)
    return hidden === undefined ? segment : hideDocs(segment, hidden)
  }

  private place(gone: ReadonlySet<string>, added: readonly IndexedSegment[]): void {
    const segments = new Map<string, IndexedSegment>()
    let isPlaced = false
    const putAdded = () => {
      for (const segment of added) segments.set(segment.key, segment)
      isPlaced = true
    }
    for (const [key, segment] of this.segments) {
      if (!gone.has(key)) segments.set(key, segment)
      else if (!isPlaced) putAdded()
    }
    if (!isPlaced) putAdded()
    this.segments = segments
    this.current = undefined
  }

  private requireAbsent(added: readonly NewSegment[], gone: ReadonlySet<string>): void {
    const keys = new Set<string>()
    for (const { key } of added) {
      if (!keys.has(key) && (gone.has(key) || !this.segments.has(key))) {
        keys.add(key)
        continue
      }
      throw new CruxError<RetrievalErrorCode>(
        'INDEX_DUPLICATE_SEGMENT',
        `segment ${key} is in the index already; remove it before adding it again`,
        { data: { segment: key } },
      )
    }
  }
}
