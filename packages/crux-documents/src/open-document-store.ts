import { createLexicalIndex, type FusionWeights } from 'crux-retrieval'
import { type Hashes, loadHashes } from 'crux-segment'
import type { SegmentStore } from 'crux-storage'
import {
  type Caller,
  CHARS4,
  type Clock,
  CruxError,
  createPauser,
  requireReadableTenant,
  requireWriter,
  type TokenCounter,
} from 'crux-types'
import type {
  DocumentStore,
  DocumentSummary,
  EmbedProgress,
  ExpandAnswer,
  ExpandQuery,
  IngestRequest,
  IngestResult,
  MergeProgress,
} from './document-store.js'
import { type DocumentEmbedders, NO_EMBEDDERS } from './embedders.js'
import { type DocumentsErrorCode, storeClosed } from './errors.js'
import type { RelationSource } from './graph/relations.js'
import { Ingester, type IngestOptions } from './ingest/ingester.js'
import { Merger } from './merge/merger.js'
import { DEFAULT_MERGE_POLICY, type MergePolicy } from './merge/plan-merge.js'
import { expand } from './retrieve/expand.js'
import { Searcher } from './retrieve/searcher.js'
import type { SearchAnswer, SearchQuery } from './search-types.js'
import { type CompanionSources, loadDigest, openSegment } from './segments/companions.js'
import { embedMissing } from './segments/embed-missing.js'
import { ReaderSet } from './segments/reader-set.js'
import { rebuildCompanions } from './segments/rebuild-companions.js'
import { verifyCompanions } from './segments/verify-companions.js'
import { SerialQueue } from './serial-queue.js'
import { sortInSlices } from './sort-in-slices.js'

/** What a document store works with. */
export interface DocumentStoreOptions {
  /** Where frames are committed; stays open when the document store is closed. */
  readonly segments: SegmentStore
  readonly clock: Clock
  /** Whether an ingest builds the index; without one, what it stores is not searchable. */
  readonly buildIndex: boolean
  /** What turns text into vectors; by default nothing. */
  readonly embedders?: DocumentEmbedders
  /** How long a query waits for its vector, in milliseconds; default 5,000. */
  readonly queryTimeoutMs?: number
  /** Weights of the lanes in mode `fused`; default: those chosen by measurement. */
  readonly fusionWeights?: FusionWeights
  /** Bound on the words that mode `fused` keeps in memory, as bytes of their files; default 512 MiB. */
  readonly maxWordBytes?: number
  /** Relations that mode `fused` follows besides links and the order of chunks. */
  readonly relations?: RelationSource
  /**
   * When segments are merged: by themselves in the background, on request, which is the default, or never.
   * In the background it is after opening and after ingests, and ingests go first.
   */
  readonly merge?: 'background' | 'manual' | 'off'
  /** What is merged and up to which size; default: 8 segments of similar size, 65,536 frames, 256 MiB. */
  readonly mergePolicy?: MergePolicy
  /** Says what text costs against a token budget; default: four bytes a token. */
  readonly tokenCounter?: TokenCounter
  /** Default: loaded here. */
  readonly hashes?: Hashes
  /** Told in one sentence of what was found damaged and mended, or could not be. */
  readonly onWarning?: (message: string) => void
}

/**
 * Open the documents that a segment store holds.
 *
 * Reads the companions of all segments; a missing or damaged `.ccxm` is built again from its segment. A
 * segment without a usable `.ccxi` is not searched, and {@link DocumentStore.stats} says so.
 *
 * @throws {CruxError} The segment store's codes, or crux-segment's, when a segment cannot be read.
 */
export async function openDocumentStore(options: DocumentStoreOptions): Promise<DocumentStore> {
  const hashes = options.hashes ?? (await loadHashes())
  const store = new SegmentDocumentStore(options, hashes)
  await store.load()
  return store
}

class SegmentDocumentStore implements DocumentStore {
  private readonly set: ReaderSet
  private readonly sources: CompanionSources
  private readonly commits = new SerialQueue()
  private readonly merger: Merger
  private readonly embedders: DocumentEmbedders
  private readonly ingester: Ingester
  private readonly searcher: Searcher
  private isClosed = false

  constructor(
    private readonly options: DocumentStoreOptions,
    private readonly hashes: Hashes,
  ) {
    this.set = new ReaderSet(() => createLexicalIndex(hashes))
    this.sources = {
      segments: options.segments,
      hashes,
      onWarning: options.onWarning ?? (() => undefined),
    }
    const { set, commits, sources } = this
    const policy = options.mergePolicy ?? DEFAULT_MERGE_POLICY
    const { clock, buildIndex } = options
    this.merger = new Merger({ ...sources, set, commits, clock, policy })
    this.embedders = options.embedders ?? NO_EMBEDDERS
    this.ingester = new Ingester({
      ...sources,
      set,
      commits,
      clock,
      buildIndex,
      embedders: this.embedders,
      requireOpen: () => this.requireOpen(),
      onTurn: () => this.merger.yieldToIngest(),
    })
    this.searcher = new Searcher({
      ...sources,
      set,
      embedders: this.embedders,
      fusionWeights: options.fusionWeights,
      maxWordBytes: options.maxWordBytes,
      queryTimeoutMs: options.queryTimeoutMs,
      relations: options.relations,
    })
  }

