import { crc32 } from 'crux-segment'
import { CruxError, createPauser } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import type { StorageFile } from '../fs/storage-fs.js'
import type { Position } from './journal.js'
import { KEY_ENTRY_BYTES, type KeyTable } from './key-table.js'

// Layout, all numbers little-endian; `docs/formats/journal.md` has the table.
//
//   header (96) | key entries (16 each) | state blocks {length, crc32, bytes} | end {0, 0, total}
const MAGIC = 0x534a4343 // "CCJS"
const VERSION = 1
const HEADER_BYTES = 96
const BLOCK_HEADER_BYTES = 8
const END_BYTES = 16
const BLOCK_BYTES = 1024 * 1024
/** Keys read at a time; adding those of one piece takes a millisecond or two. */
const KEYS_PIECE_BYTES = 16 * 1024

/** A point of the journal file and a checksum of what stands before it, to recognise the file by. */
export interface Anchor {
  readonly offset: number
  /** Bytes before `offset` that `crc` covers; at most 4096. */
  readonly tailBytes: number
  /** CRC-32. */
  readonly tailCrc: number
}

/** What a snapshot says besides the state. */
export interface SnapshotHeader {
  /** The state is that of all records up to here. */
  readonly at: Position
  /** Reading of the journal goes on here; every record after `at` is behind it. */
  readonly resume: Anchor
  /** Position of the last record before `resume`. */
  readonly resumeLast: Position
  /** End of the journal that the key entries cover. */
  readonly covered: Anchor
  readonly keyCount: number
  /** CRC-32 of the key entries. */
  readonly keysCrc: number
  /** Of the key table; 8 bytes. */
  readonly seed: Uint8Array
}

/** What is known before the key entries are written; the rest becomes known by writing them. */
export type SnapshotStart = Pick<SnapshotHeader, 'at' | 'resume' | 'resumeLast'>

/**
 * Write a snapshot to an empty file and sync it.
 *
 * @param covered - Asked after the key entries were written: an anchor at or after all their positions.
 */
export async function writeSnapshot(
  file: StorageFile,
  start: SnapshotStart,
  keys: KeyTable,
  covered: () => Promise<Anchor>,
  state: AsyncIterable<Uint8Array>,
): Promise<void> {
  const pause = createPauser()
  const out = new BlockWriter(file, HEADER_BYTES)
  let keyCount = 0
  let keysCrc = 0
  for (const entries of keys.entries()) {
    keysCrc = crc32(entries, keysCrc)
    keyCount += entries.length / KEY_ENTRY_BYTES
    await out.add(entries)
    await pause()
  }
  await out.flush()

  let total = 0
  const blocks = new BlockWriter(file, out.position, true)
  for await (const chunk of state) {
    total += chunk.length
    for (let at = 0; at < chunk.length; at += BLOCK_BYTES) {
      await blocks.add(chunk.subarray(at, at + BLOCK_BYTES))
      await pause()
    }
  }
  await blocks.flush()
  const end = new DataView(new ArrayBuffer(END_BYTES))
  end.setBigUint64(8, BigInt(total), true)
  await file.write([new Uint8Array(end.buffer)], blocks.position)

  const header = { ...start, covered: await covered(), keyCount, keysCrc, seed: keys.seed }
  await file.write([encodeHeader(header)], 0)
  await file.sync()
}

/**
 * The header of a snapshot file.
 *
 * @returns undefined when it is not an intact header of a known version.
 */
export async function readSnapshotHeader(file: StorageFile): Promise<SnapshotHeader | undefined> {
  const bytes = new Uint8Array(HEADER_BYTES)
  if ((await file.read(bytes, 0)) !== HEADER_BYTES) return undefined
  const view = new DataView(bytes.buffer)
  const isIntact =
    view.getUint32(0, true) === MAGIC &&
    view.getUint16(4, true) === VERSION &&
    view.getUint32(HEADER_BYTES - 4, true) === crc32(bytes.subarray(0, HEADER_BYTES - 4))
  if (!isIntact) return undefined
  const u64 = (offset: number): number => Number(view.getBigUint64(offset, true))
  const anchor = (offset: number): Anchor => ({
    offset: u64(offset),
    tailBytes: view.getUint32(offset + 8, true),
    tailCrc: view.getUint32(offset + 12, true),
  })
  return {
    at: u64(8),
    resumeLast: u64(16),
    resume: anchor(24),
    covered: anchor(40),
    keyCount: u64(56),
    keysCrc: view.getUint32(64, true),
    seed: bytes.slice(72, 80),
  }
}

/**
 * Put the key entries of a snapshot into a table with the same seed.
 *
 * @returns False when they are damaged; the table must then not be used.
 */
