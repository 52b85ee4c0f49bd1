import type { Pause } from 'crux-types'
import { formatError, requireCrc } from '../errors.js'
import { readU64, viewOf } from '../little-endian.js'
import { crcInSlices } from './checksums.js'
import {
  BLK1_MAGIC,
  BLOCK_META_BYTES,
  BLOOM_BYTES,
  SECTION_HEADER_BYTES,
  TBO_ENTRY_BYTES,
  TBO1_MAGIC,
  TSI1_MAGIC,
} from './layout.js'
import type { SegmentFooter } from './segment-ends.js'

/** A block of frames, as section BLK1 lists it. */
export interface BlockMeta {
  /** Byte in the file at which the block starts. */
  readonly offset: number
  readonly sizeBytes: number
  /** CRC-32C of the block. */
  readonly crc: number
  /** 256 bytes: filter of the streams in the block; a view. */
  readonly bloom: Uint8Array
}

/** The sections behind a table of contents; payloads are views. */
export interface Sections {
  readonly blocks: readonly BlockMeta[]
  /** Entries of 64 bytes, in file order. */
  readonly blockOffsets: Uint8Array
  /** Numbers of entries of `blockOffsets`, 4 bytes each, sorted by stream and seq. */
  readonly streamIndex: Uint8Array
}

const NAMES = new Map([
  [BLK1_MAGIC, 'BLK1'],
  [TBO1_MAGIC, 'TBO1'],
  [TSI1_MAGIC, 'TSI1'],
])

/**
 * Read the sections of a segment: none, or all three.
 *
 * @param bytes - All between checksum tables and footer.
 * @throws {CruxError} `TRAILER_SECTION_INVALID`, `CRC_MISMATCH`, `UNSUPPORTED_CODEC`.
 */
export async function decodeSections(
  bytes: Uint8Array,
  footer: SegmentFooter,
  pause: Pause,
): Promise<Sections | undefined> {
  const found = new Map<string, Uint8Array>()
  const view = viewOf(bytes)
  let at = 0
  while (at < bytes.length && !isZero(bytes.subarray(at))) {
    const start = at + SECTION_HEADER_BYTES
    if (start > bytes.length) throw invalid('', 'its header is cut short')
    const name = NAMES.get(view.getUint32(at, true))
    const length = view.getUint32(at + 8, true)
    if (view.getUint16(at + 4, true) !== 1) throw invalid(name, 'its version is not 1')
    if (view.getUint16(at + 6, true) !== SECTION_HEADER_BYTES || length > bytes.length - start) {
      throw invalid(name, `${length} bytes do not fit the file`)
    }
    const payload = bytes.subarray(start, start + length)
    if (name !== undefined) {
      if (found.has(name)) throw invalid(name, 'it occurs twice')
      const crc = await crcInSlices(payload, pause)
      requireCrc(`section ${name}`, view.getUint32(at + 12, true), crc)
      found.set(name, payload)
    }
    at = start + length
  }
  if (at === 0) return undefined

  const count = footer.entryCount
  return {
    blocks: readBlocks(required(found, 'BLK1'), footer),
    blockOffsets: readRows(required(found, 'TBO1'), 'TBO1', count, TBO_ENTRY_BYTES, {
      size: 0,
      count: 4,
    }),
    streamIndex: readRows(required(found, 'TSI1'), 'TSI1', count, 4, { count: 0 }),
  }
}

function readBlocks(payload: Uint8Array, footer: SegmentFooter): readonly BlockMeta[] {
  if (payload.length < 16) throw invalid('BLK1', 'its head is cut short')
  const view = viewOf(payload)
  const count = view.getUint32(12, true)
  if (view.getUint32(4, true) !== BLOOM_BYTES || payload.length !== 16 + count * BLOCK_META_BYTES) {
    throw invalid('BLK1', `${payload.length} bytes for ${count} blocks`)
  }
  const blocks: BlockMeta[] = []
  let offset = footer.recordAreaOffset
  for (let meta = 16; meta < payload.length; meta += BLOCK_META_BYTES) {
    const codec = view.getUint32(meta + 4, true)
    if (codec !== 0) {
      throw formatError(
        'UNSUPPORTED_CODEC',
        `the segment is compressed with codec ${codec}; only uncompressed ones are read`,
        { codec },
      )
    }
    const sizeBytes = view.getUint32(meta + 20, true)
    if (
      readU64(view, meta + 8, 'file_offset') !== offset ||
      view.getUint32(meta + 16, true) !== sizeBytes
    ) {
      throw invalid('BLK1', `block ${blocks.length} does not start at ${offset}`)
    }
    blocks.push({
      offset,
      sizeBytes,
      crc: view.getUint32(meta + 24, true),
      bloom: payload.subarray(meta + 32, meta + BLOCK_META_BYTES),
    })
    offset += sizeBytes
  }
  if (offset !== footer.tocOffset) throw invalid('BLK1', 'its blocks do not cover the records')
  return blocks
}

function readRows(
  payload: Uint8Array,
  name: string,
  count: number,
  rowBytes: number,
  at: { size?: number; count: number },
): Uint8Array {
  if (payload.length !== 8 + count * rowBytes) {
    throw invalid(name, `${payload.length} bytes for ${count} frames`)
  }
  const view = viewOf(payload)
  const size = at.size === undefined ? rowBytes : view.getUint32(at.size, true)
  if (size !== rowBytes || view.getUint32(at.count, true) !== count) {
    throw invalid(name, `its head does not say ${count} rows of ${rowBytes} bytes`)
  }
  return payload.subarray(8)
}

function required(found: ReadonlyMap<string, Uint8Array>, name: string): Uint8Array {
  const payload = found.get(name)
  if (payload === undefined) throw invalid(name, 'it is missing')
  return payload
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}

function invalid(section: string | undefined, why: string) {
  return formatError('TRAILER_SECTION_INVALID', `section ${section || 'of the trailer'}: ${why}`, {
    section: section ?? null,
  })
}
