import type { SegmentRef } from 'crux-storage'
import type { Pause } from 'crux-types'
import type { DocumentSummary } from '../document-store.js'
import { LinkIndex } from '../graph/link-index.js'
import { documentRuns, type Run, type RunHead, type SegmentDigest } from './segment-digest.js'

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

const NOTHING: FrameCount = { frames: 0, bytes: 0 }

/** Frames and their bytes. */
export interface FrameCount {
  readonly frames: number
  readonly bytes: number
}

interface DocumentState {
  /** The newest description. */
  head: PlacedRun | undefined
  /** What counts as the document's content: the run of its newest description and what came after. */
  live: readonly PlacedRun[]
}

/**
 * Which frames are current: a document is its newest description and the frames after it, by the sequence
 * numbers of its stream, in whatever order segments come.
 */
export class DocumentCatalog {
  private readonly corpora = new Map<string, Map<string, DocumentState>>()
  /** What is no longer current, by segment id. */
  private readonly dead = new Map<string, FrameCount>()
  private liveDocuments = 0
  private liveChunks = 0
  private readonly nodes = new Map<string, number>()
  /** Links of current chunks. */
  readonly links = new LinkIndex()

  /** Documents that hold at least one chunk. */
  get documents(): number {
    return this.liveDocuments
  }

  get chunks(): number {
    return this.liveChunks
  }

  /**
   * Take in a segment; one at a time.
   *
   * @param pause - Awaited between runs: the catalog then holds a part of the segment.
   * @returns Runs that are not or no longer current, of this and of other segments.
   */
  async add(segment: KnownSegment, pause: Pause): Promise<readonly PlacedRun[]> {
    const dead: PlacedRun[] = []
    for (const [i, run] of documentRuns(segment.digest).entries()) {
      if (i % RUN_SLICE === 0) await pause()
      const state = this.stateOf(run)
      this.count(run.tenant, state, -1)
      const before = state.live
      for (const placed of place(state, { segment, run })) {
        this.countDead(placed)
        dead.push(placed)
      }
      for (const gone of before) if (!state.live.includes(gone)) this.links.remove(gone.run)
      if (state.live.some((placed) => placed.run === run)) this.links.add(run)
      this.count(run.tenant, state, 1)
      if (run.head?.removed === true) dead.push({ segment, run })
    }
    return dead
  }

  /**
   * Let a merged segment stand for those that it was merged from: it holds all of their current frames.
   *
   * @param gone - Ids of those segments.
   * @param forgotten - Removals that were not kept, as no frame of their documents is left.
   * @param pause - Awaited between runs; what is current stays the same throughout.
   */
  async replace(
    gone: ReadonlySet<string>,
    merged: KnownSegment | undefined,
    forgotten: readonly Run[],
    pause: Pause,
  ): Promise<void> {
    const runs = merged === undefined ? [] : documentRuns(merged.digest)
    for (const [i, run] of runs.entries()) {
      if (merged === undefined) break
      const state = this.stateOf(run)
      const moved = { segment: merged, run }
      state.live = state.live.map((placed) => (placed.run.seq === run.seq ? moved : placed))
      if (state.head?.run.seq === run.seq) state.head = moved
      if (i % RUN_SLICE === 0) await pause()
    }
    for (const [i, { tenant, corpus, doc }] of forgotten.entries()) {
      const documents = this.corpora.get(corpusKey(tenant, corpus))
      if (documents?.get(doc)?.live.length === 0) documents.delete(doc)
      if (i % RUN_SLICE === 0) await pause()
    }
    for (const id of gone) this.dead.delete(id)
  }

  /** True when the frames of this run are the current content of their document. */
  isLive(run: Run): boolean {
    return this.find(run)?.live.some((placed) => placed.run === run) ?? false
  }

  /** True when this run says that its document was taken out, and nothing came after it. */
  isRemoval(run: Run): boolean {
    return run.head?.removed === true && this.find(run)?.head?.run === run
  }

  /** What of a segment is no longer current; removals that hold count as current. */
  deadIn(segmentId: string): FrameCount {
    return this.dead.get(segmentId) ?? NOTHING
  }

  /** The description that a document was last stored or removed with. */
  headOf(tenant: string, corpus: string, docId: string): RunHead | undefined {
    return this.corpora.get(corpusKey(tenant, corpus))?.get(docId)?.head?.run.head
  }

  /** Current chunks of a tenant that stand beside another one, or whose document holds links. */
  nodesOf(tenant: string): number {
    return this.nodes.get(tenant) ?? 0
  }

  /** The frames that count as a document's content, oldest first. */
  liveOf(tenant: string, corpus: string, docId: string): readonly PlacedRun[] {
    return this.corpora.get(corpusKey(tenant, corpus))?.get(docId)?.live ?? []
  }

  /** Corpora of a tenant. */
  *corporaOf(tenant: string): Iterable<string> {
    const prefix = corpusKey(tenant, '')
    for (const key of this.corpora.keys())
      if (key.startsWith(prefix)) yield key.slice(prefix.length)
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
      const { title = null, url = null, revision = '' } = state.head?.run.head ?? {}
      yield { docId, title, url, revision, chunks }
    }
  }

  private find({ tenant, corpus, doc }: Run): DocumentState | undefined {
    return this.corpora.get(corpusKey(tenant, corpus))?.get(doc)
  }

  private countDead({ segment, run }: PlacedRun): void {
    const { frames, bytes } = this.deadIn(segment.ref.id)
    const more = bytesOf(segment.digest, run)
    this.dead.set(segment.ref.id, { frames: frames + run.frames, bytes: bytes + more })
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

  private count(tenant: string, state: DocumentState, sign: 1 | -1): void {
    const chunks = chunksOf(state)
    if (chunks > 1 || state.live.some(({ run }) => run.links !== undefined)) {
      this.nodes.set(tenant, this.nodesOf(tenant) + sign * chunks)
    }
    this.liveChunks += sign * chunks
    if (chunks > 0) this.liveDocuments += sign
  }
}

/** Bytes of a run's frames in its segment. */
export function bytesOf({ offsets }: SegmentDigest, { first, frames }: Run): number {
  return (offsets[first + frames] ?? 0) - (offsets[first] ?? 0)
}

/** Put a run where its sequence number belongs. @returns what is then not current. */
function place(state: DocumentState, placed: PlacedRun): readonly PlacedRun[] {
  const { run } = placed
  const headSeq = state.head?.run.seq ?? 0
  if (run.seq < headSeq) return [placed]
  if (run.head === undefined) {
    state.live = [...state.live, placed]
    return []
  }
  const dead = state.live.filter((live) => live.run.seq <= run.seq)
  // A removal is not among what is live.
  if (state.head?.run.head?.removed === true) dead.push(state.head)
  const later = state.live.filter((live) => live.run.seq > run.seq)
  state.head = placed
  state.live = run.head.removed ? later : [placed, ...later]
  return dead
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
