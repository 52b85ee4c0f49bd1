import { noPause, type Pause } from 'crux-types'
import { formatError, requireCrc, requireHash, requireLength, requireRange } from '../errors.js'
import { decodeFrame, type Frame, verifyFrame } from '../frame.js'
import { blake3InSlices } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { viewOf } from '../little-endian.js'
import { streamHash } from '../stream-hash.js'
import { checksumsOf, crcInSlices } from './checksums.js'
import { decodeToc, type SegmentEntry, type SegmentToc } from './decode-toc.js'
import { segmentHashOf } from './encode-segment.js'
import { FOOTER_BYTES, HEADER_BYTES, TBO_ENTRY_BYTES } from './layout.js'
import { decodeSegmentFooter, decodeSegmentHeader, type SegmentFooter } from './segment-ends.js'

/** A decoded frame with its place. */
export interface SegmentFrame extends Frame {
  readonly entry: SegmentEntry
}

/** A whole segment, checked. */
export interface DecodedSegment {
  readonly footer: SegmentFooter
  /** In record order. */
  readonly entries: readonly SegmentEntry[]
  /** Frames in record order, decoded one by one; payloads are views. @throws {CruxError} As {@link decodeFrame}. */
  frames(): Iterable<SegmentFrame>
  /** Frame number `i` in record order. @throws {RangeError} When there is none. @throws {CruxError} As {@link decodeFrame}. */
  frame(i: number): SegmentFrame
}

/**
 * Decode and check a whole segment.
 *
 * `quick` checks the structure and every CRC. `full` also recomputes every BLAKE3 hash and compares
 * each frame with the table of contents.
 *
 * @param bytes - The whole file; kept and read for as long as the result is used.
 * @throws {CruxError} See {@link SegmentFormatErrorCode}.
 */
export async function decodeSegment(
  bytes: Uint8Array,
  hashes: Hashes,
  options: { verify: 'quick' | 'full' },
  pause: Pause = noPause,
): Promise<DecodedSegment> {
  requireLength('a segment', HEADER_BYTES + FOOTER_BYTES, bytes.length)
  const header = bytes.subarray(0, HEADER_BYTES)
  const footer = decodeSegmentFooter(bytes.subarray(bytes.length - FOOTER_BYTES), bytes.length)
  checkSameSegment(header, footer, hashes)
  const tocEnd = footer.tocOffset + footer.tocLength
  const area = bytes.subarray(footer.tocOffset, tocEnd)
  const toc = await decodeToc(area, footer, hashes, options, pause)
  const records = bytes.subarray(footer.recordAreaOffset, footer.tocOffset)
  for (const [i, crc] of (await checksumsOf(records, pause)).entries()) {
    requireCrc(`records, block ${i}`, toc.recordChecksums[i] ?? 0, crc)
  }
  const entries: SegmentEntry[] = []
  for (let i = 0; i < toc.count; i++) {
    entries.push(toc.entry(i))
    if (i % 256 === 0) await pause()
  }
  const segment: DecodedSegment = {
    footer,
    entries,
    *frames() {
      for (const entry of entries) yield decodeSegmentFrame(bytes, entry)
    },
    frame(i) {
      const entry = entries[i]
      if (entry === undefined) throw new RangeError(`frame ${i} of ${entries.length}`)
      return decodeSegmentFrame(bytes, entry)
    },
  }
  if (options.verify === 'full') await verifyAll(bytes, segment, toc, records, hashes, pause)
  return segment
}

/**
 * Check that a header and a footer belong together and to their hashes. Records are not needed.
 *
 * @throws {CruxError} Those of {@link decodeSegmentHeader}; `HASH_MISMATCH`, `LENGTH_OUT_OF_RANGE`.
 */
export function checkSameSegment(header: Uint8Array, footer: SegmentFooter, hashes: Hashes): void {
  const identity = decodeSegmentHeader(header)
  requireHash('segment header', footer.headerHash, hashes.blake3(header.subarray(0, HEADER_BYTES)))
  requireHash(
    'segment',
    footer.segmentHash,
    segmentHashOf(footer.headerHash, footer.recordHash, footer.tocPayloadHash, hashes),
  )
  requireRange(
    identity.shardId === footer.shardId &&
      identity.epoch === footer.epoch &&
      identity.segmentSeq === footer.segmentSeq &&
      identity.createdAtNs === footer.createdAtNs &&
      Buffer.compare(identity.segmentId, footer.segmentId) === 0,
    'segment_seq',
    'header and footer name different segments',
  )
}

