import { type Embedder, type SemanticProfile, semanticProfile } from 'crux-retrieval'
import { decodeFrame } from 'crux-segment'
import type { StorageErrorCode } from 'crux-storage'
import { createPauser, hasCode, type Pause } from 'crux-types'
import type { EmbedProgress } from '../document-store.js'
import { embedTexts } from '../ingest/embed-chunks.js'
import type { SerialQueue } from '../serial-queue.js'
import {
  type FrameVector,
  isComparable,
  loadVectors,
  packVectors,
  type SegmentVectors,
  vectorAt,
  writeVectors,
} from '../vectors/segment-vectors.js'
import type { CompanionSources } from './companions.js'
import { chunkFrames, type KnownSegment } from './document-catalog.js'
import type { ReaderSet } from './reader-set.js'
import { documentRuns } from './segment-digest.js'

/** What {@link embedMissing} works with. */
export interface EmbedMissingSources extends CompanionSources {
  readonly set: ReaderSet
  /** Files are written in turns with ingests and merges. */
  readonly commits: SerialQueue
  readonly embedder: Embedder
}

/** What a segment lacks. */
interface Lack {
  readonly segment: KnownSegment
  /** Frames of current chunks to embed. */
  readonly frames: readonly number[]
  /** Vectors that stay. */
  readonly kept: SegmentVectors | undefined
}

/**
 * Embed the current chunks that have no vector.
 *
 * A segment whose vectors are of another embedder, or of one that nobody named, is passed over unless `all`
 * is set. Segments are written one at a time; what a merge replaces meanwhile is looked at again.
 *
 * @throws {CruxError} `EMBEDDING_FAILED`, the segment store's codes. @throws The reason of an abort.
 */
export async function embedMissing(
  sources: EmbedMissingSources,
  options: {
    readonly all?: boolean
    readonly signal?: AbortSignal
    readonly onProgress?: (done: EmbedProgress) => void
  },
): Promise<{ readonly embedded: number; readonly segments: number }> {
  const { signal, all = false, onProgress = () => undefined } = options
  const pause = createPauser({ signal })
  const { embedder, hashes, set } = sources
  if (embedder.profile.dims === 0) {
    // Which vectors can be compared shows only once the embedder has said what it is.
    await embedTexts(['dimension'], { embedder, hashes, pause, signal })
  }
  const profile = semanticProfile(embedder, hashes)
  const changed = new Set<string>()
  const tried = new Set<string>()
  let embedded = 0
  for (;;) {
    const lacks = await findLacks(sources, profile, all, tried, pause)
    if (lacks.length === 0) break
    const of = embedded + lacks.reduce((sum, { frames }) => sum + frames.length, 0)
    for (const lack of lacks) {
      const { id } = lack.segment.ref
      tried.add(id)
      const before = embedded
      const tell = (done: number): void => onProgress({ embedded: before + done, of })
      // What a merge put in its place is found in the next round.
      if (!(await embedSegment(sources, lack, pause, signal, tell))) continue
      embedded += lack.frames.length
      changed.add(id)
    }
  }
  return { embedded, segments: [...changed].filter((id) => set.of(id) !== undefined).length }
}

async function findLacks(
  { set, ...sources }: EmbedMissingSources,
  profile: SemanticProfile,
  isAll: boolean,
  tried: ReadonlySet<string>,
  pause: Pause,
): Promise<readonly Lack[]> {
  const lacks: Lack[] = []
  for (const segment of [...set.all]) {
    if (tried.has(segment.ref.id)) continue
    const stored = set.vectorsOf(segment.ref.id) ?? (await loadVectors(sources, segment.ref, pause))
    const isOwn = stored?.profile !== undefined && isComparable(stored, profile)
    if (stored !== undefined && !isOwn && !isAll) continue
    const kept = isOwn ? stored : undefined
    const has = new Set(kept?.docIds)
    const frames: number[] = []
    for (const run of documentRuns(segment.digest)) {
      if (!set.catalog.isLive(run)) continue
      const { start, end } = chunkFrames(run)
      for (let frame = start; frame < end; frame++) if (!has.has(frame)) frames.push(frame)
      await pause()
    }
    if (frames.length > 0) lacks.push({ segment, frames, kept })
  }
  return lacks
}

/** @returns false when the segment was merged meanwhile. */
async function embedSegment(
  sources: EmbedMissingSources,
  { segment, frames, kept }: Lack,
  pause: Pause,
  signal: AbortSignal | undefined,
  onProgress: (embedded: number) => void,
): Promise<boolean> {
  const { set, commits, embedder, hashes } = sources
  const texts = await readTexts(sources, segment, frames, pause)
  if (texts === undefined) return false
  const made = await embedTexts(texts, { embedder, hashes, pause, signal, onProgress })
  const rows: FrameVector[] = []
  for (const [i, vector] of made.vectors.entries()) rows.push({ frame: frames[i] ?? 0, vector })
  for (const [row, frame] of (kept?.docIds ?? []).entries()) {
    if (kept !== undefined) rows.push({ frame, vector: vectorAt(kept, row) })
  }
  rows.sort((a, b) => a.frame - b.frame)
  const vectors = await packVectors(rows, made.profile, pause)
  if (vectors === undefined) return false
  return commits.run(async () => {
    if (set.of(segment.ref.id) === undefined) return false
    const unstopped = createPauser()
    const profiled = { ...vectors, profile: made.profile }
    await writeVectors(sources, segment.ref, profiled, unstopped)
    await set.revector(segment, profiled, unstopped)
    return true
  })
}

/** Texts of frames, in order; undefined when the segment is gone. */
async function readTexts(
  { segments }: EmbedMissingSources,
  { ref, digest }: KnownSegment,
  frames: readonly number[],
  pause: Pause,
): Promise<readonly string[] | undefined> {
  try {
    const { bytes } = await segments.read(ref)
    const texts: string[] = []
    for (const frame of frames) {
      const { payload } = decodeFrame(bytes, digest.offsets[frame])
      texts.push(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString())
      await pause()
    }
    return texts
  } catch (error) {
    if (hasCode<StorageErrorCode>(error, 'SEGMENT_NOT_FOUND')) return undefined
    throw error
  }
}
