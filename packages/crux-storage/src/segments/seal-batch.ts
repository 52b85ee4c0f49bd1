import {
  type EncodedSegment,
  encodeSegment,
  type FrameToSeal,
  type Hashes,
  type SegmentFooter,
  sealReceiptId,
  streamHash,
} from 'crux-segment'
import { CruxError, createPauser, messageOf, type Pause, toStoredTime } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import type {
  Companion,
  FrameBatch,
  FrameInput,
  Replacement,
  SealedSegment,
  SegmentRef,
} from './segment-store.js'

/** Longest event id, in UTF-8 bytes. */
export const MAX_EVENT_ID_BYTES = 128

/** Shorter than usual: sealing makes garbage, and collecting some adds a few milliseconds to a slice. */
const SEAL_SLICE_MS = 2

/** Highest committed seq per stream hash. */
export type LastSeqs = Map<bigint, number>

/** The segment that was sealed last in a shard, for the next receipt. */
export type PreviousSeal = Pick<SegmentFooter, 'segmentSeq' | 'segmentHash'>

type SealedFacts = Pick<
  SegmentFooter,
  | 'shardId'
  | 'epoch'
  | 'segmentSeq'
  | 'segmentId'
  | 'segmentHash'
  | 'fileLength'
  | 'entryCount'
  | 'sealedAtNs'
>

/** Where and when a batch is sealed. */
export interface SealPlace {
  readonly shardId: number
  readonly epoch: number
  readonly segmentSeq: number
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: number
  readonly lastSeqs: LastSeqs
  /** Streams that take no more frames. */
  readonly closedStreams?: ReadonlySet<bigint>
  readonly previous: PreviousSeal | undefined
}

/** A batch as one segment, not yet committed. */
export interface SealedBatch extends EncodedSegment {
  readonly ref: SegmentRef
  /** Highest seq of each stream in the batch; to be merged into the store's once it is committed. */
  readonly lastSeqs: LastSeqs
}

/**
 * Assign sequence numbers and encode a batch. Changes nothing.
 *
 * @throws {CruxError} `SEGMENT_BATCH_INVALID`. @throws The abort reason of `batch.signal`.
 */
export async function sealBatch(
  batch: FrameBatch,
  place: SealPlace,
  hashes: Hashes,
): Promise<SealedBatch> {
  if (batch.frames.length === 0) throw invalid('a batch needs at least one frame')
  const pause = createPauser({ sliceMs: SEAL_SLICE_MS, signal: batch.signal })
  const { frames, lastSeqs } = await assignSeqs(batch.frames, place, hashes, pause)
  return { ...(await encode(frames, place, hashes, pause, batch.signal)), lastSeqs }
}

/**
 * Encode what takes the place of other segments. Changes nothing.
 *
 * @throws {CruxError} `SEGMENT_BATCH_INVALID`. @throws The abort reason of `by.signal`.
 */
export async function sealReplacement(
  by: Replacement,
  place: SealPlace,
  hashes: Hashes,
): Promise<SealedBatch> {
  if (by.kept.length === 0) throw invalid('a replacement keeps at least one frame')
  const pause = createPauser({ sliceMs: SEAL_SLICE_MS, signal: by.signal })
  const { frames, lastSeqs } = await assignSeqs(by.frames, place, hashes, pause)
  await requireKnownSeqs(by.kept, place, hashes, pause)
  const all = frames.concat(by.kept)
  return { ...(await encode(all, place, hashes, pause, by.signal)), lastSeqs }
}

async function encode(
  frames: readonly FrameToSeal[],
  place: SealPlace,
  hashes: Hashes,
  pause: Pause,
  signal: AbortSignal | undefined,
): Promise<EncodedSegment & { readonly ref: SegmentRef }> {
  const atNs = BigInt(place.now) * 1_000_000n
  const content = {
    shardId: place.shardId,
    epoch: place.epoch,
    segmentSeq: place.segmentSeq,
    createdAtNs: atNs,
    sealedAtNs: atNs,
    frames,
  }
  let encoded: EncodedSegment
  try {
    encoded = await encodeSegment(content, hashes, pause)
  } catch (error) {
    if (error instanceof CruxError || error instanceof RangeError) {
      throw invalid(error.message, error)
    }
    throw error
  }
  signal?.throwIfAborted()
  return { ...encoded, ref: refOf(encoded.footer, place.previous, hashes) }
}

/** What a segment's footer, or its record in the MANIFEST, and the seal before it say about it. */
export function refOf(
  facts: SealedFacts,
  previous: PreviousSeal | undefined,
  hashes: Hashes,
): SegmentRef {
  return {
    id: Buffer.from(facts.segmentId).toString('hex'),
    shard: facts.shardId,
    epoch: facts.epoch,
    seq: facts.segmentSeq,
    sizeBytes: facts.fileLength,
    frameCount: facts.entryCount,
    sealedAt: Number(facts.sealedAtNs / 1_000_000n),
    receiptId: sealReceiptId({ ...facts, previous, frameCount: facts.entryCount }, hashes),
  }
}