  async load(): Promise<void> {
    const pause = createPauser()
    for (const ref of await this.options.segments.list()) {
      const { digest } = await loadDigest(this.sources, ref, pause)
      const opened = await openSegment(this.sources, { ref, digest }, pause)
      await this.set.add({ ref, digest, ...opened }, pause)
      await pause()
    }
    for (const warning of this.warnings()) this.sources.onWarning(warning)
    this.mergeInBackground()
  }

  async ingest(
    caller: Caller,
    request: IngestRequest,
    options: IngestOptions = {},
  ): Promise<IngestResult> {
    requireWriter(caller)
    requireReadableTenant(caller, request.tenant)
    this.requireOpen()
    const result = await this.ingester.ingest(request, options)
    this.mergeInBackground()
    return result
  }

  async list(
    caller: Caller,
    filter: { tenant: string; corpus: string },
  ): Promise<readonly DocumentSummary[]> {
    requireReadableTenant(caller, filter.tenant)
    this.requireOpen()
    const pause = createPauser()
    const documents: DocumentSummary[] = []
    // As a query: while a commit is being taken in, the catalog holds a part of it.
    await this.set.query(async () => {
      for (const document of this.set.catalog.list(filter.tenant, filter.corpus)) {
        documents.push(document)
        await pause()
      }
    })
    return sortInSlices(documents, (a, b) => (a.docId < b.docId ? -1 : 1), pause)
  }

  async search(
    caller: Caller,
    query: SearchQuery,
    options: { signal?: AbortSignal } = {},
  ): Promise<SearchAnswer> {
    requireReadableTenant(caller, query.tenant)
    this.requireOpen()
    return this.searcher.search(query, options.signal)
  }

  async expand(caller: Caller, query: ExpandQuery): Promise<ExpandAnswer> {
    requireReadableTenant(caller, query.tenant)
    this.requireOpen()
    const { segments, tokenCounter = CHARS4 } = this.options
    const sources = { segments, hashes: this.hashes, tokenCounter }
    return this.set.queryStored((readers) => expand({ ...sources, readers }, query, createPauser()))
  }

  rebuildCompanions(
    options: { all?: boolean; signal?: AbortSignal } = {},
  ): ReturnType<DocumentStore['rebuildCompanions']> {
    this.requireOpen()
    const { all = false, signal } = options
    return this.commits.run(() => {
      this.requireOpen()
      return rebuildCompanions(this.sources, this.set, all, createPauser({ signal }))
    })
  }

  async embedMissing(
    options: {
      all?: boolean
      signal?: AbortSignal
      onProgress?: (done: EmbedProgress) => void
    } = {},
  ): ReturnType<DocumentStore['embedMissing']> {
    this.requireOpen()
    const embedder = this.embedders.documents
    if (embedder === null) {
      throw new CruxError<DocumentsErrorCode>(
        'EMBEDDER_MISSING',
        'no embedder is configured for documents; set CORECRUXD_EMBEDDING_URL, CORECRUXD_EMBED_DELEGATE_URL or CORECRUXD_DENSE_MODEL',
      )
    }
    const { sources, set, commits } = this
    return embedMissing({ ...sources, set, commits, embedder }, options)
  }

  async verifyCompanions(
    options: {
      signal?: AbortSignal
      onProgress?: (done: { segments: number; of: number }) => void
    } = {},
  ): ReturnType<DocumentStore['verifyCompanions']> {
    this.requireOpen()
    const { signal, onProgress } = options
    return verifyCompanions(this.sources, createPauser({ signal }), onProgress)
  }

  async merge(
    options: { signal?: AbortSignal; onProgress?: (done: MergeProgress) => void } = {},
  ): ReturnType<DocumentStore['merge']> {
    this.requireOpen()
    if (this.options.merge === 'off') {
      throw new CruxError<DocumentsErrorCode>(
        'MERGE_OFF',
        "segments of this store are never merged; open it with merge 'manual' or 'background'",
      )
    }
    const result = await this.merger.mergeAll(options)
    this.mergeInBackground()
    return result
  }

  stats(): ReturnType<DocumentStore['stats']> {
    const { segments, catalog } = this.set
    const { documents, chunks } = catalog
    return { segments, documents, chunks, vectors: this.set.vectors, warnings: this.warnings() }
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.merger.close()
    await this.commits.drained()
    this.set.close()
  }

  private mergeInBackground(): void {
    if (this.options.merge === 'background') this.merger.start()
  }

  private warnings(): readonly string[] {
    const missing = this.set.unsearchable
    const [first] = missing
    if (first === undefined) return []
    const which = `${missing.length} of ${this.set.segments} segments have no usable .ccxi index`
    return [
      `${which}, so that their text is not found (the first is ${first.id}); run 'corecruxctl ccxi rebuild'`,
    ]
  }

  private requireOpen(): void {
    if (this.isClosed) throw storeClosed()
  }
}
