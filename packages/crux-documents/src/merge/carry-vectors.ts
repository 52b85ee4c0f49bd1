import type { Pause } from 'crux-types'
import { OWN_FRAMES } from '../segments/origins.js'
import {
  type FrameVector,
  packVectors,
  type SegmentVectors,
  vectorAt,
} from '../vectors/segment-vectors.js'
import type { KeptRun } from './collect-frames.js'

/**
 * The vectors of what a merge keeps, by the numbers that its frames get: they cannot be made from the text
 * without the embedder.
 *
 * @param places - Of the kept frames, in their order.
 * @param vectorsOf - Of a segment that is merged; those of all of them are of one space.
 * @returns undefined when there are none.
 */
export async function carryVectors(
  places: readonly KeptRun[],
  vectorsOf: (segmentId: string) => SegmentVectors | undefined,
  pause: Pause,
): Promise<SegmentVectors | undefined> {
  const rows: FrameVector[] = []
  let profile: SegmentVectors['profile']
  let to = OWN_FRAMES
  let from: { readonly segmentId: string; row: number } | undefined
  for (const { segmentId, first, frames } of places) {
    const stored = vectorsOf(segmentId)
    if (stored !== undefined) {
      profile = stored.profile
      // Runs of a segment ascend, so its rows are gone through once.
      if (from?.segmentId !== segmentId) from = { segmentId, row: 0 }
      for (;;) {
        const frame = stored.docIds[from.row]
        if (frame === undefined || frame >= first + frames) break
        if (frame >= first) {
          rows.push({ frame: to + frame - first, vector: vectorAt(stored, from.row) })
        }
        from.row++
        await pause()
      }
    }
    to += frames
  }
  return packVectors(rows, profile, pause)
}
