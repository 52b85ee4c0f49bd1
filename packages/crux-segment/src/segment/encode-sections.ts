import type { Pause } from 'crux-types'
import type { Hashes } from '../hashes.js'
import { viewOf, writeU64 } from '../little-endian.js'
import { crcInSlices } from './checksums.js'
import {
  BLK1_MAGIC,
  BLOCK_META_BYTES,
  BLOOM_BYTES,
  BLOOM_HASHES,
  HEADER_BYTES,
  MAX_BLOCK_BYTES,
  SECTION_HEADER_BYTES,
  TBO_ENTRY_BYTES,
  TBO1_MAGIC,
  TSI1_MAGIC,
} from './layout.js'
import type { RecordTable } from './record-table.js'

/** A run of frames. */
export interface Block {
  readonly firstRow: number
  /** One past the last. */
  readonly endRow: number
  readonly sizeBytes: number
}

const BLK1_HEAD_BYTES = 16
const TBO1_HEAD_BYTES = 8
const TSI1_HEAD_BYTES = 8
const META_BLOOM_AT = 32

/** Frames in record order, put together into blocks of at most 4 MiB; a larger frame has its own. */
export function planBlocks(lengths: Uint32Array): readonly Block[] {
  const blocks: Block[] = []
  let firstRow = 0
  let sizeBytes = 0
  for (let row = 0; row < lengths.length; row++) {
    const length = lengths[row] as number // a row by the loop's bounds
    if (row > firstRow && sizeBytes + length > MAX_BLOCK_BYTES) {
      blocks.push({ firstRow, endRow: row, sizeBytes })
      firstRow = row
      sizeBytes = 0
    }
    sizeBytes += length
  }
  if (lengths.length > firstRow) blocks.push({ firstRow, endRow: lengths.length, sizeBytes })
  return blocks
}

/** Bytes of the three sections. */
export function sectionsLength(blockCount: number, entryCount: number): number {
  return (
    3 * SECTION_HEADER_BYTES +
    BLK1_HEAD_BYTES +
    blockCount * BLOCK_META_BYTES +
    TBO1_HEAD_BYTES +
    entryCount * TBO_ENTRY_BYTES +
    TSI1_HEAD_BYTES +
    entryCount * 4
  )
}

/** Write the three sections at `at` of a segment whose records are in place. */
export async function writeSections(
  segment: Uint8Array,
  at: number,
  table: RecordTable,
  order: Uint32Array,
  blocks: readonly Block[],
  hashes: Hashes,
  pause: Pause,
): Promise<void> {
  const section = (start: number, payloadLength: number): DataView =>
    viewOf(
      segment.subarray(start + SECTION_HEADER_BYTES, start + SECTION_HEADER_BYTES + payloadLength),
    )

  const blkLength = BLK1_HEAD_BYTES + blocks.length * BLOCK_META_BYTES
  await writeBlocks(section(at, blkLength), segment, table, blocks, hashes, pause)
  await closeSection(segment, at, BLK1_MAGIC, blkLength, pause)

  const tboAt = at + SECTION_HEADER_BYTES + blkLength
  const tboLength = TBO1_HEAD_BYTES + table.count * TBO_ENTRY_BYTES
  await writeBlockOffsets(section(tboAt, tboLength), table, blocks, pause)
  await closeSection(segment, tboAt, TBO1_MAGIC, tboLength, pause)

  const tsiAt = tboAt + SECTION_HEADER_BYTES + tboLength
  const tsiLength = TSI1_HEAD_BYTES + table.count * 4
  const tsi = section(tsiAt, tsiLength)
  tsi.setUint32(0, table.count, true)
  // Rows are numbered in file order, as the entries of TBO1 are.
  let tsiEnd = TSI1_HEAD_BYTES
  for (const row of order) {
    tsi.setUint32(tsiEnd, row, true)
    tsiEnd += 4
  }
  await closeSection(segment, tsiAt, TSI1_MAGIC, tsiLength, pause)
}

async function writeBlocks(
  view: DataView,
  segment: Uint8Array,
  table: RecordTable,
  blocks: readonly Block[],
  hashes: Hashes,
  pause: Pause,
): Promise<void> {
  view.setUint32(0, MAX_BLOCK_BYTES, true)
  view.setUint32(4, BLOOM_BYTES, true)
  view.setUint32(8, BLOOM_HASHES, true)
  view.setUint32(12, blocks.length, true)
  let meta = BLK1_HEAD_BYTES
  let offset = HEADER_BYTES
  for (const [id, block] of blocks.entries()) {
    const end = offset + block.sizeBytes
    view.setUint32(meta, id, true)
    writeU64(view, meta + 8, offset)
    view.setUint32(meta + 16, block.sizeBytes, true)
    view.setUint32(meta + 20, block.sizeBytes, true)
    view.setUint32(meta + 24, await crcInSlices(segment.subarray(offset, end), pause), true)
    view.setUint32(meta + 28, block.sizeBytes, true)
    let last: bigint | undefined
    for (const hash of table.streamHashes.subarray(block.firstRow, block.endRow)) {
      if (hash === last) continue
      for (const bit of bloomBits(hash, hashes)) {
        const byte = meta + META_BLOOM_AT + (bit >>> 3)
        view.setUint8(byte, view.getUint8(byte) | (1 << (bit & 7)))
      }
      last = hash
      await pause()
    }
    meta += BLOCK_META_BYTES
    offset = end
  }
}

/** Bits of a block's filter that a stream sets, 0..2047. */
export function bloomBits(hash: bigint, hashes: Hashes): readonly number[] {
  const bytes = new Uint8Array(8)
  viewOf(bytes).setBigUint64(0, hash, true)
  return Array.from({ length: BLOOM_HASHES }, (_, seed) =>
    Number(hashes.xxh64(bytes, BigInt(seed)) % BigInt(BLOOM_BYTES * 8)),
  )
}

async function writeBlockOffsets(
  view: DataView,
  table: RecordTable,
  blocks: readonly Block[],
  pause: Pause,
): Promise<void> {
  view.setUint32(0, TBO_ENTRY_BYTES, true)
  view.setUint32(4, table.count, true)
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  let blockStart = HEADER_BYTES
  for (const [id, block] of blocks.entries()) {
    for (let row = block.firstRow; row < block.endRow; row++) {
      const at = TBO1_HEAD_BYTES + row * TBO_ENTRY_BYTES
      // `row` is a row of the table: blocks partition them.
      view.setBigUint64(at, table.streamHashes[row] as bigint, true)
      writeU64(view, at + 8, table.seqs[row] as number)
      view.setUint32(at + 16, id, true)
      view.setUint32(at + 20, (table.offsets[row] as number) - blockStart, true)
      view.setUint32(at + 24, table.lengths[row] as number, true)
      bytes.set(table.digests.subarray(row * 32, row * 32 + 32), at + 32)
      if (row % 64 === 0) await pause()
    }
    blockStart += block.sizeBytes
  }
}

async function closeSection(
  segment: Uint8Array,
  at: number,
  magic: number,
  payloadLength: number,
  pause: Pause,
): Promise<void> {
  const start = at + SECTION_HEADER_BYTES
  const crc = await crcInSlices(segment.subarray(start, start + payloadLength), pause)
  const view = viewOf(segment.subarray(at, start))
  view.setUint32(0, magic, true)
  view.setUint16(4, 1, true)
  view.setUint16(6, SECTION_HEADER_BYTES, true)
  view.setUint32(8, payloadLength, true)
  view.setUint32(12, crc, true)
}
