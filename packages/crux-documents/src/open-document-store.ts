import { createLexicalIndex } from 'crux-retrieval'
import { type Hashes, loadHashes } from 'crux-segment'
import type { SegmentRef, SegmentStore } from 'crux-storage'
import {
  type Caller,
  type Clock,
  CruxError,
  createPauser,
  messageOf,
  requireReadableTenant,
  requireWriter,
  toStoredTime,
} from 'crux-types'
import type {
  DocumentStore,
  DocumentSummary,
  ExpandAnswer,
  ExpandQuery,
  IngestRequest,
  IngestResult,
  MergeProgress,
  SearchAnswer,
  SearchQuery,
} from './document-store.js'
import { type DocumentsErrorCode, storeClosed } from './errors.js'
import { type CheckedDocument, checkRequest } from './ingest/check-request.js'
import { selectChanges } from './ingest/select-changes.js'
import { Merger } from './merge/merger.js'
import { DEFAULT_MERGE_POLICY, type MergePolicy } from './merge/plan-merge.js'
import { expand } from './retrieve/expand.js'
import { search } from './retrieve/search.js'
import {
  type BuiltCompanions,
  buildCompanions,
  buildCompanionsLate,
  companionsOf,
  indexOf,
} from './segments/build-companions.js'
import { type CompanionSources, loadDigest, loadIndex } from './segments/companions.js'
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
  /**
   * When segments are merged: by themselves in the background, on request, which is the default, or never.
   * In the background it is after opening and after ingests, and ingests go first.
   */
  readonly merge?: 'background' | 'manual' | 'off'
  /** What is merged and up to which size; default: 8 segments of similar size, 65,536 frames, 256 MiB. */
  readonly mergePolicy?: MergePolicy
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

/** Shorter than usual: an ingest makes garbage, and collecting some adds a few milliseconds to a slice. */
const INGEST_SLICE_MS = 2

class SegmentDocumentStore implements DocumentStore {
  private readonly set: ReaderSet
  private readonly sources: CompanionSources
  private readonly commits = new SerialQueue()
  private readonly merger: Merger
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
    this.merger = new Merger({ ...sources, set, commits, clock: options.clock, policy })
  }

  async load(): Promise<void> {
    const pause = createPauser()
    for (const ref of await this.options.segments.list()) {
      const { digest } = await loadDigest(this.sources, ref, pause)
      const index = await loadIndex(this.sources, ref, digest, pause)
      await this.set.add(ref, digest, index, pause)
      await pause()
    }
    for (const warning of this.warnings()) this.sources.onWarning(warning)
    this.mergeInBackground()
  }

  async ingest(
    caller: Caller,
    request: IngestRequest,
    options: {
      signal?: AbortSignal
      onProgress?: (done: { documents: number; of: number }) => void
    } = {},
  ): Promise<IngestResult> {
    requireWriter(caller)
    requireReadableTenant(caller, request.tenant)
    this.requireOpen()
    const pause = createPauser({ sliceMs: INGEST_SLICE_MS, signal: options.signal })
    const documents = await checkRequest(request, pause)
    this.merger.yieldToIngest()
    const result = await this.commits.run(() => this.commit(request, documents, options))
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

  async search(caller: Caller, query: SearchQuery): Promise<SearchAnswer> {
    requireReadableTenant(caller, query.tenant)
    this.requireOpen()
    return this.set.query((readers) => search(readers, query))
  }

  async expand(caller: Caller, query: ExpandQuery): Promise<ExpandAnswer> {
    requireReadableTenant(caller, query.tenant)
    this.requireOpen()
    const sources = { segments: this.options.segments, hashes: this.hashes }
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
    return { segments, documents, chunks, warnings: this.warnings() }
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.merger.close()
    await this.commits.drained()
  }

  private async commit(
    request: IngestRequest,
    documents: readonly CheckedDocument[],
    options: {
      signal?: AbortSignal
      onProgress?: (done: { documents: number; of: number }) => void
    },
  ): Promise<IngestResult> {
    this.requireOpen()
    const { signal, onProgress } = options
    const pause = createPauser({ sliceMs: INGEST_SLICE_MS, signal })
    const { tenant, corpus, remove = [] } = request
    const occurredAt = toStoredTime(this.options.clock.now())
    const stream = { tenant, corpus, occurredAt }
    const { catalog } = this.set
    const sources = { catalog, hashes: this.hashes, stream, pause, onProgress }
    const { frames, ...counts } = await selectChanges(sources, documents, remove)
    if (frames.length === 0) {
      return { ...counts, frameCount: 0, sealed: false, segmentSeq: 0, receiptId: null }
    }
    const warnings = [...counts.warnings]
    const { hashes } = this
    const building = { hashes, buildIndex: this.options.buildIndex }
    let built: BuiltCompanions | undefined
    const { segments, onWarning } = this.sources
    const ref = await segments.seal({
      frames,
      ...(signal === undefined ? {} : { signal }),
      companions: async (sealed) => {
        built = await buildCompanions(building, sealed, pause, signal)
        return companionsOf(built)
      },
    })
    // The commit is done, so from here on nothing may stop the segment from being taken in.
    built ??= await buildCompanionsLate(building, segments, ref, onWarning)
    if (built.indexError !== undefined) warnings.push(unindexed(ref, built.indexError))
    const late = createPauser({ sliceMs: INGEST_SLICE_MS })
    await this.set.add(ref, built.digest, indexOf(built), late)
    return {
      ...counts,
      warnings,
      frameCount: ref.frameCount,
      sealed: true,
      segmentSeq: ref.seq,
      receiptId: ref.receiptId,
    }
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

function unindexed(ref: SegmentRef, error: unknown): string {
  return `the index of segment ${ref.id} could not be built (${messageOf(error)}), so that its text is not found; run 'corecruxctl ccxi rebuild'`
}