/**
 * Decode the frame of one entry.
 *
 * @param bytes - The file, or a range of it.
 * @param bytesAt - Byte of the file at which `bytes` start.
 * @throws {CruxError} As {@link decodeFrame}; `LENGTH_OUT_OF_RANGE` when frame and entry differ.
 */
export function decodeSegmentFrame(
  bytes: Uint8Array,
  entry: SegmentEntry,
  bytesAt = 0,
): SegmentFrame {
  const frame = decodeFrame(bytes, entry.offset - bytesAt)
  requireRange(
    frame.frameLength === entry.frameLength &&
      frame.header.seq === entry.seq &&
      frame.payload.length === entry.payloadLength,
    'frame_len',
    `the frame at ${entry.offset} is not the one in the table of contents`,
  )
  return { ...frame, entry }
}

async function verifyAll(
  bytes: Uint8Array,
  segment: DecodedSegment,
  toc: SegmentToc,
  records: Uint8Array,
  hashes: Hashes,
  pause: Pause,
): Promise<void> {
  const { footer } = segment
  requireHash('records', footer.recordHash, await blake3InSlices(records, hashes, pause))
  for (let i = 0; i < toc.count; i++) {
    const frame = segment.frame(i)
    verifyFrame(frame, hashes)
    const digests = toc.digests(i)
    const eventIdHash = hashes.blake3(Buffer.from(frame.header.eventId)).subarray(0, 16)
    requireHash('event id', digests.subarray(0, 16), eventIdHash)
    requireHash('frame header', digests.subarray(16, 24), frame.headerHash.subarray(0, 8))
    requireHash('frame payload', digests.subarray(24, 32), frame.payloadHash.subarray(0, 8))
    const { tenantId, streamType, streamId } = frame.header
    const stream = streamHash(tenantId, streamType, streamId, hashes)
    requireRange(stream === frame.entry.streamHash, 'stream_hash', `of frame ${i} is another's`)
    await pause()
  }
  await verifySections(bytes, segment, toc, pause)
}

async function verifySections(
  bytes: Uint8Array,
  segment: DecodedSegment,
  toc: SegmentToc,
  pause: Pause,
): Promise<void> {
  const { sections } = toc
  if (sections === undefined) return
  for (const [id, { offset, sizeBytes, crc }] of sections.blocks.entries()) {
    const actual = await crcInSlices(bytes.subarray(offset, offset + sizeBytes), pause)
    requireCrc(`block ${id}`, crc, actual)
  }
  const rows = viewOf(sections.blockOffsets)
  for (const [i, entry] of segment.entries.entries()) {
    const at = i * TBO_ENTRY_BYTES
    const block = sections.blocks[rows.getUint32(at + 16, true)]
    const agrees =
      block !== undefined &&
      rows.getBigUint64(at, true) === entry.streamHash &&
      Number(rows.getBigUint64(at + 8, true)) === entry.seq &&
      block.offset + rows.getUint32(at + 20, true) === entry.offset &&
      rows.getUint32(at + 24, true) === entry.frameLength &&
      Buffer.compare(sections.blockOffsets.subarray(at + 32, at + 64), toc.digests(i)) === 0
    if (!agrees) throw differs('TBO1', i)
    if (i % 256 === 0) await pause()
  }
  const index = viewOf(sections.streamIndex)
  let previous: SegmentEntry | undefined
  for (let i = 0; i < toc.count; i++) {
    const entry = segment.entries[index.getUint32(i * 4, true)]
    const ascends =
      entry !== undefined &&
      (previous === undefined ||
        entry.streamHash > previous.streamHash ||
        (entry.streamHash === previous.streamHash &&
          (entry.seq > previous.seq ||
            (entry.seq === previous.seq && entry.offset > previous.offset))))
    if (!ascends) throw differs('TSI1', i)
    previous = entry
    if (i % 256 === 0) await pause()
  }
}

function differs(section: string, row: number) {
  return formatError(
    'TRAILER_SECTION_INVALID',
    `section ${section}: row ${row} differs from the table of contents`,
    { section },
  )
}
