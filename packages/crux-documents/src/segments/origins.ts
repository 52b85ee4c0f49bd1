import type { FrameInput } from 'crux-storage'
import type { Pause } from 'crux-types'

/** Event type of the first frame of a merged segment, which says where the others come from. */
export const ORIGINS_EVENT_TYPE = 'crux.segment.origins.v1'

const ORIGINS_CONTENT_TYPE = 'application/vnd.crux.origins'
// A stream of its own; what is stored under these names as a document shares nothing but the numbering.
const ORIGINS_STREAM = { tenantId: '_crux', streamType: '_segments', streamId: '_origins' } as const

// No UTF-8 text starts with this byte, so a reader that indexes every frame of text passes over it.
const NOT_TEXT = 0xff
const VERSION = 1
const HEAD_BYTES = 2
const ID_BYTES = 16
const ROW_BYTES = ID_BYTES + 4 + 4
const ROW_SLICE = 1024

/** Neighbouring frames of a segment that stand together in a merged one. */
export interface OriginRange {
  /** The segment under whose id their chunks were given out: 32 hex digits. */
  readonly segmentId: string
  /** Number of the first of them in that segment. */
  readonly first: number
  readonly frames: number
}

/** A frame by the segment that it was first committed in. */
export interface OriginPlace {
  readonly segmentId: string
  readonly frame: number
}

/** Frames of a merged segment that stand before those it was merged from. */
export const OWN_FRAMES = 1

/**
 * Where each frame of a merged segment comes from. Ranges follow one another without gaps, from frame
 * {@link OWN_FRAMES} on; those of one origin stand together and ascend.
 */
export class SegmentOrigins {
  /** Number of the first frame of each range in the merged segment. */
  private readonly starts: number[] = []
  private readonly rows: OriginRange[] = []
  /** First and last range of each origin. */
  private readonly spans = new Map<string, { readonly first: number; last: number }>()
  private end = OWN_FRAMES

  /** Frames of the merged segment. */
  get frames(): number {
    return this.end
  }

  get ranges(): readonly OriginRange[] {
    return this.rows
  }

  /** Ids of the segments that frames come from. */
  get segmentIds(): Iterable<string> {
    return this.spans.keys()
  }

  /** Put a range behind the others. @throws {RangeError} When it breaks the order. */
  add(range: OriginRange): void {
    const { segmentId, first, frames } = range
    const before = this.rows.at(-1)
    const span = this.spans.get(segmentId)
    const isSame = before?.segmentId === segmentId
    const ascends = !isSame || first >= before.first + before.frames
    if (frames < 1 || !ascends || (span !== undefined && !isSame)) {
      throw new RangeError(`frames of segment ${segmentId} from ${first} on are out of order`)
    }
    const i = this.rows.push(range) - 1
    if (span === undefined) this.spans.set(segmentId, { first: i, last: i })
    else span.last = i
    this.starts.push(this.end)
    this.end += frames
  }

  /** Number of the first frame of range `i`; undefined when there is none. */
  startOf(i: number): number | undefined {
    return this.starts[i]
  }

  /** Where a frame was first committed; undefined for a segment's own. */
  originOf(frame: number): OriginPlace | undefined {
    const i = lastAtMost(frame, 0, this.rows.length - 1, (at) => this.starts[at])
    const range = this.rows[i]
    const start = this.starts[i]
    if (range === undefined || start === undefined || frame >= this.end) return undefined
    return { segmentId: range.segmentId, frame: range.first + frame - start }
  }

  /** Number that a frame of an origin has here; undefined when it was not kept. */
  frameOf({ segmentId, frame }: OriginPlace): number | undefined {
    const span = this.spans.get(segmentId)
    if (span === undefined) return undefined
    const i = lastAtMost(frame, span.first, span.last, (at) => this.rows[at]?.first)
    const range = this.rows[i]
    const start = this.starts[i]
    if (range === undefined || start === undefined) return undefined
    const within = frame - range.first
    return within < range.frames ? start + within : undefined
  }
}

/**
 * Origins as bytes: 24 a range, its segment's id (16), the number of its first frame and of its frames
 * (u32 each, little-endian).
 *
 * @param pause - Awaited between thousands of ranges.
 */
export async function encodeOrigins(
  ranges: readonly OriginRange[],
  pause: Pause,
): Promise<Uint8Array> {
  const bytes = Buffer.alloc(ranges.length * ROW_BYTES)
  for (const [i, { segmentId, first, frames }] of ranges.entries()) {
    const at = i * ROW_BYTES
    bytes.write(segmentId, at, 'hex')
    bytes.writeUInt32LE(first, at + ID_BYTES)
    bytes.writeUInt32LE(frames, at + ID_BYTES + 4)
    if (i % ROW_SLICE === 0) await pause()
  }
  return bytes
}

/**
 * Read {@link encodeOrigins}.
 *
 * @param frames - Frames of the segment that they belong to.
 * @returns undefined when the bytes are no origins of so many frames.
 */
export async function decodeOrigins(
  bytes: Uint8Array,
  frames: number,
  pause: Pause,
): Promise<SegmentOrigins | undefined> {
  if (bytes.length % ROW_BYTES !== 0) return undefined
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const origins = new SegmentOrigins()
  let last = ''
  for (let at = 0; at < bytes.length; at += ROW_BYTES) {
    const hex = buffer.toString('hex', at, at + ID_BYTES)
    // Ranges of one origin share one string.
    if (hex !== last) last = hex
    const first = buffer.readUInt32LE(at + ID_BYTES)
    const count = buffer.readUInt32LE(at + ID_BYTES + 4)
    try {
      origins.add({ segmentId: last, first, frames: count })
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
    if (at % (ROW_SLICE * ROW_BYTES) === 0) await pause()
  }
  return origins.frames === frames ? origins : undefined
}

/** The first frame of a merged segment. */
export async function originsFrame(
  ranges: readonly OriginRange[],
  occurredAt: string,
  pause: Pause,
): Promise<FrameInput> {
  const rows = await encodeOrigins(ranges, pause)
  return {
    ...ORIGINS_STREAM,
    eventId: '_origins',
    eventType: ORIGINS_EVENT_TYPE,
    contentType: ORIGINS_CONTENT_TYPE,
    occurredAt,
    payload: Buffer.concat([Uint8Array.of(NOT_TEXT, VERSION), rows]),
  }
}

/** The origins that a segment's first frame holds; undefined when it is another frame. */
export async function parseOriginsFrame(
  eventType: string,
  payload: Uint8Array,
  frames: number,
  pause: Pause,
): Promise<SegmentOrigins | undefined> {
  const isOrigins =
    eventType === ORIGINS_EVENT_TYPE && payload[0] === NOT_TEXT && payload[1] === VERSION
  return isOrigins ? decodeOrigins(payload.subarray(HEAD_BYTES), frames, pause) : undefined
}

/** The last of `low..high` whose number is at most `value`; -1 when there is none. Numbers ascend. */
function lastAtMost(
  value: number,
  low: number,
  high: number,
  numberOf: (at: number) => number | undefined,
): number {
  let found = -1
  while (low <= high) {
    const middle = (low + high) >>> 1
    if ((numberOf(middle) ?? Number.POSITIVE_INFINITY) <= value) {
      found = middle
      low = middle + 1
    } else high = middle - 1
  }
  return found
}
