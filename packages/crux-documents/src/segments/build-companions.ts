import { type Hashes, openTrustedCcxi } from 'crux-segment'
import type { Companion, SealedSegment, SegmentRef, SegmentStore } from 'crux-storage'
import { createPauser, messageOf, type Pause } from 'crux-types'
import { digestSegment, indexSegment } from './scan-segment.js'
import { encodeDigest, type SegmentDigest } from './segment-digest.js'

/** What stands beside a segment. */
export interface BuiltCompanions {
  readonly digest: SegmentDigest
  readonly ccxm: Uint8Array
  /** Undefined when it was not asked for, no frame is text, or building failed. */
  readonly ccxi: Uint8Array | undefined
  /** Why the index could not be built; undefined when it could, or was not asked for. */
  readonly indexError: unknown
}

/** What companions are built with. */
export interface BuildSources {
  readonly hashes: Hashes
  readonly buildIndex: boolean
}

/**
 * Describe a segment and index its text.
 *
 * @param pause - Awaited between frames and pieces of text.
 * @param signal - Ends the work; a failure of the index for another reason is part of the result.
 * @throws {CruxError} When the segment does not decode. @throws The reason of `signal`, once it is aborted.
 */
export async function buildCompanions(
  { hashes, buildIndex }: BuildSources,
  { ref, bytes }: SealedSegment,
  pause: Pause,
  signal: AbortSignal | undefined,
): Promise<BuiltCompanions> {
  const digest = await digestSegment(bytes, hashes, pause)
  const ccxm = await encodeDigest(ref, digest, pause)
  if (!buildIndex) return { digest, ccxm, ccxi: undefined, indexError: undefined }
  try {
    const ccxi = await indexSegment(ref, bytes, digest, hashes, pause)
    return { digest, ccxm, ccxi, indexError: undefined }
  } catch (indexError) {
    signal?.throwIfAborted()
    return { digest, ccxm, ccxi: undefined, indexError }
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
export function companionsOf({ ccxm, ccxi }: BuiltCompanions): readonly Companion[] {
  const digest: Companion = { kind: 'ccxm', bytes: ccxm }
  return ccxi === undefined ? [digest] : [digest, { kind: 'ccxi', bytes: ccxi }]
}

/** The index; undefined when there is none. */
export function indexOf({ ccxi }: BuiltCompanions): ReturnType<typeof openTrustedCcxi> | undefined {
  return ccxi === undefined ? undefined : openTrustedCcxi(ccxi)
}
