import type { Pause } from 'crux-types'
import { crc32c } from './checksum.js'
import { requireCrc, requireLength, requireMagic, requireRange, requireVersion } from './errors.js'
import { checkUint, viewOf } from './little-endian.js'

const MAGIC = 0x4d584343
const VERSION = 1
const HEADER_BYTES = 16

/**
 * Bytes of a `.ccxm` companion around a payload.
 *
 * @param payload - UTF-8 JSON; opaque here. Copied.
 * @throws {RangeError} From 4 GiB on.
 */
export function encodeCcxm(payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length)
  bytes.set(payload, HEADER_BYTES)
  writeHeader(bytes, crc32c(payload))
  return bytes
}

/**
 * {@link encodeCcxm} of a payload that lies in pieces.
 *
 * @param pause - Awaited between pieces.
 */
export async function encodeCcxmInSlices(
  pieces: readonly Uint8Array[],
  pause: Pause,
): Promise<Uint8Array> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const bytes = new Uint8Array(HEADER_BYTES + length)
  let at = HEADER_BYTES
  let crc = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    crc = crc32c(piece, crc)
    at += piece.length
    await pause()
  }
  writeHeader(bytes, crc)
  return bytes
}

function writeHeader(bytes: Uint8Array, crc: number): void {
  const view = viewOf(bytes)
  view.setUint32(0, MAGIC, true)
  view.setUint16(4, VERSION, true)
  view.setUint16(6, HEADER_BYTES, true)
  view.setUint32(8, checkUint(bytes.length - HEADER_BYTES, 32, 'payload_len'), true)
  view.setUint32(12, crc, true)
}

/**
 * Payload of a `.ccxm` companion, a view into `bytes`.
 *
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, `LENGTH_OUT_OF_RANGE`, `CRC_MISMATCH`;
 *   `data.offset` in each.
 */
export function decodeCcxm(bytes: Uint8Array): Uint8Array {
  requireLength('a .ccxm file', HEADER_BYTES, bytes.length, bytes.length)
  const view = viewOf(bytes)
  requireMagic('.ccxm file', MAGIC, view.getUint32(0, true), 0)
  requireVersion('ccxm', VERSION, view.getUint16(4, true), 4)
  const headerLength = view.getUint16(6, true)
  requireRange(
    headerLength === HEADER_BYTES,
    'header_len',
    `${headerLength}, not ${HEADER_BYTES}`,
    6,
  )
  const payload = bytes.subarray(HEADER_BYTES)
  const declared = view.getUint32(8, true)
  requireLength('a .ccxm payload', declared, payload.length, bytes.length)
  requireRange(
    declared === payload.length,
    'payload_len',
    `${declared}, found ${payload.length}`,
    8,
  )
  requireCrc('.ccxm payload', view.getUint32(12, true), crc32c(payload), HEADER_BYTES)
  return payload
}
