import { noPause, type Pause } from 'crux-types'
import { requireRange } from '../errors.js'
import { frameLength } from '../frame.js'
import { blake3InSlices } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { checksumsOf } from './checksums.js'
import { planBlocks, sectionsLength, writeSections } from './encode-sections.js'
import { tocAreaLength, writeTocArea } from './encode-toc.js'
import { FOOTER_BYTES, HASH_BYTES, HEADER_BYTES, MAX_SEGMENT_BYTES } from './layout.js'
import { type FrameToSeal, sortByStreamAndSeq, writeRecords } from './record-table.js'
import type { SegmentFooter } from './segment-ends.js'
import { encodeSegmentFooter, encodeSegmentHeader, segmentIdOf } from './segment-ends.js'

const ZERO_SLICE_BYTES = 256 * 1024

/** What becomes one segment. */
export interface SegmentContent {
  readonly shardId: number
  readonly epoch: number
  readonly segmentSeq: number
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly createdAtNs: bigint
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly sealedAtNs: bigint
  /** In the order in which they are to stand. */
  readonly frames: readonly FrameToSeal[]
}

/** A segment that is ready to be written. */
export interface EncodedSegment {
  /** The whole file. */
  readonly bytes: Uint8Array
  readonly footer: SegmentFooter
}

/**
 * Bytes of a sealed segment, uncompressed.
 *
 * @param pause - Awaited between frames and while hashing.
 * @throws {CruxError} `LENGTH_OUT_OF_RANGE` from 4 GiB on; those of {@link streamHash} and of frame encoding.
 */
export async function encodeSegment(
  content: SegmentContent,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<EncodedSegment> {
  const { frames } = content
  const lengths = new Uint32Array(frames.length)
  let recordsEnd = HEADER_BYTES
  for (const [i, { fields, payload }] of frames.entries()) {
    const length = frameLength(fields, payload)
    lengths[i] = length
    recordsEnd += length
    requireRange(recordsEnd <= MAX_SEGMENT_BYTES, 'file_len', 'a segment holds less than 4 GiB')
    await pause()
  }
  const recordLength = recordsEnd - HEADER_BYTES
  const blocks = planBlocks(lengths)
  const sectionsAt = recordsEnd + tocAreaLength(recordLength, frames.length)
  const footerAt = sectionsAt + sectionsLength(blocks.length, frames.length)
  const fileLength = footerAt + FOOTER_BYTES
  requireRange(fileLength <= MAX_SEGMENT_BYTES, 'file_len', 'a segment holds less than 4 GiB')

  const bytes = await zeroedBytes(fileLength, pause)
  const identity = {
    shardId: content.shardId,
    epoch: content.epoch,
    segmentSeq: content.segmentSeq,
    segmentId: segmentIdOf(content.epoch, content.segmentSeq),
    createdAtNs: content.createdAtNs,
  }
  bytes.set(encodeSegmentHeader(identity))
  const table = await writeRecords(bytes, frames, lengths, hashes, pause)
  const order = await sortByStreamAndSeq(table, pause)
  const records = bytes.subarray(HEADER_BYTES, recordsEnd)
  const tocPayloadHash = await writeTocArea(
    bytes.subarray(recordsEnd, sectionsAt),
    table,
    order,
    recordLength,
    await checksumsOf(records, pause),
    hashes,
    pause,
  )
  await writeSections(bytes, sectionsAt, table, order, blocks, hashes, pause)

  const headerHash = hashes.blake3(bytes.subarray(0, HEADER_BYTES))
  const recordHash = await blake3InSlices(records, hashes, pause)
  const first = order[0]
  const last = order.at(-1)
  const footer: SegmentFooter = {
    ...identity,
    sealedAtNs: content.sealedAtNs,
    fileLength,
    recordAreaOffset: HEADER_BYTES,
    recordAreaLength: recordLength,
    tocOffset: recordsEnd,
    tocLength: footerAt - recordsEnd,
    entryCount: frames.length,
    minStreamHash: first === undefined ? 0n : (table.streamHashes[first] ?? 0n),
    minSeq: first === undefined ? 0 : (table.seqs[first] ?? 0),
    maxStreamHash: last === undefined ? 0n : (table.streamHashes[last] ?? 0n),
    maxSeq: last === undefined ? 0 : (table.seqs[last] ?? 0),
    headerHash,
    recordHash,
    tocPayloadHash,
    segmentHash: segmentHashOf(headerHash, recordHash, tocPayloadHash, hashes),
  }
  bytes.set(encodeSegmentFooter(footer), footerAt)
  return { bytes, footer }
}

/** Zeros, with a pause after each 256 KiB: many megabytes at once take several milliseconds. */
async function zeroedBytes(length: number, pause: Pause): Promise<Uint8Array> {
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
  for (let at = 0; at < length; at += ZERO_SLICE_BYTES) {
    bytes.fill(0, at, at + ZERO_SLICE_BYTES)
    await pause()
  }
  return bytes
}

/** Hash of a whole segment: BLAKE3 of the hashes of its three parts. */
export function segmentHashOf(
  headerHash: Uint8Array,
  recordHash: Uint8Array,
  tocPayloadHash: Uint8Array,
  hashes: Hashes,
): Uint8Array {
  const three = new Uint8Array(3 * HASH_BYTES)
  three.set(headerHash)
  three.set(recordHash, HASH_BYTES)
  three.set(tocPayloadHash, 2 * HASH_BYTES)
  return hashes.blake3(three)
}
