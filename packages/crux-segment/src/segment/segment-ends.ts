import { crc32c } from '../checksum.js'
import { formatError, requireCrc, requireLength, requireMagic, requireRange } from '../errors.js'
import { checkUint, copyOf, readU64, viewOf, writeU64 } from '../little-endian.js'
import {
  FLAG_HAS_TOC,
  FLAG_SEALED,
  FOOTER_BYTES,
  FOOTER_MAGIC,
  HASH_BYTES,
  HEADER_BYTES,
  HEADER_FLAGS,
  HEADER_MAGIC,
  SEGMENT_MAJOR,
  SEGMENT_MINOR,
} from './layout.js'

/** What names a segment, in its header and again in its footer. */
export interface SegmentIdentity {
  readonly shardId: number
  readonly epoch: number
  /** 1 for the first of a shard. */
  readonly segmentSeq: number
  /** 16 bytes. */
  readonly segmentId: Uint8Array
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly createdAtNs: bigint
}

/** The last 256 bytes of a segment. Offsets are bytes from the start of the file. */
export interface SegmentFooter extends SegmentIdentity {
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly sealedAtNs: bigint
  readonly fileLength: number
  readonly recordAreaOffset: number
  readonly recordAreaLength: number
  readonly tocOffset: number
  readonly tocLength: number
  /** Frames. */
  readonly entryCount: number
  readonly minStreamHash: bigint
  readonly minSeq: number
  readonly maxStreamHash: bigint
  readonly maxSeq: number
  /** BLAKE3, 32 bytes each. */
  readonly headerHash: Uint8Array
  readonly recordHash: Uint8Array
  readonly tocPayloadHash: Uint8Array
  readonly segmentHash: Uint8Array
}

/** Id of a segment: its epoch and its sequence number, 8 bytes each. */
export function segmentIdOf(epoch: number, segmentSeq: number): Uint8Array {
  const id = new Uint8Array(16)
  writeU64(viewOf(id), 0, epoch)
  writeU64(viewOf(id), 8, segmentSeq)
  return id
}

/** The first 4096 bytes of a segment, or of a head that is still being written. */
export function encodeSegmentHeader(identity: SegmentIdentity): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES)
  const view = viewOf(bytes)
  view.setUint32(0, HEADER_MAGIC, true)
  view.setUint16(4, SEGMENT_MAJOR, true)
  view.setUint16(6, SEGMENT_MINOR, true)
  view.setUint32(8, HEADER_BYTES, true)
  view.setUint32(12, HEADER_FLAGS, true)
  writeIdentity(bytes, view, 16, identity)
  view.setUint32(HEADER_BYTES - 4, crc32c(bytes.subarray(0, HEADER_BYTES - 4)), true)
  return bytes
}

/**
 * Read the first 4096 bytes of a segment or head.
 *
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, `LENGTH_OUT_OF_RANGE`, `CRC_MISMATCH`.
 */
export function decodeSegmentHeader(bytes: Uint8Array): SegmentIdentity {
  requireLength('a segment header', HEADER_BYTES, bytes.length)
  const view = viewOf(bytes)
  requireMagic('segment', HEADER_MAGIC, view.getUint32(0, true))
  requireVersion('segment', view)
  const length = view.getUint32(8, true)
  requireRange(length === HEADER_BYTES, 'header_len', `${length}, expected ${HEADER_BYTES}`)
  const crc = crc32c(bytes.subarray(0, HEADER_BYTES - 4))
  requireCrc('segment header', view.getUint32(HEADER_BYTES - 4, true), crc)
  return readIdentity(bytes, view, 16)
}

/** The last 256 bytes of a segment. */
export function encodeSegmentFooter(footer: SegmentFooter): Uint8Array {
  const bytes = new Uint8Array(FOOTER_BYTES)
  const view = viewOf(bytes)
  view.setUint32(0, FOOTER_MAGIC, true)
  view.setUint16(4, SEGMENT_MAJOR, true)
  view.setUint16(6, SEGMENT_MINOR, true)
  view.setUint32(8, FOOTER_BYTES, true)
  view.setUint32(12, FLAG_SEALED | FLAG_HAS_TOC, true)
  writeIdentity(bytes, view, 16, footer)
  view.setBigUint64(60, footer.sealedAtNs, true)
  view.setUint32(68, checkUint(footer.fileLength, 32, 'file_len'), true)
  view.setUint32(72, footer.recordAreaOffset, true)
  view.setUint32(76, footer.recordAreaLength, true)
  view.setUint32(80, footer.tocOffset, true)
  view.setUint32(84, footer.tocLength, true)
  view.setUint32(88, footer.entryCount, true)
  view.setBigUint64(92, footer.minStreamHash, true)
  writeU64(view, 100, footer.minSeq)
  view.setBigUint64(108, footer.maxStreamHash, true)
  writeU64(view, 116, footer.maxSeq)
  bytes.set(footer.headerHash, 124)
  bytes.set(footer.recordHash, 156)
  bytes.set(footer.tocPayloadHash, 188)
  bytes.set(footer.segmentHash, 220)
  view.setUint32(FOOTER_BYTES - 4, crc32c(bytes.subarray(0, FOOTER_BYTES - 4)), true)
  return bytes
}

