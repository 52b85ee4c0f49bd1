import {
  type CcxiReader,
  checkCcxi,
  decodeCcxm,
  decodeCcxp,
  openCcxf,
  openCcxvInSlices,
  openTrustedCcxi,
} from 'crux-segment'
import {
  type CompanionKind,
  type SegmentRef,
  type StorageErrorCode,
  segmentStem,
} from 'crux-storage'
import { CruxError, hasCode, messageOf, type Pause } from 'crux-types'
import type { CompanionProblem } from '../document-store.js'
import { type CompanionSources, covers, isOfIndex } from './companions.js'
import { digestSegment } from './scan-segment.js'
import { decodeDigest, encodeDigest, type SegmentDigest } from './segment-digest.js'

/** What {@link verifyCompanions} found. */
export interface Verification {
  readonly segments: number
  /** Files beside segments that were read. */
  readonly checked: number
  /** In the order of the segments. */
  readonly problems: readonly CompanionProblem[]
}

/** A segment while its files are checked. */
interface Subject {
  readonly sources: CompanionSources
  readonly ref: SegmentRef
  /** Made from the segment itself. */
  readonly digest: SegmentDigest
  readonly pause: Pause
}

/** What a file of some kind lacks; throws what a decoder says about its bytes. */
type Check = (
  subject: Subject,
  bytes: Uint8Array,
  index: CcxiReader | undefined,
) => Promise<string | undefined>

/** Files that need no index come first, as the others are held against it. */
const CHECKS: readonly (readonly [CompanionKind, Check])[] = [
  ['ccxm', checkDigest],
  ['ccxi', checkIndex],
  ['ccxv', checkVectors],
  ['ccxp', checkProfile],
  ['ccxf', checkForward],
]

/**
 * Read all segments and what stands beside them, and say what does not agree with its segment. Segments that
 * are merged meanwhile are passed over.
 *
 * @param pause - Awaited throughout; what it throws (an abort) ends the check.
 * @throws {CruxError} `DATA_DIR_UNUSABLE` when files cannot be read at all.
 */
export async function verifyCompanions(
  sources: CompanionSources,
  pause: Pause,
  onProgress: (done: { segments: number; of: number }) => void = () => undefined,
): Promise<Verification> {
  const refs = await sources.segments.list()
  const problems: CompanionProblem[] = []
  let checked = 0
  for (const [done, ref] of refs.entries()) {
    try {
      checked += await verifySegment(sources, ref, problems, pause)
    } catch (error) {
      if (!hasCode<StorageErrorCode>(error, 'SEGMENT_NOT_FOUND')) throw error
    }
    onProgress({ segments: done + 1, of: refs.length })
  }
  return { segments: refs.length, checked, problems }
}

/** @returns how many companions were read. */
async function verifySegment(
  sources: CompanionSources,
  ref: SegmentRef,
  problems: CompanionProblem[],
  pause: Pause,
): Promise<number> {
  const { segments, hashes } = sources
  const add = (kind: string, reason: string, offset?: number): void => {
    const file = `${segmentStem(ref.seq, ref.id)}.${kind}`
    const where = offset === undefined ? {} : { offset }
    problems.push({ segment: ref.id, file, ...where, reason })
  }
  let digest: SegmentDigest
  try {
    const { bytes } = await segments.read(ref)
    digest = await digestSegment(bytes, hashes, pause)
  } catch (error) {
    if (!hasCode<StorageErrorCode>(error, 'SEGMENT_CORRUPT')) throw error
    add('ccxseg', messageOf(error), offsetOf(error))
    return 0
  }
  let checked = 0
  let index: CcxiReader | undefined
  for (const [kind, check] of CHECKS) {
    const bytes = await segments.readCompanion(ref, kind)
    if (bytes === undefined) {
      const isNeeded = kind === 'ccxm' || (kind === 'ccxi' && digest.indexable > 0)
      if (isNeeded) add(kind, "is missing; run 'corecruxctl ccxi rebuild'")
      continue
    }
    checked++
    try {
      const reason = await check({ sources, ref, digest, pause }, bytes, index)
      if (reason !== undefined) add(kind, reason)
      else if (kind === 'ccxi') index = openTrustedCcxi(bytes)
    } catch (error) {
      if (!(error instanceof CruxError)) throw error
      add(kind, messageOf(error), offsetOf(error))
    }
  }
  return checked
}

async function checkDigest(
  { ref, digest, pause }: Subject,
  bytes: Uint8Array,
): Promise<string | undefined> {
  decodeCcxm(bytes)
  const stored = await decodeDigest(ref, bytes, pause)
  if (stored === undefined) return 'is not of this segment, or its JSON is damaged'
  const want = await encodeDigest(ref, digest, pause)
  const got = await encodeDigest(ref, stored, pause)
  return Buffer.compare(want, got) === 0 ? undefined : 'describes other frames than the segment has'
}

async function checkIndex(
  { sources, ref, digest, pause }: Subject,
  bytes: Uint8Array,
): Promise<string | undefined> {
  await checkCcxi(bytes, sources.hashes, pause)
  const index = openTrustedCcxi(bytes)
  const { shardId, segmentSeq, epoch } = index.header
  if (shardId !== ref.shard || segmentSeq !== ref.seq || epoch !== ref.epoch) {
    return `is of segment ${segmentSeq} of shard ${shardId} and epoch ${epoch}`
  }
  const isWhole = await covers(index, digest, pause)
  return isWhole ? undefined : 'indexes other frames than the segment has text in'
}

async function checkVectors(
  { digest, pause }: Subject,
  bytes: Uint8Array,
): Promise<string | undefined> {
  const { docIds } = await openCcxvInSlices(bytes, pause)
  const frames = digest.offsets.length - 1
  const last = docIds.at(-1) ?? 0
  return last < frames ? undefined : `has a vector of frame ${last}, the segment has ${frames}`
}

async function checkProfile({ sources }: Subject, bytes: Uint8Array): Promise<undefined> {
  decodeCcxp(bytes, sources.hashes)
}

async function checkForward(
  { sources, pause }: Subject,
  bytes: Uint8Array,
  index: CcxiReader | undefined,
): Promise<string | undefined> {
  const forward = await openCcxf(bytes, sources.hashes, pause)
  // An index that is missing or damaged has been named already.
  if (index === undefined) return undefined
  return isOfIndex(forward, index) ? undefined : 'does not belong to the index of the segment'
}

function offsetOf(error: unknown): number | undefined {
  const offset = error instanceof CruxError ? error.data?.offset : undefined
  return typeof offset === 'number' ? offset : undefined
}
