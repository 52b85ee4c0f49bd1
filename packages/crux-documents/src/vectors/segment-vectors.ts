import { isSameSpace, type SemanticProfile } from 'crux-retrieval'
import { decodeCcxp, encodeCcxp, encodeCcxvInSlices, openCcxvInSlices } from 'crux-segment'
import type { Companion, SegmentRef } from 'crux-storage'
import { CruxError, type Pause } from 'crux-types'
import type { CompanionSources } from '../segments/companions.js'

/** Vectors of a segment's chunks. */
export interface SegmentVectors {
  /** Numbers per vector. */
  readonly dim: number
  /** Strictly ascending frame numbers. */
  readonly docIds: Uint32Array
  /** `docIds.length * dim` finite numbers, row after row. */
  readonly vectors: Float32Array
  /** Of the embedder that made them; undefined when nobody said. */
  readonly profile: SemanticProfile | undefined
}

/** The vector of one frame. */
export interface FrameVector {
  readonly frame: number
  readonly vector: Float32Array
}

/** Rows copied between two looks at the clock. */
const ROW_SLICE = 1024

/**
 * Put vectors side by side.
 *
 * @param rows - Ascending frames; vectors of one length.
 * @returns undefined when there are none.
 */
export async function packVectors(
  rows: readonly FrameVector[],
  profile: SemanticProfile | undefined,
  pause: Pause,
): Promise<SegmentVectors | undefined> {
  const dim = rows[0]?.vector.length
  if (dim === undefined) return undefined
  const docIds = new Uint32Array(rows.length)
  const vectors = new Float32Array(rows.length * dim)
  for (const [row, { frame, vector }] of rows.entries()) {
    docIds[row] = frame
    vectors.set(vector, row * dim)
    if (row % ROW_SLICE === 0) await pause()
  }
  return { dim, docIds, vectors, profile }
}

/** The vector of a row. */
export function vectorAt({ vectors, dim }: SegmentVectors, row: number): Float32Array {
  return vectors.subarray(row * dim, (row + 1) * dim)
}

/** The files that hold vectors: `.ccxv`, and `.ccxp` where it is known who made them. */
export async function vectorFiles(
  vectors: SegmentVectors,
  pause: Pause,
): Promise<readonly Companion[]> {
  const ccxv: Companion = { kind: 'ccxv', bytes: await encodeCcxvInSlices(vectors, pause) }
  const { profile } = vectors
  return profile === undefined ? [ccxv] : [ccxv, { kind: 'ccxp', bytes: encodeCcxp(profile) }]
}

/**
 * Replace the vectors of a committed segment.
 *
 * The profile changes while the segment has no vectors, so that a crash in between leaves none under
 * the profile of another embedder.
 *
 * @throws {CruxError} The segment store's codes.
 */
export async function writeVectors(
  { segments }: Pick<CompanionSources, 'segments'>,
  ref: SegmentRef,
  vectors: SegmentVectors & { readonly profile: SemanticProfile },
  pause: Pause,
): Promise<void> {
  const none = { ...vectors, docIds: new Uint32Array(), vectors: new Float32Array() }
  const emptied = await encodeCcxvInSlices(none, pause)
  const filled = await encodeCcxvInSlices(vectors, pause)
  await segments.writeCompanion(ref, { kind: 'ccxv', bytes: emptied })
  await segments.writeCompanion(ref, { kind: 'ccxp', bytes: encodeCcxp(vectors.profile) })
  await segments.writeCompanion(ref, { kind: 'ccxv', bytes: filled })
}

/**
 * The vectors of a segment; undefined when there are none, or they are damaged.
 *
 * @param pause - Awaited between pieces.
 */
export async function loadVectors(
  { segments, hashes, onWarning }: CompanionSources,
  ref: SegmentRef,
  pause: Pause,
): Promise<SegmentVectors | undefined> {
  const bytes = await segments.readCompanion(ref, 'ccxv')
  if (bytes === undefined) return undefined
  const unused = (what: string): undefined => {
    onWarning(
      `${what}, so that its vectors are not used; run 'corecruxctl ccxi embed' to make them again`,
    )
    return undefined
  }
  try {
    const { dim, docIds, vectors } = await openCcxvInSlices(bytes, pause)
    const last = docIds.at(-1)
    if (last === undefined) return undefined
    if (last >= ref.frameCount) return unused(`the .ccxv of segment ${ref.id} is of other frames`)
    const stored = await segments.readCompanion(ref, 'ccxp')
    const profile = stored === undefined ? undefined : decodeCcxp(stored, hashes)
    if (profile !== undefined && profile.dimensions !== dim) {
      return unused(`the .ccxp of segment ${ref.id} is of other vectors`)
    }
    return { dim, docIds, vectors, profile }
  } catch (error) {
    if (!(error instanceof CruxError)) throw error
    return unused(`the .ccxv or .ccxp of segment ${ref.id} is damaged (${error.message})`)
  }
}

/** Whether vectors can be compared with those of an embedder; where nobody said who made them, their length decides. */
export function isComparable({ dim, profile }: SegmentVectors, other: SemanticProfile): boolean {
  return dim === other.dimensions && (profile === undefined || isSameSpace(profile, other))
}

/** Names what can be compared with each other: vectors of equal names may stand in one segment. */
export function spaceOf({ dim, profile }: Pick<SegmentVectors, 'dim' | 'profile'>): string {
  if (profile === undefined) return `${dim} numbers`
  return `${profile.embedding_fingerprint.hash} ${profile.revision ?? ''}`
}
