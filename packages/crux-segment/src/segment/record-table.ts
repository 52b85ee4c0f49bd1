import type { Pause } from 'crux-types'
import { crc32 } from '../checksum.js'
import { digestsOf, type PayloadDigests, writeFrame } from '../frame.js'
import { type FrameFields, headerTarget } from '../frame-header.js'
import { blake3InSlices } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { streamHash } from '../stream-hash.js'
import { HEADER_BYTES } from './layout.js'

const SLICE_BYTES = 256 * 1024

/** A frame on its way into a segment. */
export interface FrameToSeal {
  readonly fields: FrameFields
  readonly payload: Uint8Array
}

/** What the record area holds, one row per frame in record order. */
export interface RecordTable {
  readonly count: number
  readonly streamHashes: BigUint64Array
  readonly seqs: Float64Array
  /** From the start of the file. */
  readonly offsets: Uint32Array
  readonly lengths: Uint32Array
  readonly payloadLengths: Uint32Array
  /** 32 bytes a frame: event id hash (16), header digest (8), payload digest (8). */
  readonly digests: Uint8Array
}

/** Write frames one after the other behind the header of a segment, and list them. */
export async function writeRecords(
  bytes: Uint8Array,
  frames: readonly FrameToSeal[],
  lengths: Uint32Array,
  hashes: Hashes,
  pause: Pause,
): Promise<RecordTable> {
  const count = frames.length
  const table: RecordTable = {
    count,
    streamHashes: new BigUint64Array(count),
    seqs: new Float64Array(count),
    offsets: new Uint32Array(count),
    lengths,
    payloadLengths: new Uint32Array(count),
    digests: new Uint8Array(count * 32),
  }
  const target = headerTarget(bytes)
  let at = HEADER_BYTES
  let stream = { tenantId: '', streamType: '', streamId: '', hash: 0n }
  for (const [i, { fields, payload }] of frames.entries()) {
    // Frames of one stream stand together as a rule, so its hash is kept.
    if (
      fields.streamId !== stream.streamId ||
      fields.streamType !== stream.streamType ||
      fields.tenantId !== stream.tenantId
    ) {
      const { tenantId, streamType, streamId } = fields
      const hash = streamHash(tenantId, streamType, streamId, hashes)
      stream = { tenantId, streamType, streamId, hash }
    }
    const digests = await digestsInSlices(payload, hashes, pause)
    const written = writeFrame(target, at, fields, payload, hashes, digests)
    table.streamHashes[i] = stream.hash
    table.seqs[i] = fields.seq
    table.offsets[i] = at
    table.payloadLengths[i] = payload.length
    table.digests.set(hashes.blake3(Buffer.from(fields.eventId)).subarray(0, 16), i * 32)
    table.digests.set(written.headerHash.subarray(0, 8), i * 32 + 16)
    table.digests.set(written.payloadHash.subarray(0, 8), i * 32 + 24)
    at += written.frameLength
    await pause()
  }
  return table
}

/** Numbers of the rows, sorted by stream hash, then by seq, then as they stand. */
export async function sortByStreamAndSeq(table: RecordTable, pause: Pause): Promise<Uint32Array> {
  // Rows of one stream come in ascending seq as a rule, so only the streams need sorting:
  // by the number sort of typed arrays, which compares no big integers in script.
  const rowsOf = new Map<bigint, number[]>()
  for (let i = 0; i < table.count; i++) {
    const hash = table.streamHashes[i] as bigint // a row by the loop's bounds
    const rows = rowsOf.get(hash)
    if (rows === undefined) rowsOf.set(hash, [i])
    else rows.push(i)
    if (i % 256 === 0) await pause()
  }
  const order = new Uint32Array(table.count)
  let at = 0
  for (const hash of BigUint64Array.from(rowsOf.keys()).sort()) {
    const rows = rowsOf.get(hash) ?? []
    const seqOf = (row: number): number => table.seqs[row] ?? 0
    if (rows.some((row, i) => i > 0 && seqOf(rows[i - 1] ?? row) > seqOf(row))) {
      rows.sort((a, b) => seqOf(a) - seqOf(b) || a - b)
    }
    order.set(rows, at)
    at += rows.length
    await pause()
  }
  return order
}

/** Digests of a payload, with pauses when it is large; at once, without a promise, when it is not. */
function digestsInSlices(
  payload: Uint8Array,
  hashes: Hashes,
  pause: Pause,
): PayloadDigests | Promise<PayloadDigests> {
  if (payload.length <= SLICE_BYTES) return digestsOf(payload, hashes)
  return (async () => {
    let payloadCrc = 0
    for (let at = 0; at < payload.length; at += SLICE_BYTES) {
      payloadCrc = crc32(payload.subarray(at, at + SLICE_BYTES), payloadCrc)
      await pause()
    }
    return { payloadHash: await blake3InSlices(payload, hashes, pause), payloadCrc }
  })()
}