/**
 * Read the last 256 bytes of a segment of `fileLength` bytes.
 *
 * @returns Facts whose areas lie one after the other and fill the file.
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, `LENGTH_OUT_OF_RANGE`, `CRC_MISMATCH`,
 *   `NOT_SEALED`, `FILE_LENGTH_MISMATCH`.
 */
export function decodeSegmentFooter(bytes: Uint8Array, fileLength: number): SegmentFooter {
  requireLength('a segment', HEADER_BYTES + FOOTER_BYTES, fileLength)
  requireLength('a segment footer', FOOTER_BYTES, bytes.length)
  const view = viewOf(bytes)
  requireMagic('segment footer', FOOTER_MAGIC, view.getUint32(0, true))
  requireVersion('segment footer', view)
  const length = view.getUint32(8, true)
  requireRange(length === FOOTER_BYTES, 'footer_len', `${length}, expected ${FOOTER_BYTES}`)
  const crc = crc32c(bytes.subarray(0, FOOTER_BYTES - 4))
  requireCrc('segment footer', view.getUint32(FOOTER_BYTES - 4, true), crc)
  const flags = view.getUint32(12, true)
  if ((flags & (FLAG_SEALED | FLAG_HAS_TOC)) !== (FLAG_SEALED | FLAG_HAS_TOC)) {
    throw formatError('NOT_SEALED', `segment flags 0x${flags.toString(16)}: it is not sealed`, {
      flags,
    })
  }
  const declared = view.getUint32(68, true)
  if (declared !== fileLength) {
    throw formatError(
      'FILE_LENGTH_MISMATCH',
      `the segment says that it has ${declared} bytes, it has ${fileLength}`,
      { declared, actual: fileLength },
    )
  }
  const footer: SegmentFooter = {
    ...readIdentity(bytes, view, 16),
    sealedAtNs: view.getBigUint64(60, true),
    fileLength,
    recordAreaOffset: view.getUint32(72, true),
    recordAreaLength: view.getUint32(76, true),
    tocOffset: view.getUint32(80, true),
    tocLength: view.getUint32(84, true),
    entryCount: view.getUint32(88, true),
    minStreamHash: view.getBigUint64(92, true),
    minSeq: readU64(view, 100, 'min_seq'),
    maxStreamHash: view.getBigUint64(108, true),
    maxSeq: readU64(view, 116, 'max_seq'),
    headerHash: hashAt(bytes, 124),
    recordHash: hashAt(bytes, 156),
    tocPayloadHash: hashAt(bytes, 188),
    segmentHash: hashAt(bytes, 220),
  }
  requireRange(
    footer.recordAreaOffset === HEADER_BYTES &&
      footer.recordAreaOffset + footer.recordAreaLength === footer.tocOffset &&
      footer.tocOffset + footer.tocLength + FOOTER_BYTES === fileLength,
    'areas',
    `records ${footer.recordAreaOffset}+${footer.recordAreaLength} and table ${footer.tocOffset}+${footer.tocLength} do not fill ${fileLength} bytes`,
  )
  return footer
}

function requireVersion(format: string, view: DataView): void {
  const major = view.getUint16(4, true)
  const minor = view.getUint16(6, true)
  if (major !== SEGMENT_MAJOR || minor !== SEGMENT_MINOR) {
    throw formatError(
      'UNSUPPORTED_VERSION',
      `${format} version ${major}.${minor}, this reads ${SEGMENT_MAJOR}.${SEGMENT_MINOR}`,
      { format: 'ccxseg', version: `${major}.${minor}` },
    )
  }
}

function writeIdentity(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  identity: SegmentIdentity,
): void {
  view.setUint32(at, checkUint(identity.shardId, 32, 'shard_id'), true)
  writeU64(view, at + 4, identity.epoch)
  writeU64(view, at + 12, identity.segmentSeq)
  bytes.set(identity.segmentId.subarray(0, 16), at + 20)
  view.setBigUint64(at + 36, identity.createdAtNs, true)
}

function readIdentity(bytes: Uint8Array, view: DataView, at: number): SegmentIdentity {
  return {
    shardId: view.getUint32(at, true),
    epoch: readU64(view, at + 4, 'epoch'),
    segmentSeq: readU64(view, at + 12, 'segment_seq'),
    segmentId: copyOf(bytes, at + 20, at + 36),
    createdAtNs: view.getBigUint64(at + 36, true),
  }
}

function hashAt(bytes: Uint8Array, at: number): Uint8Array {
  return copyOf(bytes, at, at + HASH_BYTES)
}
