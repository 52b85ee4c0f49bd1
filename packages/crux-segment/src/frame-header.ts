import { isWellFormed } from 'crux-types'
import { formatError, requireLength, requireRange } from './errors.js'
import { bufferOf, checkUint, readU64, readUtf8, viewOf, writeU64 } from './little-endian.js'

/** Facts about a frame that its payload does not determine. */
export interface FrameFields {
  readonly tenantId: string
  readonly streamId: string
  readonly streamType: string
  /** Position in its stream, from 1. */
  readonly seq: number
  readonly eventId: string
  /** RFC 3339. */
  readonly occurredAt: string
  /** RFC 3339. */
  readonly ingestedAt: string
  readonly eventType: string
  readonly contentType: string
}

/** Canonical header, version 1. */
export interface FrameHeader extends FrameFields {
  /** Bytes. */
  readonly payloadLength: number
  /** BLAKE3 of the payload, 32 bytes. */
  readonly payloadHash: Uint8Array
}

const TAG = 1
const HASH_BYTES = 32
// Tag, eight string lengths, seq, payload length and payload hash.
const FIXED_BYTES = 2 + 8 * 4 + 8 + 4 + HASH_BYTES

/** Bytes that the canonical header of these fields takes. */
export function frameHeaderLength(fields: FrameFields): number {
  return (
    FIXED_BYTES +
    Buffer.byteLength(fields.tenantId) +
    Buffer.byteLength(fields.streamId) +
    Buffer.byteLength(fields.streamType) +
    Buffer.byteLength(fields.eventId) +
    Buffer.byteLength(fields.occurredAt) +
    Buffer.byteLength(fields.ingestedAt) +
    Buffer.byteLength(fields.eventType) +
    Buffer.byteLength(fields.contentType)
  )
}

/** Bytes that many headers are written into, with what it takes to write numbers and text there. */
export interface HeaderTarget {
  readonly bytes: Buffer
  readonly view: DataView
}

/** Make bytes ready to be written into. */
export function headerTarget(bytes: Uint8Array): HeaderTarget {
  return { bytes: bufferOf(bytes), view: viewOf(bytes) }
}

/**
 * Write the canonical header at `at` of `target`, which has {@link frameHeaderLength} bytes of room there.
 *
 * @param payloadHash - BLAKE3 of the payload, 32 bytes.
 * @returns Offset just after it.
 * @throws {CruxError} `INVALID_UTF8` when a text holds an unpaired surrogate.
 */
export function writeFrameHeader(
  { bytes: text, view }: HeaderTarget,
  at: number,
  header: FrameFields,
  payloadLength: number,
  payloadHash: Uint8Array,
): number {
  view.setUint16(at, TAG, true)
  let end = at + 2
  end = writeString(text, view, end, 'tenant_id', header.tenantId)
  end = writeString(text, view, end, 'stream_id', header.streamId)
  end = writeString(text, view, end, 'stream_type', header.streamType)
  writeU64(view, end, header.seq)
  end += 8
  end = writeString(text, view, end, 'event_id', header.eventId)
  end = writeString(text, view, end, 'occurred_at', header.occurredAt)
  end = writeString(text, view, end, 'ingested_at', header.ingestedAt)
  end = writeString(text, view, end, 'event_type', header.eventType)
  end = writeString(text, view, end, 'content_type', header.contentType)
  view.setUint32(end, checkUint(payloadLength, 32, 'payload_len'), true)
  text.set(
    payloadHash.length === HASH_BYTES ? payloadHash : payloadHash.subarray(0, HASH_BYTES),
    end + 4,
  )
  return end + 4 + HASH_BYTES
}

/** The canonical header of these facts, in bytes of its own. @throws {CruxError} `INVALID_UTF8`. */
export function encodeFrameHeader(header: FrameHeader): Uint8Array {
  const target = new Uint8Array(frameHeaderLength(header))
  writeFrameHeader(headerTarget(target), 0, header, header.payloadLength, header.payloadHash)
  return target
}

/**
 * Read a canonical header that fills `bytes`; `payloadHash` is a view into them.
 *
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `UNSUPPORTED_TAG`, `INVALID_UTF8`, `DECLARED_LENGTH_OUT_OF_BOUNDS`,
 *   `LENGTH_OUT_OF_RANGE` when bytes are left over.
 */
export function decodeFrameHeader(bytes: Uint8Array): FrameHeader {
  requireLength('a frame header', FIXED_BYTES, bytes.length)
  const view = viewOf(bytes)
  const tag = view.getUint16(0, true)
  if (tag !== TAG) {
    throw formatError('UNSUPPORTED_TAG', `frame header tag ${tag}, this version reads ${TAG}`, {
      tag,
    })
  }
  const buffer = bufferOf(bytes)
  let at = 2
  const next = (field: string): string => {
    if (at + 4 > bytes.length) {
      requireLength(`${field} of a frame header`, at + 4, bytes.length)
    }
    const start = at + 4
    const length = view.getUint32(at, true)
    if (length > bytes.length - start) {
      throw formatError(
        'DECLARED_LENGTH_OUT_OF_BOUNDS',
        `${field} declares ${length} bytes, ${bytes.length - start} are left in the frame header`,
        { field },
      )
    }
    at = start + length
    return readUtf8(buffer, start, at, field)
  }
  const tenantId = next('tenant_id')
  const streamId = next('stream_id')
  const streamType = next('stream_type')
  requireLength('seq of a frame header', at + 8, bytes.length)
  const seq = readU64(view, at, 'seq')
  at += 8
  const eventId = next('event_id')
  const occurredAt = next('occurred_at')
  const ingestedAt = next('ingested_at')
  const eventType = next('event_type')
  const contentType = next('content_type')
  requireLength('the end of a frame header', at + 4 + HASH_BYTES, bytes.length)
  const payloadLength = view.getUint32(at, true)
  const payloadHash = bytes.subarray(at + 4, at + 4 + HASH_BYTES)
  const left = bytes.length - at - 4 - HASH_BYTES
  if (left !== 0) requireRange(false, 'header_len', `${left} bytes follow the frame header`)
  return {
    tenantId,
    streamId,
    streamType,
    seq,
    eventId,
    occurredAt,
    ingestedAt,
    eventType,
    contentType,
    payloadLength,
    payloadHash,
  }
}

function writeString(
  target: Buffer,
  view: DataView,
  at: number,
  field: string,
  text: string,
): number {
  if (!isWellFormed(text)) {
    throw formatError('INVALID_UTF8', `${field} holds an unpaired surrogate`, { field })
  }
  const written = target.write(text, at + 4, 'utf8')
  view.setUint32(at, written, true)
  return at + 4 + written
}
