import { crc32c } from '../checksum.js'
import { requireLength } from '../errors.js'
import {
  bufferOf,
  checkUint,
  copyOf,
  readU64,
  readUtf8,
  viewOf,
  writeU64,
} from '../little-endian.js'

/** A segment joined the shard: the point at which it is committed. */
export interface AddSegment {
  readonly type: 'add-segment'
  readonly level: number
  readonly shardId: number
  readonly epoch: number
  readonly segmentSeq: number
  /** 16 bytes. */
  readonly segmentId: Uint8Array
  readonly fileLength: number
  /** Relative to the shard's directory, with `/`. */
  readonly path: string
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly createdAtNs: bigint
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly sealedAtNs: bigint
  readonly tocOffset: number
  readonly tocLength: number
  /** Frames. */
  readonly entryCount: number
  readonly minStreamHash: bigint
  readonly minSeq: number
  readonly maxStreamHash: bigint
  readonly maxSeq: number
  /** 32 bytes. */
  readonly segmentHash: Uint8Array
}

/** A segment left the shard. Type 12; this project's own. */
export interface RemoveSegment {
  readonly type: 'remove-segment'
  readonly level: number
  readonly segmentSeq: number
  /** 16 bytes. */
  readonly segmentId: Uint8Array
}

/** What a record calls a segment by. */
export interface SegmentName {
  readonly segmentSeq: number
  /** 16 bytes. */
  readonly segmentId: Uint8Array
}

/** Segments left the shard together, another one in their place or none. Type 13; this project's own. */
export interface ReplaceSegments {
  readonly type: 'replace-segments'
  /** The record holds only when the next one adds this segment; at once when this is undefined. */
  readonly by: SegmentName | undefined
  readonly replaced: readonly SegmentName[]
}

/** A directory run joined the shard. */
export interface AddDirectoryRun {
  readonly type: 'add-directory-run'
  readonly level: number
  readonly shardId: number
  readonly epoch: number
  readonly runId: number
  readonly fileLength: number
  /** Relative to the shard's directory, with `/`. */
  readonly path: string
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly createdAtNs: bigint
  readonly recordCount: number
}

/** A directory run left the shard. */
export interface RemoveDirectoryRun {
  readonly type: 'remove-directory-run'
  readonly level: number
  readonly runId: number
}

/** Limits of a stream; of several, the highest numbers hold. */
export interface StreamMetaUpdate {
  readonly type: 'stream-meta'
  readonly streamHash: bigint
  /** Lower seqs are hidden. */
  readonly minLiveSeq: number
  /** Lower seqs are hidden, and the stream takes no more frames. */
  readonly tombstoneSeq: number
  readonly generation: number
}

/** A record of a type or version that this reader does not know: kept apart, ignored otherwise. */
export interface UnknownRecord {
  readonly type: 'unknown'
  readonly code: number
  readonly version: number
}

export type ManifestRecord =
  | AddSegment
  | RemoveSegment
  | ReplaceSegments
  | AddDirectoryRun
  | RemoveDirectoryRun
  | StreamMetaUpdate
  | UnknownRecord

/** Bytes of length and checksum before each record. */
export const PREFIX_BYTES = 8
const RECORD_HEAD_BYTES = 4
const RECORD_VERSION = 1

const ADD_SEGMENT = 1
const ADD_DIRECTORY_RUN = 10
const REMOVE_DIRECTORY_RUN = 11
const REMOVE_SEGMENT = 12
const REPLACE_SEGMENTS = 13
const STREAM_META = 20

const NO_ID = new Uint8Array(16)
const SEGMENT_NAME_BYTES = 8 + 16

/** A record as it is appended, with its length and checksum. @throws {RangeError} When a number exceeds its field. */
export function encodeManifestRecord(record: Exclude<ManifestRecord, UnknownRecord>): Uint8Array {
  const writer = new RecordWriter()
  switch (record.type) {
    case 'add-segment':
      writer.start(ADD_SEGMENT)
      writer.u32(record.level)
      writer.u32(record.shardId)
      writer.u64(record.epoch)
      writer.u64(record.segmentSeq)
      writer.fixed(record.segmentId, 16)
      writer.u64(record.fileLength)
      writer.text(record.path)
      writer.big(record.createdAtNs)
      writer.big(record.sealedAtNs)
      writer.u64(record.tocOffset)
      writer.u64(record.tocLength)
      writer.u64(record.entryCount)
      writer.big(record.minStreamHash)
      writer.u64(record.minSeq)
      writer.big(record.maxStreamHash)
      writer.u64(record.maxSeq)
      writer.fixed(record.segmentHash, 32)
      break
    case 'remove-segment':
      writer.start(REMOVE_SEGMENT)
      writer.u32(record.level)
      writer.u64(record.segmentSeq)
      writer.fixed(record.segmentId, 16)
      break
    case 'replace-segments': {
      const { by, replaced } = record
      writer.start(REPLACE_SEGMENTS)
      writer.u64(by?.segmentSeq ?? 0)
      writer.fixed(by?.segmentId ?? NO_ID, 16)
      writer.u32(replaced.length)
      writer.reserve(replaced.length * SEGMENT_NAME_BYTES)
      for (const { segmentSeq, segmentId } of replaced) {
        writer.u64(segmentSeq)
        writer.fixed(segmentId, 16)
      }
      break
    }
    case 'add-directory-run':
      writer.start(ADD_DIRECTORY_RUN)
      writer.u32(record.level)
      writer.u32(record.shardId)
      writer.u64(record.epoch)
      writer.u64(record.runId)
      writer.u64(record.fileLength)
      writer.text(record.path)
      writer.big(record.createdAtNs)
      writer.u64(record.recordCount)
      break
    case 'remove-directory-run':
      writer.start(REMOVE_DIRECTORY_RUN)
      writer.u32(record.level)
      writer.u64(record.runId)
      break
    case 'stream-meta':
      writer.start(STREAM_META)
      writer.big(record.streamHash)
      writer.u64(record.minLiveSeq)
      writer.u64(record.tombstoneSeq)
      writer.u64(record.generation)
      break
  }
  return writer.finish()
}

