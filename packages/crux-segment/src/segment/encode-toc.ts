import type { Pause } from 'crux-types'
import { crc32c } from '../checksum.js'
import { blake3InSlices } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { viewOf, writeU64 } from '../little-endian.js'
import { checksumsOf } from './checksums.js'
import {
  CRC_BLOCK_BYTES,
  crcBlocks,
  HASH_BYTES,
  HEADER_BYTES,
  SORT_BY_STREAM_AND_SEQ,
  TOC_ENTRY_BYTES,
  TOC_HEADER_BYTES,
  TOC_MAGIC,
  TOC_VERSION,
} from './layout.js'
import type { RecordTable } from './record-table.js'

/** Offset of the hash of the payload within its header. */
export const TOC_HASH_AT = 72
/** Offset of the checksum of the header within it. */
export const TOC_CRC_AT = 124

/** Bytes of a table of contents with its checksum tables, sections not counted. */
export function tocAreaLength(recordLength: number, entryCount: number): number {
  const payload = TOC_HEADER_BYTES + entryCount * TOC_ENTRY_BYTES
  return payload + 4 * (crcBlocks(recordLength) + crcBlocks(payload))
}

/**
 * Fill `area`, {@link tocAreaLength} zeroed bytes, with table, record checksums and table checksums.
 *
 * @returns Hash of the table.
 */
export async function writeTocArea(
  area: Uint8Array,
  table: RecordTable,
  order: Uint32Array,
  recordLength: number,
  recordChecksums: Uint32Array,
  hashes: Hashes,
  pause: Pause,
): Promise<Uint8Array> {
  const payloadLength = TOC_HEADER_BYTES + table.count * TOC_ENTRY_BYTES
  const payload = area.subarray(0, payloadLength)
  const view = viewOf(area)
  view.setUint32(0, TOC_MAGIC, true)
  view.setUint16(4, TOC_VERSION, true)
  view.setUint16(6, TOC_ENTRY_BYTES, true)
  writeU64(view, 8, table.count)
  view.setUint32(16, CRC_BLOCK_BYTES, true)
  view.setUint32(20, CRC_BLOCK_BYTES, true)
  writeU64(view, 24, HEADER_BYTES)
  writeU64(view, 32, recordLength)
  writeU64(view, 40, payloadLength)
  writeU64(view, 48, area.length - payloadLength)
  writeU64(view, 56, SORT_BY_STREAM_AND_SEQ)

  let at = TOC_HEADER_BYTES
  for (const row of order) {
    // `row` is a row of the table: `order` is a permutation of them.
    view.setBigUint64(at, table.streamHashes[row] as bigint, true)
    writeU64(view, at + 8, table.seqs[row] as number)
    view.setUint32(at + 16, table.offsets[row] as number, true)
    view.setUint32(at + 20, table.lengths[row] as number, true)
    view.setUint32(at + 24, table.payloadLengths[row] as number, true)
    area.set(table.digests.subarray(row * 32, row * 32 + 32), at + 32)
    at += TOC_ENTRY_BYTES
    if (row % 64 === 0) await pause()
  }

  // Hash first, with its own place and the checksum's still zero.
  const hash = await blake3InSlices(payload, hashes, pause)
  area.set(hash.subarray(0, HASH_BYTES), TOC_HASH_AT)
  view.setUint32(TOC_CRC_AT, crc32c(area.subarray(0, TOC_CRC_AT)), true)
  for (const checksums of [recordChecksums, await checksumsOf(payload, pause)]) {
    for (const checksum of checksums) {
      view.setUint32(at, checksum, true)
      at += 4
    }
  }
  return hash
}