/**
 * Companions of a sealed segment. A failure is reported and gives none: they can be rebuilt.
 *
 * @throws The abort reason of `batch.signal`, once it is aborted.
 */
export async function buildCompanions(
  batch: FrameBatch,
  sealed: SealedSegment,
  onWarning: (message: string) => void,
): Promise<readonly Companion[]> {
  if (batch.companions === undefined) return []
  try {
    return await batch.companions(sealed)
  } catch (error) {
    batch.signal?.throwIfAborted()
    const why = messageOf(error)
    onWarning(`segment ${sealed.ref.seq} has no companions, rebuild them: ${why}`)
    return []
  }
}

/** Let whoever asked for a replacement move to it. A failure is reported: the commit stands. */
export async function tellCommitted(
  by: Replacement,
  ref: SegmentRef,
  onWarning: (message: string) => void,
): Promise<void> {
  try {
    await by.committed?.(ref)
  } catch (error) {
    onWarning(`segment ${ref.seq} is committed, but was not taken over: ${messageOf(error)}`)
  }
}

/** Let `lastSeqs` know what a committed batch or segment holds. */
export function mergeLastSeqs(
  lastSeqs: LastSeqs,
  more: Iterable<readonly [streamHash: bigint, seq: number]>,
): void {
  for (const [stream, seq] of more) {
    if (seq > (lastSeqs.get(stream) ?? 0)) lastSeqs.set(stream, seq)
  }
}

async function assignSeqs(
  inputs: readonly FrameInput[],
  place: SealPlace,
  hashes: Hashes,
  pause: Pause,
): Promise<{ frames: FrameToSeal[]; lastSeqs: LastSeqs }> {
  const ingestedAt = toStoredTime(place.now)
  const lastSeqs: LastSeqs = new Map()
  const frames: FrameToSeal[] = []
  for (const input of inputs) {
    const eventIdBytes = Buffer.byteLength(input.eventId)
    if (eventIdBytes === 0) throw invalid('an event id is empty')
    if (eventIdBytes > MAX_EVENT_ID_BYTES) {
      throw invalid(
        `event id ${input.eventId.slice(0, 40)}... has ${eventIdBytes} bytes, at most ${MAX_EVENT_ID_BYTES} are allowed`,
      )
    }
    const stream = hashOf(input, hashes)
    if (place.closedStreams?.has(stream)) {
      throw invalid(`stream ${input.streamType}/${input.streamId} has a tombstone`)
    }
    const seq = (lastSeqs.get(stream) ?? place.lastSeqs.get(stream) ?? 0) + 1
    lastSeqs.set(stream, seq)
    frames.push({ fields: fieldsOf(input, seq, ingestedAt), payload: input.payload })
    await pause()
  }
  return { frames, lastSeqs }
}

/** A kept frame has a number that was given before: a higher one would be given again. */
async function requireKnownSeqs(
  kept: readonly FrameToSeal[],
  place: SealPlace,
  hashes: Hashes,
  pause: Pause,
): Promise<void> {
  let last: FrameToSeal['fields'] | undefined
  let known = 0
  for (const { fields } of kept) {
    const { tenantId, streamType, streamId, seq } = fields
    const isNext =
      last?.streamId === streamId && last.streamType === streamType && last.tenantId === tenantId
    if (!isNext) known = place.lastSeqs.get(hashOf(fields, hashes)) ?? 0
    if (seq > known) {
      throw invalid(`frame ${seq} of stream ${streamType}/${streamId} was never given that number`)
    }
    last = fields
    await pause()
  }
}

/** Member by member: spreading objects takes several times as long. */
function fieldsOf(input: FrameInput, seq: number, ingestedAt: string): FrameToSeal['fields'] {
  const { tenantId, streamType, streamId, eventId, eventType, contentType, occurredAt } = input
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
  }
}

type StreamName = Pick<FrameInput, 'tenantId' | 'streamType' | 'streamId'>

function hashOf(input: StreamName, hashes: Hashes): bigint {
  try {
    return streamHash(input.tenantId, input.streamType, input.streamId, hashes)
  } catch (error) {
    throw invalid(messageOf(error), error)
  }
}

function invalid(reason: string, cause?: unknown): CruxError<StorageErrorCode> {
  return new CruxError('SEGMENT_BATCH_INVALID', `the batch cannot be sealed: ${reason}`, {
    cause,
    data: { reason },
  })
}
