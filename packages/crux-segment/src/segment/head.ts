import { noPause, type Pause } from 'crux-types'
import { crc32c } from '../checksum.js'
import { decodeFrame, type Frame } from '../frame.js'
import { readU64, viewOf, writeU64 } from '../little-endian.js'
import { crcInSlices } from './checksums.js'
import { HEADER_BYTES } from './layout.js'
import { decodeSegmentHeader, type SegmentIdentity } from './segment-ends.js'

/** What a head holds: a segment that its writer had not sealed yet. */
export interface DecodedHead {
  readonly identity: SegmentIdentity
  /** Committed frames in record order; payloads are views. */
  readonly frames: readonly Frame[]
  /** Bytes up to the end of the last valid commit frame; what follows was never acknowledged. */
  readonly committedLength: number
}

const MAGIC = 0x544d4343
const VERSION = 1
/** Bytes of a commit frame. */
export const COMMIT_FRAME_BYTES = 64
const CRC_AT = 60

/**
 * The frame that closes a batch in a head.
 *
 * @param head - All bytes of the head before the frame.
 */
export function encodeCommitFrame(
  head: Uint8Array,
  facts: { commitId: number; commitSeq: number },
): Uint8Array {
  const bytes = new Uint8Array(COMMIT_FRAME_BYTES)
  const view = viewOf(bytes)
  view.setUint32(0, MAGIC, true)
  view.setUint16(4, VERSION, true)
  view.setUint16(6, COMMIT_FRAME_BYTES, true)
  writeU64(view, 8, facts.commitId)
  writeU64(view, 16, facts.commitSeq)
  writeU64(view, 24, head.length + COMMIT_FRAME_BYTES)
  view.setUint32(32, crc32c(head.subarray(HEADER_BYTES)), true)
  view.setUint32(CRC_AT, crc32c(bytes.subarray(0, CRC_AT)), true)
  return bytes
}

/**
 * Read a head up to its last valid commit frame. Bytes behind it are not looked at; there are no
 * frames when there is none.
 *
 * @throws {CruxError} Those of `decodeSegmentHeader`.
 */
export async function decodeHead(bytes: Uint8Array, pause: Pause = noPause): Promise<DecodedHead> {
  const identity = decodeSegmentHeader(bytes)
  const view = viewOf(bytes)
  const committedLength = await findLastCommit(bytes, view, pause)
  const frames: Frame[] = []
  let at = HEADER_BYTES
  while (at < committedLength) {
    if (isCommitFrame(bytes, view, at)) {
      at += COMMIT_FRAME_BYTES
    } else {
      const frame = decodeFrame(bytes.subarray(0, committedLength), at)
      frames.push(frame)
      at += frame.frameLength
    }
    await pause()
  }
  return { identity, frames, committedLength }
}

async function findLastCommit(bytes: Uint8Array, view: DataView, pause: Pause): Promise<number> {
  for (let at = bytes.length - COMMIT_FRAME_BYTES; at >= HEADER_BYTES; at--) {
    if (at % 4096 === 0) await pause()
    if (!isCommitFrame(bytes, view, at)) continue
    const crc = await crcInSlices(bytes.subarray(HEADER_BYTES, at), pause)
    if (crc === view.getUint32(at + 32, true)) return at + COMMIT_FRAME_BYTES
  }
  return HEADER_BYTES
}

function isCommitFrame(bytes: Uint8Array, view: DataView, at: number): boolean {
  return (
    at + COMMIT_FRAME_BYTES <= bytes.length &&
    view.getUint32(at, true) === MAGIC &&
    view.getUint16(at + 4, true) === VERSION &&
    view.getUint16(at + 6, true) === COMMIT_FRAME_BYTES &&
    view.getUint32(at + CRC_AT, true) === crc32c(bytes.subarray(at, at + CRC_AT)) &&
    readU64(view, at + 24, 'commit_offset') === at + COMMIT_FRAME_BYTES
  )
}
