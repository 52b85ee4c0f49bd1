import { stat } from 'node:fs/promises'
import {
  type CollectionDoc,
  createDocReader,
  createIndexBuilder,
  createLexicalIndex,
  createOrderGraph,
  createVectorIndex,
  type DocGraph,
  type Embedder,
  type LexicalHit,
  type LexicalIndex,
  SegmentWords,
  textToIndex,
  type VectorIndex,
  type WordSource,
} from 'crux-retrieval'
import { type Hashes, loadHashes, openCcxf, openTrustedCcxi, tenantHash } from 'crux-segment'
import { createMemorySegmentStore, type FrameInput } from 'crux-storage'
import { createPauser, DEFAULT_TENANT } from 'crux-types'
import { readTextLines } from './retrieval-lines.js'

/** How much goes into one segment, whichever is reached first; a document is never cut. */
export interface SegmentLimits {
  readonly docs: number
  /** UTF-16 units. */
  readonly text: number
}

/** Segments of a store that was filled and merged are about as large. */
export const SEGMENT_LIMITS: SegmentLimits = { docs: 65_536, text: 64 * 1024 * 1024 }

/** The documents of a collection, indexed, without their texts. */
export interface BenchCorpus {
  readonly hashes: Hashes
  readonly index: LexicalIndex
  /** Words in order, when they were asked for. */
  readonly words: WordSource
  /** Documents of a group, in the order of the file. */
  readonly graph: DocGraph
  /** Vectors of all documents, when an embedder was given. */
  readonly vectors: VectorIndex
  /** Whether a document is of a tenant. */
  isOf(tenant: string, segment: string, docId: number): boolean
  readonly docs: number
  readonly segments: number
  /** Size of all `.ccxi`. */
  readonly bytes: number
  /** Time of indexing, from texts in memory, over all segments. */
  readonly indexMs: number
  /** Time of sealing, over all segments. */
  readonly sealMs: number
  /** Id of a document found. */
  idOf(hit: Pick<LexicalHit, 'segment' | 'docId'>): string | undefined
}

/** Where a collection is and how to cut it. */
export interface BenchCorpusOptions {
  readonly docsPath: string
  readonly limits?: SegmentLimits
  /** Keep the words of each document in order; default false. */
  readonly words?: boolean
  /** Gives each document a vector. */
  readonly embedder?: Embedder
  readonly signal?: AbortSignal
  /** Told bytes of the file, done and all. */
  readonly onProgress?: (done: number, of: number) => void
}

/**
 * Read documents line by line into an index. In memory at a time are the index, the ids and the texts
 * of one segment, which is indexed, then sealed with its companion in memory, then dropped. Only
 * indexing and sealing are on the clock.
 *
 * @throws {CruxError} `COLLECTION_INVALID`.
 */
export async function loadBenchCorpus(options: BenchCorpusOptions): Promise<BenchCorpus> {
  const { docsPath, limits = SEGMENT_LIMITS, signal, onProgress } = options
  const { size } = await stat(docsPath)
  const loading = new CorpusLoading(await loadHashes(), options)
  const onBytes = (bytes: number): void => onProgress?.(bytes, size)
  const readDoc = createDocReader()
  let batch: CollectionDoc[] = []
  let text = 0
  for await (const line of readTextLines(docsPath, { onBytes, ...(signal && { signal }) })) {
    const doc = readDoc(line)
    if (doc === undefined) continue
    batch.push(doc)
    text += doc.text.length + (doc.title?.length ?? 0)
    if (batch.length < limits.docs && text < limits.text) continue
    await loading.addSegment(batch)
    batch = []
    text = 0
  }
  if (batch.length > 0) await loading.addSegment(batch)
  return loading
}

/** The tenant that owns the documents of a group. */
export function tenantOf({ group }: { readonly group?: string }): string {
  return group ?? DEFAULT_TENANT
}

class CorpusLoading implements BenchCorpus {
  readonly index: LexicalIndex
  readonly words: WordSource
  readonly graph = createOrderGraph()
  readonly vectors = createVectorIndex()
  private readonly wordsBySegment = new Map<string, SegmentWords>()
  private readonly ids = new Map<string, readonly string[]>()
  private readonly tenants = new Map<string, readonly string[]>()
  docs = 0
  bytes = 0
  indexMs = 0
  sealMs = 0

  constructor(
    readonly hashes: Hashes,
    private readonly options: Omit<BenchCorpusOptions, 'docsPath'>,
  ) {
    this.index = createLexicalIndex(hashes)
    this.words = {
      of: (segment) => this.wordsBySegment.get(segment),
      all: () => this.wordsBySegment.values(),
    }
  }

  get segments(): number {
    return this.ids.size
  }

  idOf({ segment, docId }: Pick<LexicalHit, 'segment' | 'docId'>): string | undefined {
    return this.ids.get(segment)?.[docId]
  }

  isOf(tenant: string, segment: string, docId: number): boolean {
    return this.tenants.get(segment)?.[docId] === tenant
  }

  async addSegment(docs: readonly CollectionDoc[]): Promise<void> {
    const key = `${this.segments}`
    this.ids.set(
      key,
      docs.map(({ id }) => id),
    )
    this.tenants.set(key, docs.map(tenantOf))
    this.docs += docs.length
    const start = performance.now()
    const ccxi = await this.indexDocs(key, docs)
    this.indexMs += performance.now() - start
    this.bytes += ccxi?.length ?? 0
    await this.embedDocs(key, docs)
    for (const [docId, doc] of docs.entries()) {
      // Only a group says that its documents follow each other.
      if (doc.group !== undefined) this.graph.append(tenantOf(doc), { segment: key, docId })
    }
    this.sealMs += await seal(docs, ccxi, this.options.signal)
  }

  private async indexDocs(
    key: string,
    docs: readonly CollectionDoc[],
  ): Promise<Uint8Array | undefined> {
    const pause = createPauser({ signal: this.options.signal })
    const { words = false } = this.options
    const builder = createIndexBuilder(this.hashes, { words })
    for (const [docId, doc] of docs.entries()) {
      const owner = tenantHash(tenantOf(doc), this.hashes)
      await builder.addInSlices(docId, textToIndex(doc), owner, docId, pause)
    }
    const target = { shardId: 0, segmentSeq: this.segments, epoch: 1 }
    const files = words
      ? await builder.finishWithWordsInSlices(target, pause)
      : { ccxi: await builder.finishInSlices(target, pause), ccxf: undefined }
    if (files?.ccxi === undefined) return undefined
    const reader = openTrustedCcxi(files.ccxi)
    await this.index.addSegmentInSlices(key, reader, pause)
    if (files.ccxf !== undefined) {
      const opened = await openCcxf(files.ccxf, this.hashes, pause)
      this.wordsBySegment.set(key, new SegmentWords(opened, reader, this.hashes))
    }
    return files.ccxi
  }

  private async embedDocs(key: string, docs: readonly CollectionDoc[]): Promise<void> {
    const { embedder, signal } = this.options
    if (embedder === undefined) return
    const rows = await embedder.embed(docs.map(textToIndex), signal)
    const dim = rows[0]?.length ?? 0
    const vectors = new Float32Array(rows.length * dim)
    for (const [row, vector] of rows.entries()) vectors.set(vector, row * dim)
    const docIds = Uint32Array.from(docs.keys())
    await this.vectors.addSegmentInSlices(key, { dim, docIds, vectors }, createPauser({ signal }))
  }
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
  await store.seal({ frames: docs.map(frameOf), companions, ...(signal && { signal }) })
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
