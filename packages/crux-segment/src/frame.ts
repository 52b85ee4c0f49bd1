import { crc32 } from './checksum.js'
import {
  formatError,
  requireCrc,
  requireHash,
  requireLength,
  requireMagic,
  requireRange,
} from './errors.js'
import {
  decodeFrameHeader,
  encodeFrameHeader,
  type FrameFields,
  type FrameHeader,
  frameHeaderLength,
  type HeaderTarget,
  headerTarget,
  writeFrameHeader,
} from './frame-header.js'
import type { Hashes } from './hashes.js'
import { checkUint, viewOf } from './little-endian.js'

/** One frame as it stands in a segment. */
export interface Frame {
  readonly header: FrameHeader
  /** View into the bytes that were decoded. */
  readonly payload: Uint8Array
  /** Whole frame, in bytes. */
  readonly frameLength: number
  /** BLAKE3 of the canonical header as stored, 32 bytes. */
  readonly headerHash: Uint8Array
  /** BLAKE3 of the payload as stored, 32 bytes. */
  readonly payloadHash: Uint8Array
}

const MAGIC = 0x43525831
const VERSION = 1
const PREFIX_BYTES = 12
const HASH_BYTES = 32
const CRC_BYTES = 4
/** Fewest bytes of a frame. */
export const MIN_FRAME_BYTES = PREFIX_BYTES + CRC_BYTES

/** What a frame holds about its payload. */
export interface PayloadDigests {
  /** BLAKE3, 32 bytes. */
  readonly payloadHash: Uint8Array
  /** CRC-32 (IEEE). */
  readonly payloadCrc: number
}

/** Digests of a payload that is small enough to be read in one go. */
export function digestsOf(payload: Uint8Array, hashes: Hashes): PayloadDigests {
  return { payloadHash: hashes.blake3(payload), payloadCrc: crc32(payload) }
}

/** Bytes that a frame of these fields and this payload takes. */
export function frameLength(fields: FrameFields, payload: Uint8Array): number {
  return PREFIX_BYTES + frameHeaderLength(fields) + HASH_BYTES + payload.length + CRC_BYTES
}

/**
 * Write a frame at `at` of `target`, which has {@link frameLength} bytes of room there.
 *
 * @param digests - Of the payload.
 * @returns Its hashes and its length in bytes.
 * @throws {CruxError} `INVALID_UTF8`. @throws {RangeError} When the header exceeds 65,535 bytes or `seq` is no integer.
 */
export function writeFrame(
  target: HeaderTarget,
  at: number,
  fields: FrameFields,
  payload: Uint8Array,
  hashes: Hashes,
  digests: PayloadDigests = digestsOf(payload, hashes),
): { frameLength: number; headerHash: Uint8Array; payloadHash: Uint8Array } {
  const { bytes, view } = target
  const headerStart = at + PREFIX_BYTES
  const { payloadHash } = digests
  const headerEnd = writeFrameHeader(target, headerStart, fields, payload.length, payloadHash)
  const headerHash = hashes.blake3(bytes.subarray(headerStart, headerEnd))
  bytes.set(headerHash, headerEnd)
  const payloadStart = headerEnd + HASH_BYTES
  view.setUint32(at, MAGIC, true)
  view.setUint16(at + 4, VERSION, true)
  view.setUint16(at + 6, checkUint(payloadStart - headerStart, 16, 'header_len'), true)
  view.setUint32(at + 8, checkUint(payload.length, 32, 'payload_len'), true)
  bytes.set(payload, payloadStart)
  const payloadEnd = payloadStart + payload.length
  view.setUint32(payloadEnd, digests.payloadCrc, true)
  return { frameLength: payloadEnd + CRC_BYTES - at, headerHash, payloadHash }
}

/** One frame, in bytes of its own. @throws {CruxError} `INVALID_UTF8`. @throws {RangeError} As {@link writeFrame}. */
export function encodeFrame(fields: FrameFields, payload: Uint8Array, hashes: Hashes): Uint8Array {
  const target = new Uint8Array(frameLength(fields, payload))
  writeFrame(headerTarget(target), 0, fields, payload, hashes)
  return target
}

/**
 * Read the frame that starts at `offset`; its payload's checksum is verified, its hashes are not
 * (see {@link verifyFrame}).
 *
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, `LENGTH_OUT_OF_RANGE`,
 *   `CRC_MISMATCH`, and those of {@link decodeFrameHeader}.
 */
export function decodeFrame(bytes: Uint8Array, offset = 0): Frame {
  requireLength('a frame', MIN_FRAME_BYTES, bytes.length - offset)
  const view = viewOf(bytes)
  requireMagic('frame', MAGIC, view.getUint32(offset, true))
  const version = view.getUint16(offset + 4, true)
  if (version !== VERSION) {
    throw formatError('UNSUPPORTED_VERSION', `frame version ${version}, this reads ${VERSION}`, {
      format: 'CRX1',
      version,
    })
  }
  const headerLength = view.getUint16(offset + 6, true)
  const payloadLength = view.getUint32(offset + 8, true)
  const length = PREFIX_BYTES + headerLength + payloadLength + CRC_BYTES
  requireLength('a frame', length, bytes.length - offset)
  if (headerLength < HASH_BYTES) {
    requireRange(false, 'header_len', `${headerLength} bytes leave no room for the header hash`)
  }
  const headerStart = offset + PREFIX_BYTES
  const payloadStart = headerStart + headerLength
  const payloadEnd = payloadStart + payloadLength
  const payload = bytes.subarray(payloadStart, payloadEnd)
  const storedCrc = view.getUint32(payloadEnd, true)
  const crc = crc32(payload)
  if (storedCrc !== crc) requireCrc(`payload of the frame at ${offset}`, storedCrc, crc)
  const header = decodeFrameHeader(bytes.subarray(headerStart, payloadStart - HASH_BYTES))
  if (header.payloadLength !== payloadLength) {
    const both = `the frame says ${payloadLength}, its header ${header.payloadLength}`
    requireRange(false, 'payload_len', both)
  }
  return {
    header,
    payload,
    frameLength: length,
    headerHash: bytes.subarray(payloadStart - HASH_BYTES, payloadStart),
    payloadHash: header.payloadHash,
  }
}

/**
 * Check both hashes of a decoded frame.
 *
 * @throws {CruxError} `HASH_MISMATCH` with `data.part` `frame header` or `frame payload`.
 */
export function verifyFrame(frame: Frame, hashes: Hashes): void {
  requireHash('frame header', frame.headerHash, hashes.blake3(encodeFrameHeader(frame.header)))
  requireHash('frame payload', frame.payloadHash, hashes.blake3(frame.payload))
}
