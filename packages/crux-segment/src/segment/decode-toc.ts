import { noPause, type Pause } from 'crux-types'
import { crc32c } from '../checksum.js'
import {
  formatError,
  requireCrc,
  requireHash,
  requireLength,
  requireMagic,
  requireRange,
} from '../errors.js'
import type { Hashes } from '../hashes.js'
import { copyOf, readU64, viewOf } from '../little-endian.js'
import { checksumsOf } from './checksums.js'
import { decodeSections, type Sections } from './decode-sections.js'
import { TOC_CRC_AT, TOC_HASH_AT } from './encode-toc.js'
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
import type { SegmentFooter } from './segment-ends.js'

/** One frame, as the table of contents lists it. */
export interface SegmentEntry {
  readonly streamHash: bigint
  readonly seq: number
  /** Byte in the file at which the frame starts. */
  readonly offset: number
  /** Whole frame, in bytes. */
  readonly frameLength: number
  /** Bytes. */
  readonly payloadLength: number
}

/** A segment's table of contents, checked; reads its bytes where they lie. */
export class SegmentToc {
  private readonly view: DataView

  /** @param rows - Number of the entry of each frame, in record order. */
  constructor(
    private readonly area: Uint8Array,
    readonly count: number,
    private readonly rows: Uint32Array,
    /** CRC-32C of each 64 KiB of the record area. */
    readonly recordChecksums: Uint32Array,
    /** Undefined in segments that were written without them. */
    readonly sections: Sections | undefined,
  ) {
    this.view = viewOf(area)
  }

  /** Frame number `i` in record order. @throws {RangeError} When there is none. */
  entry(i: number): SegmentEntry {
    const at = this.entryAt(i)
    return {
      streamHash: this.view.getBigUint64(at, true),
      seq: readU64(this.view, at + 8, 'seq'),
      offset: this.view.getUint32(at + 16, true),
      frameLength: this.view.getUint32(at + 20, true),
      payloadLength: this.view.getUint32(at + 24, true),
    }
  }

  /** 32 bytes, a view: event id hash (16), header digest (8), payload digest (8) of frame `i` in record order. */
  digests(i: number): Uint8Array {
    const at = this.entryAt(i)
    return this.area.subarray(at + 32, at + 64)
  }

  /** The highest seq of each stream. */
  *lastOfStreams(): Generator<{ streamHash: bigint; seq: number }> {
    for (let i = 0; i < this.count; i++) {
      const at = TOC_HEADER_BYTES + i * TOC_ENTRY_BYTES
      const streamHash = this.view.getBigUint64(at, true)
      // Sorted by stream, then seq: the last entry of a stream is its highest.
      if (i + 1 < this.count && this.view.getBigUint64(at + TOC_ENTRY_BYTES, true) === streamHash) {
        continue
      }
      yield { streamHash, seq: readU64(this.view, at + 8, 'seq') }
    }
  }

  private entryAt(i: number): number {
    const row = this.rows[i]
    if (row === undefined) throw new RangeError(`frame ${i} of ${this.count}`)
    return TOC_HEADER_BYTES + row * TOC_ENTRY_BYTES
  }
}

/**
 * Read and check a table of contents, its checksum tables and its sections: all that stands
 * between records and footer. Records are not needed.
 *
 * @param area - `footer.tocLength` bytes from `footer.tocOffset` on; kept.
 * @param options - `verify: 'full'` also recomputes the BLAKE3 hash and compares the sections with the table.
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, `UNSUPPORTED_CODEC`, `CRC_MISMATCH`,
 *   `HASH_MISMATCH`, `LENGTH_OUT_OF_RANGE`, `TOC_NOT_SORTED`, `TRAILER_SECTION_INVALID`.
 */
export async function decodeToc(
  area: Uint8Array,
  footer: SegmentFooter,
  hashes: Hashes,
  options: { verify: 'quick' | 'full' },
  pause: Pause = noPause,
): Promise<SegmentToc> {
  requireLength('a table of contents', Math.max(TOC_HEADER_BYTES, footer.tocLength), area.length)
  const view = viewOf(area)
  checkHeader(area, view, footer)
  const count = footer.entryCount
  const payloadLength = TOC_HEADER_BYTES + count * TOC_ENTRY_BYTES
  const recordBlocks = crcBlocks(footer.recordAreaLength)
  const tocBlocks = crcBlocks(payloadLength)
  const recordTableAt = payloadLength
  const tocTableAt = recordTableAt + recordBlocks * 4
  const sectionsAt = tocTableAt + tocBlocks * 4
  requireLength('a table of contents', sectionsAt, area.length)

  const payload = area.subarray(0, payloadLength)
  for (const [i, crc] of (await checksumsOf(payload, pause)).entries()) {
    requireCrc(`table of contents, block ${i}`, view.getUint32(tocTableAt + i * 4, true), crc)
  }
  requireHash(
    'table of contents',
    footer.tocPayloadHash,
    area.subarray(TOC_HASH_AT, TOC_HASH_AT + HASH_BYTES),
  )
  if (options.verify === 'full') {
    requireHash(
      'table of contents',
      footer.tocPayloadHash,
      await hashPayload(payload, hashes, pause),
    )
  }
  const recordChecksums = new Uint32Array(recordBlocks)
  for (let i = 0; i < recordBlocks; i++) {
    recordChecksums[i] = view.getUint32(recordTableAt + i * 4, true)
  }
  await checkOrder(view, footer, pause)
  const rows = await findRecordOrder(view, footer, pause)
  const sections = await decodeSections(area.subarray(sectionsAt), footer, pause)
  return new SegmentToc(area, count, rows, recordChecksums, sections)
}

