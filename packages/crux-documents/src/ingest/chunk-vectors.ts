import type { SemanticProfile } from 'crux-retrieval'
import type { Pause } from 'crux-types'
import { packVectors, type SegmentVectors } from '../vectors/segment-vectors.js'
import type { CheckedChunk } from './check-request.js'
import type { PlacedChunk } from './select-changes.js'

/** Vectors of chunks that brought none, and the profile of the embedder that made them. */
export interface MadeVectors {
  readonly of: ReadonlyMap<CheckedChunk, Float32Array>
  readonly profile: SemanticProfile
}

/**
 * Vectors of a new segment, by the numbers of its frames.
 *
 * @param made - Absent when the chunks brought their own, or go without.
 * @param profile - Of those that were brought.
 */
export function chunkVectors(
  chunks: readonly PlacedChunk[],
  made: MadeVectors | undefined,
  profile: SemanticProfile | undefined,
  pause: Pause,
): Promise<SegmentVectors | undefined> {
  const rows = chunks.flatMap(({ frame, chunk }) => {
    const vector = made === undefined ? chunk.vector : made.of.get(chunk)
    return vector === undefined ? [] : [{ frame, vector }]
  })
  return packVectors(rows, made?.profile ?? profile, pause)
}