export async function readSnapshotKeys(
  file: StorageFile,
  header: SnapshotHeader,
  keys: KeyTable,
): Promise<boolean> {
  const pause = createPauser()
  const end = HEADER_BYTES + header.keyCount * KEY_ENTRY_BYTES
  let crc = 0
  for (let at = HEADER_BYTES; at < end; ) {
    const piece = new Uint8Array(Math.min(KEYS_PIECE_BYTES, end - at))
    if ((await file.read(piece, at)) !== piece.length) return false
    crc = crc32(piece, crc)
    keys.addEntries(piece)
    at += piece.length
    await pause()
  }
  return crc === header.keysCrc
}

/**
 * The state in a snapshot, in pieces.
 *
 * @throws {CruxError} `SNAPSHOT_DAMAGED` at the first block that is short or does not match its checksum.
 */
export async function* readSnapshotState(
  file: StorageFile,
  header: SnapshotHeader,
): AsyncGenerator<Uint8Array> {
  let at = HEADER_BYTES + header.keyCount * KEY_ENTRY_BYTES
  let total = 0
  for (;;) {
    const head = new Uint8Array(BLOCK_HEADER_BYTES)
    if ((await file.read(head, at)) !== head.length) throw damaged(at)
    const view = new DataView(head.buffer)
    const length = view.getUint32(0, true)
    if (length > BLOCK_BYTES) throw damaged(at)
    if (length === 0) break
    const block = new Uint8Array(length)
    if ((await file.read(block, at + BLOCK_HEADER_BYTES)) !== length) throw damaged(at)
    if (crc32(block) !== view.getUint32(4, true)) throw damaged(at)
    yield block
    at += BLOCK_HEADER_BYTES + length
    total += length
  }
  const end = new Uint8Array(END_BYTES)
  const got = await file.read(end, at)
  if (got !== END_BYTES || new DataView(end.buffer).getBigUint64(8, true) !== BigInt(total)) {
    throw damaged(at)
  }
}

/** The anchor of an offset in a journal file. */
export async function anchorAt(journal: StorageFile | undefined, offset: number): Promise<Anchor> {
  const tail = new Uint8Array(Math.min(4096, offset))
  if (tail.length > 0) await journal?.read(tail, offset - tail.length)
  return { offset, tailBytes: tail.length, tailCrc: crc32(tail) }
}

/** Whether the journal file still holds what stood before an anchor. */
export async function holdsAnchor(
  journal: StorageFile | undefined,
  anchor: Anchor,
): Promise<boolean> {
  if (anchor.offset === 0) return true
  if (journal === undefined || (await journal.stat()).sizeBytes < anchor.offset) return false
  const now = await anchorAt(journal, anchor.offset)
  return now.tailBytes === anchor.tailBytes && now.tailCrc === anchor.tailCrc
}

function encodeHeader(header: SnapshotHeader): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES)
  const view = new DataView(bytes.buffer)
  const anchor = (offset: number, { offset: at, tailBytes, tailCrc }: Anchor): void => {
    view.setBigUint64(offset, BigInt(at), true)
    view.setUint32(offset + 8, tailBytes, true)
    view.setUint32(offset + 12, tailCrc, true)
  }
  view.setUint32(0, MAGIC, true)
  view.setUint16(4, VERSION, true)
  view.setBigUint64(8, BigInt(header.at), true)
  view.setBigUint64(16, BigInt(header.resumeLast), true)
  anchor(24, header.resume)
  anchor(40, header.covered)
  view.setBigUint64(56, BigInt(header.keyCount), true)
  view.setUint32(64, header.keysCrc, true)
  bytes.set(header.seed, 72)
  view.setUint32(HEADER_BYTES - 4, crc32(bytes.subarray(0, HEADER_BYTES - 4)), true)
  return bytes
}

/** Gathers small pieces to writes of about a megabyte, each framed as a block if asked. */
class BlockWriter {
  private pieces: Uint8Array[] = []
  private size = 0

  constructor(
    private readonly file: StorageFile,
    public position: number,
    private readonly isFramed = false,
  ) {}

  /** @param piece - Not longer than a block. */
  async add(piece: Uint8Array): Promise<void> {
    if (this.size + piece.length > BLOCK_BYTES) await this.flush()
    // The giver may use its memory again.
    this.pieces.push(Uint8Array.from(piece))
    this.size += piece.length
  }

  async flush(): Promise<void> {
    if (this.size === 0) return
    const body = Buffer.concat(this.pieces)
    const frame = new DataView(new ArrayBuffer(this.isFramed ? BLOCK_HEADER_BYTES : 0))
    if (this.isFramed) {
      frame.setUint32(0, body.length, true)
      frame.setUint32(4, crc32(body), true)
    }
    await this.file.write([new Uint8Array(frame.buffer), body], this.position)
    this.position += frame.byteLength + body.length
    this.pieces = []
    this.size = 0
  }
}

function damaged(offset: number): CruxError<StorageErrorCode> {
  return new CruxError('SNAPSHOT_DAMAGED', `snapshot damaged at byte ${offset}; it is ignored`, {
    data: { offset },
  })
}
