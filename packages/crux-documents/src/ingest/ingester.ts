import { decodeCcxp, encodeCcxp, type Hashes } from 'crux-segment'
import type { SegmentRef } from 'crux-storage'
import { type Clock, createPauser, messageOf, toStoredTime } from 'crux-types'
import type { IngestRequest, IngestResult } from '../document-store.js'
import type { DocumentEmbedders } from '../embedders.js'
import {
  type BuiltCompanions,
  buildCompanions,
  buildCompanionsLate,
  companionsOf,
  openedSegment,
} from '../segments/build-companions.js'
import type { CompanionSources } from '../segments/companions.js'
import type { ReaderSet } from '../segments/reader-set.js'
import type { SerialQueue } from '../serial-queue.js'
import { type CheckedChunk, type CheckedDocument, checkRequest } from './check-request.js'
import { chunkVectors, type MadeVectors } from './chunk-vectors.js'
import { embedTexts } from './embed-chunks.js'
import { invalid } from './refusals.js'
import { type ChangeSources, selectChanges } from './select-changes.js'

/** What ingests work with. */
export interface IngesterOptions extends CompanionSources {
  readonly set: ReaderSet
  /** Ingests take their turns in it. */
  readonly commits: SerialQueue
  readonly clock: Clock
  readonly buildIndex: boolean
  readonly embedders: DocumentEmbedders
  /** Throws when no more commits may be made. */
  readonly requireOpen: () => void
  /** Called before an ingest waits for its turn. */
  readonly onTurn: () => void
}

/** How an ingest runs. */
export interface IngestOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((done: { documents: number; of: number }) => void) | undefined
}

/** Shorter than usual: an ingest makes garbage, and collecting some adds a few milliseconds to a slice. */
const INGEST_SLICE_MS = 2

/** Turns requests into segments. */
export class Ingester {
  constructor(private readonly options: IngesterOptions) {}

  /** Check a request, embed what is to be embedded, and commit it. */
  async ingest(request: IngestRequest, run: IngestOptions): Promise<IngestResult> {
    const { commits, hashes, onTurn } = this.options
    const pause = createPauser({ sliceMs: INGEST_SLICE_MS, signal: run.signal })
    checkProfile(request, hashes)
    const documents = await checkRequest(request, pause)
    // Before the turn, so that a slow embedder holds up nobody else's ingest.
    const embedded = await this.embed(request, documents, run)
    onTurn()
    return commits.run(() => this.commit(request, documents, embedded, run))
  }

  /** Vectors for chunks that are new, when none were brought and an embedder is configured. */
  private async embed(
    request: IngestRequest,
    documents: readonly CheckedDocument[],
    { signal }: IngestOptions,
  ): Promise<{ readonly made?: MadeVectors; readonly warnings: readonly string[] }> {
    const { embedders, hashes, set } = this.options
    const embedder = embedders.documents
    const isBrought = documents.some((one) => one.chunks.some(({ vector }) => vector !== undefined))
    if (embedder === null || isBrought) return { warnings: [] }
    const pause = createPauser({ sliceMs: INGEST_SLICE_MS, signal })
    // As a query: while a commit is being taken in, the catalog holds a part of it.
    const { chunks } = await set.query(() =>
      selectChanges(this.changeSources(request, signal), documents, []),
    )
    if (chunks.length === 0) return { warnings: [] }
    const texts = chunks.map(({ chunk }) => chunk.text)
    try {
      const { vectors, profile } = await embedTexts(texts, { embedder, hashes, pause, signal })
      const of = new Map<CheckedChunk, Float32Array>()
      for (const [i, vector] of vectors.entries()) {
        const placed = chunks[i]
        if (placed !== undefined) of.set(placed.chunk, vector)
      }
      return { made: { of, profile }, warnings: [] }
    } catch (error) {
      signal?.throwIfAborted()
      if (embedders.isRequired) throw error
      const what = `${messageOf(error)}; they are stored without vectors and found by their words`
      return { warnings: [`${what}: run 'corecruxctl ccxi embed' once the embedder works`] }
    }
  }

  private async commit(
    request: IngestRequest,
    documents: readonly CheckedDocument[],
    embedded: { readonly made?: MadeVectors; readonly warnings: readonly string[] },
    { signal, onProgress }: IngestOptions,
  ): Promise<IngestResult> {
    this.options.requireOpen()
    const { hashes, segments, onWarning, set } = this.options
    const pause = createPauser({ sliceMs: INGEST_SLICE_MS, signal })
    const sources = { ...this.changeSources(request, signal), onProgress }
    const changes = await selectChanges(sources, documents, request.remove ?? [])
    const { frames, chunks, ...rest } = changes
    const counts = { ...rest, chunks: chunks.length }
    const warnings = [...changes.warnings, ...embedded.warnings]
    if (frames.length === 0) {
      const nothing = { frameCount: 0, sealed: false, segmentSeq: 0, receiptId: null }
      return { ...counts, ...nothing, vectors: 0, vectorDims: null, warnings }
    }
    const vectors = await chunkVectors(chunks, embedded.made, request.semanticProfile, pause)
    const building = { hashes, buildIndex: this.options.buildIndex, vectors }
    let built: BuiltCompanions | undefined
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
    await set.add(openedSegment(ref, built), createPauser({ sliceMs: INGEST_SLICE_MS }))
    return {
      ...counts,
      frameCount: ref.frameCount,
      sealed: true,
      segmentSeq: ref.seq,
      receiptId: ref.receiptId,
      vectors: vectors?.docIds.length ?? 0,
      vectorDims: vectors?.dim ?? null,
      warnings,
    }
  }

  private changeSources(request: IngestRequest, signal: AbortSignal | undefined): ChangeSources {
    const { set, hashes, clock } = this.options
    const { tenant, corpus, semanticProfile } = request
    return {
      catalog: set.catalog,
      hashes,
      stream: { tenant, corpus, occurredAt: toStoredTime(clock.now()) },
      space: semanticProfile?.embedding_fingerprint.hash ?? '',
      pause: createPauser({ sliceMs: INGEST_SLICE_MS, signal }),
    }
  }
}

/** A profile whose hash does not follow from its values would put vectors into a space of their own. */
function checkProfile({ semanticProfile }: IngestRequest, hashes: Hashes): void {
  if (semanticProfile === undefined) return
  try {
    decodeCcxp(encodeCcxp(semanticProfile), hashes)
  } catch (error) {
    throw invalid('semanticProfile', `is not sound (${messageOf(error)})`, {})
  }
}

function unindexed(ref: SegmentRef, error: unknown): string {
  return `the index of segment ${ref.id} could not be built (${messageOf(error)}), so that its text is not found; run 'corecruxctl ccxi rebuild'`
}
