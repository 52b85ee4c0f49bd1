import {
  type CcxfReader,
  type CcxiReader,
  type Hashes,
  openCcxf,
  openCcxiInSlices,
} from 'crux-segment'
import type { SegmentRef, SegmentStore } from 'crux-storage'
import { CruxError, messageOf, type Pause } from 'crux-types'
import { loadVectors, type SegmentVectors } from '../vectors/segment-vectors.js'
import type { KnownSegment } from './document-catalog.js'
import { digestSegment } from './scan-segment.js'
import { decodeDigest, encodeDigest, type SegmentDigest } from './segment-digest.js'

/** What companions are read with. */
export interface CompanionSources {
  readonly segments: SegmentStore
  readonly hashes: Hashes
  /** Told of what was missing or damaged, in one sentence each. */
  readonly onWarning: (message: string) => void
}

/**
 * The digest of a segment from its `.ccxm`; built from the segment and written back when there is no usable one.
 *
 * @returns `isRebuilt` is true when it was built.
 * @throws {CruxError} When the segment itself does not decode.
 */
export async function loadDigest(
  { segments, hashes, onWarning }: CompanionSources,
  ref: SegmentRef,
  pause: Pause,
): Promise<{ digest: SegmentDigest; isRebuilt: boolean }> {
  const stored = await segments.readCompanion(ref, 'ccxm')
  const known = stored === undefined ? undefined : await decodeDigest(ref, stored, pause)
  if (known !== undefined) return { digest: known, isRebuilt: false }
  const { bytes } = await segments.read(ref)
  const digest = await digestSegment(bytes, hashes, pause)
  const why =
    stored === undefined ? 'had no .ccxm' : 'had a .ccxm that is damaged or of another version'
  const encoded = await encodeDigest(ref, digest, pause)
  try {
    await segments.writeCompanion(ref, { kind: 'ccxm', bytes: encoded })
    onWarning(`segment ${ref.id} ${why}; it was rebuilt from the segment`)
  } catch (error) {
    onWarning(
      `segment ${ref.id} ${why}, and the rebuilt one could not be written (${messageOf(error)}); every start reads the segment until it can be`,
    )
  }
  return { digest, isRebuilt: true }
}

/**
 * The index of a segment, from its `.ccxi`; undefined when there are none, or they are damaged or of other frames.
 *
 * @param pause - Awaited between documents.
 */
export async function loadIndex(
  { segments, hashes, onWarning }: CompanionSources,
  ref: SegmentRef,
  digest: SegmentDigest,
  pause: Pause,
): Promise<CcxiReader | undefined> {
  const bytes = await segments.readCompanion(ref, 'ccxi')
  if (bytes === undefined) return undefined
  try {
    const index = await openCcxiInSlices(bytes, hashes, pause)
    if (await covers(index, digest, pause)) return index
    onWarning(`the .ccxi of segment ${ref.id} does not belong to it and is not used`)
  } catch (error) {
    if (!(error instanceof CruxError)) throw error
    onWarning(`the .ccxi of segment ${ref.id} is damaged and not used: ${error.message}`)
  }
  return undefined
}

/** The index and the vectors of a segment, as far as they can be used. */
export async function openSegment(
  sources: CompanionSources,
  { ref, digest }: KnownSegment,
  pause: Pause,
): Promise<{ index: CcxiReader | undefined; vectors: SegmentVectors | undefined }> {
  const index = await loadIndex(sources, ref, digest, pause)
  return { index, vectors: await loadVectors(sources, ref, pause) }
}

/**
 * The words of a segment in order, from its `.ccxf`, and the bytes that they hold; undefined when there
 * are none, or they are damaged or not of this index.
 */
export async function loadWords(
  { segments, hashes, onWarning }: CompanionSources,
  ref: SegmentRef,
  index: CcxiReader,
  pause: Pause,
): Promise<{ readonly words: CcxfReader; readonly bytes: number } | undefined> {
  const bytes = await segments.readCompanion(ref, 'ccxf')
  if (bytes === undefined) return undefined
  try {
    const words = await openCcxf(bytes, hashes, pause)
    if (isOfIndex(words, index)) return { words, bytes: bytes.length }
    onWarning(`the .ccxf of segment ${ref.id} does not belong to its index and is not used`)
  } catch (error) {
    if (!(error instanceof CruxError)) throw error
    onWarning(`the .ccxf of segment ${ref.id} is damaged and not used: ${error.message}`)
  }
  return undefined
}

/** True when words are numbered as the terms of an index are. */
export function isOfIndex(words: CcxfReader, index: CcxiReader): boolean {
  return (
    words.totalFrames === index.totalFrames &&
    words.terms === index.vocabSize &&
    words.tokenizerVersion === index.header.tokenizerVersion
  )
}

/** True when an index holds exactly the frames of text of a segment. */
export async function covers(
  index: CcxiReader,
  digest: SegmentDigest,
  pause: Pause,
): Promise<boolean> {
  if (index.totalFrames >= digest.offsets.length) return false
  let indexed = 0
  for (let frame = 0; frame < index.totalFrames; frame++) {
    const offset = index.docFrameOffset(frame)
    if (offset === 0) continue
    if (offset !== digest.offsets[frame]) return false
    indexed++
    if (indexed % 1024 === 0) await pause()
  }
  return indexed === digest.indexable
}