/** Read the body of a record whose checksum holds. @throws {CruxError} As `decodeManifest`. */
export function decodeRecord(bytes: Uint8Array): ManifestRecord {
  requireLength('a MANIFEST record', RECORD_HEAD_BYTES, bytes.length)
  const reader = new RecordReader(bytes, RECORD_HEAD_BYTES)
  const code = bytes[0] ?? 0
  const version = bytes[1] ?? 0
  if (version !== RECORD_VERSION) return { type: 'unknown', code, version }
  switch (code) {
    case ADD_SEGMENT:
      return {
        type: 'add-segment',
        level: reader.u32(),
        shardId: reader.u32(),
        epoch: reader.u64(),
        segmentSeq: reader.u64(),
        segmentId: reader.fixed(16),
        fileLength: reader.u64(),
        path: reader.text(),
        createdAtNs: reader.big(),
        sealedAtNs: reader.big(),
        tocOffset: reader.u64(),
        tocLength: reader.u64(),
        entryCount: reader.u64(),
        minStreamHash: reader.big(),
        minSeq: reader.u64(),
        maxStreamHash: reader.big(),
        maxSeq: reader.u64(),
        segmentHash: reader.fixed(32),
      }
    case REMOVE_SEGMENT:
      return {
        type: 'remove-segment',
        level: reader.u32(),
        segmentSeq: reader.u64(),
        segmentId: reader.fixed(16),
      }
    case REPLACE_SEGMENTS: {
      const by = reader.segmentName()
      const replaced: SegmentName[] = []
      // Each name takes bytes, so a wrong count ends at the end of the record.
      for (let left = reader.u32(); left > 0; left--) replaced.push(reader.segmentName())
      // Numbers start at 1.
      return { type: 'replace-segments', by: by.segmentSeq === 0 ? undefined : by, replaced }
    }
    case ADD_DIRECTORY_RUN:
      return {
        type: 'add-directory-run',
        level: reader.u32(),
        shardId: reader.u32(),
        epoch: reader.u64(),
        runId: reader.u64(),
        fileLength: reader.u64(),
        path: reader.text(),
        createdAtNs: reader.big(),
        recordCount: reader.u64(),
      }
    case REMOVE_DIRECTORY_RUN:
      return { type: 'remove-directory-run', level: reader.u32(), runId: reader.u64() }
    case STREAM_META:
      return {
        type: 'stream-meta',
        streamHash: reader.big(),
        minLiveSeq: reader.u64(),
        tombstoneSeq: reader.u64(),
        generation: reader.u64(),
      }
    default:
      return { type: 'unknown', code, version }
  }
}

class RecordWriter {
  private bytes = new Uint8Array(512)
  private view = viewOf(this.bytes)
  private at = PREFIX_BYTES

  start(code: number): void {
    this.bytes[this.at] = code
    this.bytes[this.at + 1] = RECORD_VERSION
    this.at += RECORD_HEAD_BYTES
  }

  u32(value: number): void {
    this.view.setUint32(this.at, checkUint(value, 32, 'record'), true)
    this.at += 4
  }

  u64(value: number): void {
    writeU64(this.view, this.at, value)
    this.at += 8
  }

  big(value: bigint): void {
    this.view.setBigUint64(this.at, value, true)
    this.at += 8
  }

  fixed(value: Uint8Array, length: number): void {
    if (value.length !== length) {
      throw new RangeError(`expected ${length} bytes, got ${value.length}`)
    }
    this.bytes.set(value, this.at)
    this.at += length
  }

  /** Make room for what does not fit the first 512 bytes, as all fixed fields of a record do. */
  reserve(length: number): void {
    const grown = new Uint8Array(this.bytes.length + length)
    grown.set(this.bytes)
    this.bytes = grown
    this.view = viewOf(grown)
  }

  text(value: string): void {
    const text = Buffer.from(value)
    checkUint(text.length, 16, 'path_len')
    this.reserve(text.length)
    this.view.setUint16(this.at, text.length, true)
    this.bytes.set(text, this.at + 2)
    this.at += 2 + text.length
  }

  finish(): Uint8Array {
    const body = this.bytes.subarray(PREFIX_BYTES, this.at)
    this.view.setUint32(0, body.length, true)
    this.view.setUint32(4, crc32c(body), true)
    return this.bytes.slice(0, this.at)
  }
}

class RecordReader {
  private readonly view: DataView

  constructor(
    private readonly bytes: Uint8Array,
    private at: number,
  ) {
    this.view = viewOf(bytes)
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true)
  }

  u64(): number {
    return readU64(this.view, this.take(8), 'MANIFEST record')
  }

  big(): bigint {
    return this.view.getBigUint64(this.take(8), true)
  }

  fixed(length: number): Uint8Array {
    const start = this.take(length)
    return copyOf(this.bytes, start, start + length)
  }

  text(): string {
    const length = this.view.getUint16(this.take(2), true)
    const start = this.take(length)
    return readUtf8(bufferOf(this.bytes), start, start + length, 'path')
  }

  segmentName(): SegmentName {
    return { segmentSeq: this.u64(), segmentId: this.fixed(16) }
  }

  private take(length: number): number {
    const start = this.at
    requireLength('a MANIFEST record', start + length, this.bytes.length)
    this.at += length
    return start
  }
}