function checkHeader(area: Uint8Array, view: DataView, footer: SegmentFooter): void {
  requireMagic('table of contents', TOC_MAGIC, view.getUint32(0, true))
  const version = view.getUint16(4, true)
  if (version !== TOC_VERSION) {
    throw formatError(
      'UNSUPPORTED_VERSION',
      `table of contents version ${version}, this reads ${TOC_VERSION}`,
      { format: 'TOC1', version },
    )
  }
  requireCrc(
    'table of contents header',
    view.getUint32(TOC_CRC_AT, true),
    crc32c(area.subarray(0, TOC_CRC_AT)),
  )
  const count = footer.entryCount
  const payloadLength = TOC_HEADER_BYTES + count * TOC_ENTRY_BYTES
  const tables = 4 * (crcBlocks(footer.recordAreaLength) + crcBlocks(payloadLength))
  const expected: readonly (readonly [string, number, number])[] = [
    ['entry_size', TOC_ENTRY_BYTES, view.getUint16(6, true)],
    ['entry_count', count, readU64(view, 8, 'entry_count')],
    ['record_block_size', CRC_BLOCK_BYTES, view.getUint32(16, true)],
    ['toc_block_size', CRC_BLOCK_BYTES, view.getUint32(20, true)],
    ['record_area_offset', HEADER_BYTES, readU64(view, 24, 'record_area_offset')],
    ['record_area_len', footer.recordAreaLength, readU64(view, 32, 'record_area_len')],
    ['toc_payload_len', payloadLength, readU64(view, 40, 'toc_payload_len')],
    ['crc_tables_len', tables, readU64(view, 48, 'crc_tables_len')],
    ['sort_order', SORT_BY_STREAM_AND_SEQ, readU64(view, 56, 'sort_order')],
  ]
  for (const [field, want, got] of expected)
    requireRange(want === got, field, `${got}, not ${want}`)
}

async function hashPayload(payload: Uint8Array, hashes: Hashes, pause: Pause): Promise<Uint8Array> {
  const head = copyOf(payload, 0, TOC_HEADER_BYTES)
  head.fill(0, TOC_HASH_AT, TOC_HASH_AT + HASH_BYTES)
  head.fill(0, TOC_CRC_AT)
  const stream = hashes.blake3Stream()
  stream.update(head)
  for (let at = TOC_HEADER_BYTES; at < payload.length; at += CRC_BLOCK_BYTES) {
    stream.update(payload.subarray(at, at + CRC_BLOCK_BYTES))
    await pause()
  }
  return stream.digest()
}

async function checkOrder(view: DataView, footer: SegmentFooter, pause: Pause): Promise<void> {
  const count = footer.entryCount
  const streamHashAt = (i: number) =>
    view.getBigUint64(TOC_HEADER_BYTES + i * TOC_ENTRY_BYTES, true)
  const seqAt = (i: number) => readU64(view, TOC_HEADER_BYTES + i * TOC_ENTRY_BYTES + 8, 'seq')
  let hash = count === 0 ? 0n : streamHashAt(0)
  let seq = count === 0 ? 0 : seqAt(0)
  requireRange(hash === footer.minStreamHash && seq === footer.minSeq, 'min', 'not the first entry')
  for (let i = 1; i < count; i++) {
    const nextHash = streamHashAt(i)
    const nextSeq = seqAt(i)
    if (nextHash < hash || (nextHash === hash && nextSeq < seq)) {
      throw formatError('TOC_NOT_SORTED', `entry ${i} of the table of contents is out of order`, {
        index: i,
      })
    }
    hash = nextHash
    seq = nextSeq
    if (i % 1024 === 0) await pause()
  }
  requireRange(hash === footer.maxStreamHash && seq === footer.maxSeq, 'max', 'not the last entry')
}

/** Entry of each frame in record order; they must cover the record area without gaps. */
async function findRecordOrder(
  view: DataView,
  footer: SegmentFooter,
  pause: Pause,
): Promise<Uint32Array> {
  const { entryCount: count, recordAreaOffset: start } = footer
  const end = start + footer.recordAreaLength
  const entryByOffset = new Map<number, number>()
  for (let i = 0; i < count; i++) {
    entryByOffset.set(view.getUint32(TOC_HEADER_BYTES + i * TOC_ENTRY_BYTES + 16, true), i)
    if (i % 1024 === 0) await pause()
  }
  const rows = new Uint32Array(count)
  let at = start
  for (let i = 0; i < count; i++) {
    const row = entryByOffset.get(at)
    const length =
      row === undefined ? 0 : view.getUint32(TOC_HEADER_BYTES + row * TOC_ENTRY_BYTES + 20, true)
    if (row === undefined || length === 0 || at + length > end) {
      requireRange(false, 'file_offset', `no entry covers byte ${at} of the records`)
      break
    }
    rows[i] = row
    at += length
    if (i % 1024 === 0) await pause()
  }
  requireRange(at === end, 'record_area_len', `entries cover ${at - start} of ${end - start} bytes`)
  return rows
}
