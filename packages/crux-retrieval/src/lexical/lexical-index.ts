import { type CcxiReader, type Hashes, openCcxi, openCcxiInSlices, tenantHash } from 'crux-segment'
import { CruxError, createPauser, type Pause } from 'crux-types'
import { analyse } from '../analyser/analyse.js'
import type { RetrievalErrorCode } from '../errors.js'
import {
  hideDocs,
  type IndexedSegment,
  isHidden,
  isIndexed,
  readSegment,
} from './indexed-segment.js'
import type {
  LexicalAnswer,
  LexicalDoc,
  LexicalHit,
  LexicalIndex,
  LexicalQuery,
} from './lexical-types.js'
import { PostingCache } from './posting-cache.js'
import { createScratchPool, scoreDocs } from './score-docs.js'
import { type Corpus, TenantView, type TermList } from './tenant-view.js'
import { TopHits } from './top-hits.js'

/** Default bound on the memory of decoded postings. */
export const DEFAULT_POSTING_BYTES = 64 * 1024 * 1024

/**
 * An empty index over `.ccxi` bytes, ranked by BM25 (k1 1.2, b 0.75).
 *
 * Document frequencies and the mean length are those of all segments and tenants, so that scores
 * do not depend on how documents are spread over segments.
 *
 * @param options.maxPostingBytes - Bound on decoded postings kept for later queries; default 64 MiB.
 */
export function createLexicalIndex(
  hashes: Hashes,
  options: { maxPostingBytes?: number } = {},
): LexicalIndex {
  return new MemoryLexicalIndex(hashes, options.maxPostingBytes ?? DEFAULT_POSTING_BYTES)
}

/** The corpus at one time with all that was derived from it; dropped whole when the corpus changes. */
interface Snapshot {
  readonly corpus: Corpus
  readonly tokens: number
  readonly cache: PostingCache
  readonly views: Map<string, TenantView>
}

class MemoryLexicalIndex implements LexicalIndex {
  private readonly segments = new Map<string, IndexedSegment>()
  private readonly scratch = createScratchPool()
  private current: Snapshot | undefined

  constructor(
    private readonly hashes: Hashes,
    private readonly maxPostingBytes: number,
  ) {}

  addSegment(key: string, ccxi: CcxiReader | Uint8Array): void {
    this.requireAbsent(key)
    const steps = readSegment(key, ccxi instanceof Uint8Array ? openCcxi(ccxi, this.hashes) : ccxi)
    for (;;) {
      const step = steps.next()
      if (step.done) {
        this.place(step.value)
        return
      }
    }
  }

  async addSegmentInSlices(
    key: string,
    ccxi: CcxiReader | Uint8Array,
    pause: Pause,
  ): Promise<void> {
    this.requireAbsent(key)
    const reader =
      ccxi instanceof Uint8Array ? await openCcxiInSlices(ccxi, this.hashes, pause) : ccxi
    const steps = readSegment(key, reader)
    for (;;) {
      const step = steps.next()
      if (step.done) {
        this.requireAbsent(key)
        this.place(step.value)
        return
      }
      await pause()
    }
  }

  removeSegment(key: string): boolean {
    const wasThere = this.segments.delete(key)
    if (wasThere) this.current = undefined
    return wasThere
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
    const pause = createPauser({ signal: options.signal })
    const steps = this.run(query)
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
      const pausing = pause()
      if (pausing !== undefined) await pausing
    }
  }

  searchNow(query: LexicalQuery): LexicalAnswer {
    const steps = this.run(query)
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
    }
  }

  stats() {
    const { corpus, tokens, cache } = this.snapshot()
    return {
      segments: corpus.segments.length,
      docs: corpus.docs,
      tokens,
      postingBytes: cache.bytes,
    }
  }

  /** One search; yields wherever it may be interrupted. */
  private *run({ query, tenant, limit, minScore }: LexicalQuery): Generator<void, LexicalAnswer> {
    const snapshot = this.snapshot()
    const view = this.view(snapshot, tenant)
    const tokens = analyse(query)
    const lists = new Map<string, { list: TermList; count: number }>()
    const missing: string[] = []
    for (const { term, start, end } of tokens) {
      const known = lists.get(term)
      if (known !== undefined) {
        known.count += 1
      } else {
        const list = view.list(term) ?? (yield* view.decode(term, this.hashes))
        lists.set(term, { list, count: 1 })
      }
      if (lists.get(term)?.list.df === 0) missing.push(query.slice(start, end))
    }
    const top = new TopHits(Math.min(limit, view.size))
    const counted = yield* scoreDocs([...lists.values()], view.size, minScore, top, this.scratch)
    return {
      hits: top.sorted().map(({ doc, score }) => hitOf(view, doc, score)),
      totalCandidates: counted.candidates,
      coverage: {
        score: tokens.length === 0 ? 0 : (tokens.length - missing.length) / tokens.length,
        missingTokens: missing,
        belowFloor: counted.belowFloor,
      },
    }
  }

  private snapshot(): Snapshot {
    this.current ??= this.takeSnapshot()
    return this.current
  }

  private takeSnapshot(): Snapshot {
    const segments = [...this.segments.values()]
    let docs = 0
    let tokens = 0
    for (const segment of segments) {
      docs += segment.docs
      tokens += segment.tokens
    }
    return {
      corpus: { segments, docs, meanLength: tokens === 0 ? 1 : tokens / docs },
      tokens,
      cache: new PostingCache(this.maxPostingBytes),
      views: new Map(),
    }
  }

  private view({ corpus, cache, views }: Snapshot, tenant: string): TenantView {
    const known = views.get(tenant)
    if (known !== undefined) return known
    const hash = tenantHash(tenant, this.hashes)
    const isKnown = corpus.segments.some((segment) => segment.tenants.has(hash))
    // Tenants without documents share one view, so that made-up names take no memory.
    const name = isKnown ? tenant : ''
    const view = views.get(name) ?? new TenantView(corpus, hash, cache)
    views.set(name, view)
    return view
  }

  private place(segment: IndexedSegment): void {
    this.segments.set(segment.key, segment)
    this.current = undefined
  }

  private requireAbsent(key: string): void {
    if (!this.segments.has(key)) return
    throw new CruxError<RetrievalErrorCode>(
      'INDEX_DUPLICATE_SEGMENT',
      `segment ${key} is in the index already; remove it before adding it again`,
      { data: { segment: key } },
    )
  }
}

function hitOf(view: TenantView, doc: number, score: number): LexicalHit {
  const { segment, docId } = view.locate(doc)
  return {
    segment: segment.key,
    docId,
    score,
    docLength: segment.reader.docLength(docId),
    frameOffset: segment.reader.docFrameOffset(docId),
  }
}
