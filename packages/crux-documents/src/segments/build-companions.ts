import type { IndexFiles } from 'crux-retrieval'
import { type Hashes, openTrustedCcxi } from 'crux-segment'
import type { Companion, SealedSegment, SegmentRef, SegmentStore } from 'crux-storage'
import { createPauser, messageOf, type Pause } from 'crux-types'
import { type SegmentVectors, vectorFiles } from '../vectors/segment-vectors.js'
import type { OpenedSegment } from './readers.js'
import { digestSegment, indexSegment } from './scan-segment.js'
import { encodeDigest, type SegmentDigest } from './segment-digest.js'

/** What stands beside a segment. */
export interface BuiltCompanions {
  readonly digest: SegmentDigest
  readonly ccxm: Uint8Array
  /** Undefined when it was not asked for, no frame is text, or building failed. */
  readonly index: IndexFiles | undefined
  /** Why the index could not be built; undefined when it could, or was not asked for. */
  readonly indexError: unknown
  /** Undefined when no chunk has one. */
  readonly vectors: SegmentVectors | undefined
  /** The files that hold them. */
  readonly vectorFiles: readonly Companion[]
}

/** What companions are built with. */
export interface BuildSources {
  readonly hashes: Hashes
  readonly buildIndex: boolean
  /** Of chunks of the segment, by the numbers of their frames; undefined when there are none. */
  readonly vectors: SegmentVectors | undefined
}

/**
 * Describe a segment and index its text.
 *
 * @param pause - Awaited between frames and pieces of text.
 * @param signal - Ends the work; a failure of the index for another reason is part of the result.
 * @throws {CruxError} When the segment does not decode. @throws The reason of `signal`, once it is aborted.
 */
export async function buildCompanions(
  { hashes, buildIndex, vectors }: BuildSources,
  { ref, bytes }: SealedSegment,
  pause: Pause,
  signal: AbortSignal | undefined,
): Promise<BuiltCompanions> {
  const digest = await digestSegment(bytes, hashes, pause)
  const ccxm = await encodeDigest(ref, digest, pause)
  const files = vectors === undefined ? [] : await vectorFiles(vectors, pause)
  const built = { digest, ccxm, vectors, vectorFiles: files }
  if (!buildIndex) return { ...built, index: undefined, indexError: undefined }
  try {
    const index = await indexSegment(ref, bytes, digest, hashes, pause)
    return { ...built, index, indexError: undefined }
  } catch (indexError) {
    signal?.throwIfAborted()
    return { ...built, index: undefined, indexError }
  }
}

/**
 * Build and write what a committed segment lacks, such as after a late abort.
 *
 * @param onWarning - Told when it could not be written.
 * @throws {CruxError} When the segment cannot be read.
 */
export async function buildCompanionsLate(
  sources: BuildSources,
  segments: SegmentStore,
  ref: SegmentRef,
  onWarning: (message: string) => void,
): Promise<BuiltCompanions> {
  const built = await buildCompanions(sources, await segments.read(ref), createPauser(), undefined)
  try {
    for (const companion of companionsOf(built)) await segments.writeCompanion(ref, companion)
  } catch (error) {
    onWarning(`the companions of segment ${ref.id} could not be written: ${messageOf(error)}`)
  }
  return built
}

/** The files. */
export function companionsOf({ ccxm, index, vectorFiles }: BuiltCompanions): readonly Companion[] {
  const digest: Companion = { kind: 'ccxm', bytes: ccxm }
  return [digest, ...(index === undefined ? [] : indexFiles(index)), ...vectorFiles]
}

/** The files of an index. */
export function indexFiles({ ccxi, ccxf }: IndexFiles): readonly Companion[] {
  const index: Companion = { kind: 'ccxi', bytes: ccxi }
  return ccxf === undefined ? [index] : [index, { kind: 'ccxf', bytes: ccxf }]
}

/** A segment as a reader set takes it in. */
export function openedSegment(ref: SegmentRef, built: BuiltCompanions): OpenedSegment {
  const { digest, index, vectors } = built
  return {
    ref,
    digest,
    index: index === undefined ? undefined : openTrustedCcxi(index.ccxi),
    vectors,
  }
}
