import { createLexicalIndex } from 'crux-retrieval'
import { type Hashes, loadHashes, openTrustedCcxi } from 'crux-segment'
import type { Companion, SealedSegment, SegmentRef, SegmentStore } from 'crux-storage'
import {
  type Caller,
  type Clock,
  CruxError,
  createPauser,
  messageOf,
  type Pause,
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
  SearchAnswer,
  SearchQuery,
} from './document-store.js'
import type { DocumentsErrorCode } from './errors.js'
import { type CheckedDocument, checkRequest } from './ingest/check-request.js'
import { selectChanges } from './ingest/select-changes.js'
import { expand } from './retrieve/expand.js'
import { search } from './retrieve/search.js'
import { type CompanionSources, loadDigest, loadIndex } from './segments/companions.js'
import { ReaderSet } from './segments/reader-set.js'
import { digestSegment, indexSegment } from './segments/scan-segment.js'
import { encodeDigest, type SegmentDigest } from './segments/segment-digest.js'
import { SerialQueue } from './serial-queue.js'
import { sortInSlices } from './sort-in-slices.js'

/** What a document store works with. */
export interface DocumentStoreOptions {
  /** Where frames are committed; stays open when the document store is closed. */
  readonly segments: SegmentStore
  readonly clock: Clock
  /** Whether an ingest builds the index; without one, what it stores is not searchable. */
  readonly buildIndex: boolean
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
    return this.commits.run(() => this.commit(request, documents, options))
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
    return this.set.query((readers) => expand({ ...sources, readers }, query, createPauser()))
  }

  rebuildCompanions(
    options: { signal?: AbortSignal } = {},
  ): Promise<{ readonly rebuilt: number; readonly segments: number }> {
    this.requireOpen()
    return this.commits.run(() => this.rebuild(createPauser({ signal: options.signal })))
  }

  stats(): ReturnType<DocumentStore['stats']> {
    const { segments, catalog } = this.set
    const { documents, chunks } = catalog
    return { segments, documents, chunks, warnings: this.warnings() }
  }

  async close(): Promise<void> {
    this.isClosed = true
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
    let built: Built | undefined
    const ref = await this.options.segments.seal({
      frames,
      ...(signal === undefined ? {} : { signal }),
      companions: async (sealed) => {
        built = await this.build(sealed, pause, signal)
        return companionsOf(built)
      },
    })
    // The commit is done, so from here on nothing may stop the segment from being taken in.
    built ??= await this.buildLate(ref)
    if (built.indexError !== undefined) warnings.push(unindexed(ref, built.indexError))
    const index = built.ccxi === undefined ? undefined : openTrustedCcxi(built.ccxi)
    await this.set.add(ref, built.digest, index, createPauser({ sliceMs: INGEST_SLICE_MS }))
    return {
      ...counts,
      warnings,
      frameCount: ref.frameCount,
      sealed: true,
      segmentSeq: ref.seq,
      receiptId: ref.receiptId,
    }
  }

  /** For a segment that was committed without what stands beside it, such as on a late abort. */
  private async buildLate(ref: SegmentRef): Promise<Built> {
    const { segments } = this.options
    const built = await this.build(await segments.read(ref), createPauser(), undefined)
    try {
      for (const companion of companionsOf(built)) await segments.writeCompanion(ref, companion)
    } catch (error) {
      this.sources.onWarning(
        `the companions of segment ${ref.id} could not be written: ${messageOf(error)}`,
      )
    }
    return built
  }

  private async build(
    { ref, bytes }: SealedSegment,
    pause: Pause,
    signal: AbortSignal | undefined,
  ): Promise<Built> {
    const digest = await digestSegment(bytes, this.hashes, pause)
    const ccxm = await encodeDigest(ref, digest, pause)
    if (!this.options.buildIndex) return { digest, ccxm, ccxi: undefined, indexError: undefined }
    try {
      const ccxi = await indexSegment(ref, bytes, digest, this.hashes, pause)
      return { digest, ccxm, ccxi, indexError: undefined }
    } catch (indexError) {
      signal?.throwIfAborted()
      return { digest, ccxm, ccxi: undefined, indexError }
    }
  }

  private async rebuild(pause: Pause): Promise<{ rebuilt: number; segments: number }> {
    this.requireOpen()
    const { segments } = this.options
    const refs = await segments.list()
    const missing = new Set(this.set.unsearchable.map(({ id }) => id))
    let rebuilt = 0
    let isMoreSearchable = false
    for (const ref of refs) {
      const { digest, isRebuilt } = await loadDigest(this.sources, ref, pause)
      let isIndexed = false
      if (digest.indexable > 0) {
        const stored = await loadIndex(this.sources, ref, digest, pause)
        isIndexed = stored === undefined && (await this.rebuildIndex(ref, digest, pause))
        isMoreSearchable ||= missing.has(ref.id)
      }
      if (isRebuilt || isIndexed) rebuilt++
    }
    if (isMoreSearchable) {
      await this.set.reindex((ref, digest) => loadIndex(this.sources, ref, digest, pause), pause)
    }
    return { rebuilt, segments: refs.length }
  }

  private async rebuildIndex(
    ref: SegmentRef,
    digest: SegmentDigest,
    pause: Pause,
  ): Promise<boolean> {
    const { bytes } = await this.options.segments.read(ref)
    const ccxi = await indexSegment(ref, bytes, digest, this.hashes, pause)
    if (ccxi === undefined) return false
    await this.options.segments.writeCompanion(ref, { kind: 'ccxi', bytes: ccxi })
    return true
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
    if (!this.isClosed) return
    throw new CruxError<DocumentsErrorCode>(
      'DOCUMENT_STORE_CLOSED',
      'the document store was closed; open it again',
    )
  }
}

/** What stands beside a segment. */
interface Built {
  readonly digest: SegmentDigest
  readonly ccxm: Uint8Array
  /** Undefined when it was not asked for, no frame is text, or building failed. */
  readonly ccxi: Uint8Array | undefined
  readonly indexError: unknown
}

function companionsOf({ ccxm, ccxi }: Built): readonly Companion[] {
  const digest: Companion = { kind: 'ccxm', bytes: ccxm }
  return ccxi === undefined ? [digest] : [digest, { kind: 'ccxi', bytes: ccxi }]
}

function unindexed(ref: SegmentRef, error: unknown): string {
  return `the index of segment ${ref.id} could not be built (${messageOf(error)}), so that its text is not found; run 'corecruxctl ccxi rebuild'`
}
