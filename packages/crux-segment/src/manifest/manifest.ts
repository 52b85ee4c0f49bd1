import { crc32c } from '../checksum.js'
import { formatError, requireCrc, requireLength, requireMagic, requireRange } from '../errors.js'
import { checkUint, readU64, viewOf, writeU64 } from '../little-endian.js'
import { decodeRecord, type ManifestRecord, PREFIX_BYTES } from './manifest-record.js'

/** What a MANIFEST is about. */
export interface ManifestHeader {
  readonly shardId: number
  readonly epoch: number
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly createdAtNs: bigint
}

/** What a MANIFEST holds, up to its last intact record. */
export interface Manifest {
  readonly header: ManifestHeader
  /** In the order in which they were appended. */
  readonly records: readonly ManifestRecord[]
  /** Bytes that are intact; what follows was torn off by a crash, and is to be cut. */
  readonly goodLength: number
}

const MAGIC = 0x464d4343
const VERSION = 1
/** Bytes of the header of a MANIFEST. */
export const MANIFEST_HEADER_BYTES = 256
const MAX_RECORD_BYTES = 64 * 1024 * 1024

/** The first 256 bytes of a MANIFEST. */
export function encodeManifestHeader(header: ManifestHeader): Uint8Array {
  const bytes = new Uint8Array(MANIFEST_HEADER_BYTES)
  const view = viewOf(bytes)
  view.setUint32(0, MAGIC, true)
  view.setUint16(4, VERSION, true)
  view.setUint32(8, MANIFEST_HEADER_BYTES, true)
  view.setUint32(12, checkUint(header.shardId, 32, 'shard_id'), true)
  writeU64(view, 16, header.epoch)
  view.setBigUint64(24, header.createdAtNs, true)
  view.setUint32(252, crc32c(bytes.subarray(0, 252)), true)
  return bytes
}

/** @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, `LENGTH_OUT_OF_RANGE`, `CRC_MISMATCH`. */
export function decodeManifestHeader(bytes: Uint8Array): ManifestHeader {
  requireLength('a MANIFEST', MANIFEST_HEADER_BYTES, bytes.length)
  const view = viewOf(bytes)
  requireMagic('MANIFEST', MAGIC, view.getUint32(0, true))
  const version = view.getUint16(4, true)
  if (version !== VERSION) {
    throw formatError('UNSUPPORTED_VERSION', `MANIFEST version ${version}, this reads ${VERSION}`, {
      format: 'MANIFEST',
      version,
    })
  }
  const length = view.getUint32(8, true)
  requireRange(length === MANIFEST_HEADER_BYTES, 'header_len', `${length}, not 256`)
  requireCrc('MANIFEST header', view.getUint32(252, true), crc32c(bytes.subarray(0, 252)))
  return {
    shardId: view.getUint32(12, true),
    epoch: readU64(view, 16, 'epoch'),
    createdAtNs: view.getBigUint64(24, true),
  }
}

/**
 * Read a MANIFEST up to its end, or up to the first record that a crash has torn.
 *
 * A record whose checksum holds and whose body does not fit its type is not torn but malformed.
 *
 * @throws {CruxError} Those of {@link decodeManifestHeader}; `BUFFER_TOO_SMALL`, `LENGTH_OUT_OF_RANGE` and
 *   `INVALID_UTF8` for a malformed record.
 */
export function decodeManifest(bytes: Uint8Array): Manifest {
  const header = decodeManifestHeader(bytes)
  const view = viewOf(bytes)
  const records: ManifestRecord[] = []
  let at = MANIFEST_HEADER_BYTES
  while (at + PREFIX_BYTES <= bytes.length) {
    const length = view.getUint32(at, true)
    const start = at + PREFIX_BYTES
    if (length === 0 || length > MAX_RECORD_BYTES || length > bytes.length - start) break
    const body = bytes.subarray(start, start + length)
    if (crc32c(body) !== view.getUint32(at + 4, true)) break
    records.push(decodeRecord(body))
    at = start + length
  }
  return { header, records, goodLength: at }
}
