import type { SegmentRef } from 'crux-storage'
import type { Pause } from 'crux-types'
import type { DocumentSummary } from '../document-store.js'
import type { Run, RunHead, SegmentDigest } from './segment-digest.js'

/** A committed segment and what is known of it without reading it. */
export interface KnownSegment {
  readonly ref: SegmentRef
  readonly digest: SegmentDigest
}

/** One revision of a document, or loose frames of a stream, in one segment. */
export interface PlacedRun {
  readonly segment: KnownSegment
  readonly run: Run
}

/** Runs taken in between two looks at the clock. */
const RUN_SLICE = 64

interface DocumentState {
  head: RunHead | undefined
  /** What counts as the document's content: the run of its newest description and what came after. */
  live: readonly PlacedRun[]
}

/** Which frames are current: a document is its newest description and the frames after it. */
export class DocumentCatalog {
  private readonly corpora = new Map<string, Map<string, DocumentState>>()
  private liveDocuments = 0
  private liveChunks = 0

  /** Documents that hold at least one chunk. */
  get documents(): number {
    return this.liveDocuments
  }

  get chunks(): number {
    return this.liveChunks
  }

  /**
   * Take in a segment; call in ascending commit order, one at a time.
   *
   * @param pause - Awaited between runs: the catalog then holds a part of the segment.
   * @returns Runs that are no longer current, of this and of earlier segments.
   */
  async add(segment: KnownSegment, pause: Pause): Promise<readonly PlacedRun[]> {
    const dead: PlacedRun[] = []
    for (const [i, run] of segment.digest.runs.entries()) {
      if (i % RUN_SLICE === 0) await pause()
      const state = this.stateOf(run)
      this.count(state, -1)
      if (run.head !== undefined) {
        dead.push(...state.live)
        state.head = run.head
        state.live = []
      }
      if (run.head?.removed === true) dead.push({ segment, run })
      else state.live = [...state.live, { segment, run }]
      this.count(state, 1)
    }
    return dead
  }

  /** True when the frames of this run are the current content of their document. */
  isLive(run: Run): boolean {
    const state = this.corpora.get(corpusKey(run.tenant, run.corpus))?.get(run.doc)
    return state?.live.some((placed) => placed.run === run) ?? false
  }

  /** The description that a document was last stored or removed with. */
  headOf(tenant: string, corpus: string, docId: string): RunHead | undefined {
    return this.corpora.get(corpusKey(tenant, corpus))?.get(docId)?.head
  }

  /** True when a document holds at least one chunk. */
  has(tenant: string, corpus: string, docId: string): boolean {
    const state = this.corpora.get(corpusKey(tenant, corpus))?.get(docId)
    return state !== undefined && chunksOf(state) > 0
  }

  /** Documents of a corpus that hold at least one chunk, in no order. */
  *list(tenant: string, corpus: string): Generator<DocumentSummary> {
    for (const [docId, state] of this.corpora.get(corpusKey(tenant, corpus)) ?? []) {
      const chunks = chunksOf(state)
      if (chunks === 0) continue
      const { title = null, url = null, revision = '' } = state.head ?? {}
      yield { docId, title, url, revision, chunks }
    }
  }

  private stateOf({ tenant, corpus, doc }: Run): DocumentState {
    const key = corpusKey(tenant, corpus)
    let documents = this.corpora.get(key)
    if (documents === undefined) {
      documents = new Map()
      this.corpora.set(key, documents)
    }
    let state = documents.get(doc)
    if (state === undefined) {
      state = { head: undefined, live: [] }
      documents.set(doc, state)
    }
    return state
  }

  private count(state: DocumentState, sign: 1 | -1): void {
    const chunks = chunksOf(state)
    this.liveChunks += sign * chunks
    if (chunks > 0) this.liveDocuments += sign
  }
}

/** Numbers of a run's first chunk frame and of the frame after its last. */
export function chunkFrames(run: Run): { readonly start: number; readonly end: number } {
  const described = run.head?.pages.length ?? 0
  return { start: run.first + Math.min(described, run.frames), end: run.first + run.frames }
}

function chunksOf(state: DocumentState): number {
  let chunks = 0
  for (const { run } of state.live) {
    const { start, end } = chunkFrames(run)
    chunks += end - start
  }
  return chunks
}

/** Neither part can hold NUL. */
function corpusKey(tenant: string, corpus: string): string {
  return `${tenant}\0${corpus}`
}
