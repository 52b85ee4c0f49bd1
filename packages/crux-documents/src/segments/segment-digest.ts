import { decodeCcxm, encodeCcxmInSlices } from 'crux-segment'
import type { SegmentRef } from 'crux-storage'
import type { Pause } from 'crux-types'
import { z } from 'zod'
import { decodeOrigins, encodeOrigins, type SegmentOrigins } from './origins.js'

/** Of the JSON; one of another version is built again. */
const DIGEST_VERSION = 2

const runHead = z.object({
  revision: z.string(),
  title: z.string().nullable(),
  url: z.string().nullable(),
  /** True for a document that was taken out. */
  removed: z.boolean(),
  /** Place of the first chunk of each page of facts. */
  pages: z.array(z.number().int().min(0)),
})

const run = z.object({
  tenant: z.string(),
  corpus: z.string(),
  doc: z.string(),
  /** Number of its first frame in the segment. */
  first: z.number().int().min(0),
  /** Frames; their numbers and their sequence numbers are consecutive. */
  frames: z.number().int().min(1),
  /** Sequence number of its first frame. */
  seq: z.number().int().min(1),
  /** Present when the run starts with a document's description. */
  head: runHead.optional(),
  /** Links of its chunks: place of the frame within the run, and what is linked to. */
  links: z.array(z.tuple([z.number().int().min(0), z.string()])).optional(),
})

const digestHeader = z.object({
  v: z.literal(DIGEST_VERSION),
  segment: z.string(),
  bytes: z.number().int().min(0),
  frames: z.number().int().min(0),
  /** Frames whose payload is text that an index can hold. */
  indexable: z.number().int().min(0),
  /** Base64 of frames + 1 little-endian u32: where each frame starts in the file, and where the last one ends. */
  offsets: z.string(),
  /** Base64 of the origins of a merged segment; absent in others. */
  origins: z.string().optional(),
})

/** Text encoded between two looks at the clock. */
const PIECE_CHARACTERS = 64 * 1024

/** What a run's first frame says about its document. */
export type RunHead = z.output<typeof runHead>

/** Frames of one document that stand together in a segment; a revision of a document is one run. */
export type Run = z.output<typeof run>

/** What a start needs to know of a segment without reading its frames. */
export interface SegmentDigest {
  /** Frames whose payload is text that an index can hold; a segment without any has no `.ccxi`. */
  readonly indexable: number
  /** `Uint32Array` of frames + 1: file offset of each frame, then of the end of the last. */
  readonly offsets: Uint32Array
  /** Ascending `first`; together they cover all frames. */
  readonly runs: readonly Run[]
  /** Where the frames of a merged segment come from; undefined in others. */
  readonly origins?: SegmentOrigins
}

/** Runs that belong to documents: all but that of a merged segment's own frame. */
export function documentRuns({ runs, origins }: SegmentDigest): readonly Run[] {
  return origins === undefined ? runs : runs.slice(1)
}

const tenants = new WeakMap<SegmentDigest, ReadonlySet<string>>()

/** Tenants whose documents a segment holds; remembered. */
export function tenantsOf(digest: SegmentDigest): ReadonlySet<string> {
  let known = tenants.get(digest)
  if (known === undefined) {
    known = new Set(documentRuns(digest).map(({ tenant }) => tenant))
    tenants.set(digest, known)
  }
  return known
}

/**
 * `.ccxm` bytes of a digest.
 *
 * @param pause - Awaited between runs.
 */
export async function encodeDigest(
  ref: SegmentRef,
  digest: SegmentDigest,
  pause: Pause,
): Promise<Uint8Array> {
  const offsets = Buffer.alloc(digest.offsets.length * 4)
  const view = new DataView(offsets.buffer, offsets.byteOffset, offsets.length)
  for (let frame = 0; frame < digest.offsets.length; frame++) {
    view.setUint32(frame * 4, digest.offsets[frame] ?? 0, true)
    if (frame % 4096 === 0) await pause()
  }
  const header = {
    v: DIGEST_VERSION,
    segment: ref.id,
    bytes: ref.sizeBytes,
    frames: digest.offsets.length - 1,
    indexable: digest.indexable,
    offsets: offsets.toString('base64'),
    ...(digest.origins === undefined
      ? {}
      : { origins: base64(await encodeOrigins(digest.origins.ranges, pause)) }),
  }
  const pieces = [Buffer.from(`${JSON.stringify(header).slice(0, -1)},"runs":[\n`)]
  let text = ''
  for (const [i, one] of digest.runs.entries()) {
    text += `${i === 0 ? '' : ',\n'}${JSON.stringify(one)}`
    if (text.length >= PIECE_CHARACTERS) {
      pieces.push(Buffer.from(text))
      text = ''
    }
    await pause()
  }
  pieces.push(Buffer.from(`${text}\n]}\n`))
  return encodeCcxmInSlices(pieces, pause)
}

/**
 * Read `.ccxm` bytes.
 *
 * @param pause - Awaited between runs.
 * @returns undefined when they are damaged, of another version or of another segment: the digest is a
 *   cache, and the segment holds all of it.
 */
export async function decodeDigest(
  ref: SegmentRef,
  bytes: Uint8Array,
  pause: Pause,
): Promise<SegmentDigest | undefined> {
  // One line for the header, one for each run, and the end: so that no step parses all of it.
  const [first, ...lines] = payloadLines(bytes)
  const header = digestHeader.safeParse(parseJson(`${first}]}`)).data
  if (header === undefined) return undefined
  if (header.segment !== ref.id || header.bytes !== ref.sizeBytes) return undefined
  const packed = Buffer.from(header.offsets, 'base64')
  if (header.frames !== ref.frameCount || packed.length !== (header.frames + 1) * 4)
    return undefined
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  const offsets = new Uint32Array(header.frames + 1)
  for (let frame = 0; frame < offsets.length; frame++) {
    offsets[frame] = view.getUint32(frame * 4, true)
    if (frame % 4096 === 0) await pause()
  }
  const runs: Run[] = []
  let next = 0
  for (const line of lines) {
    if (line === '' || line === ']}') continue
    const one = run.safeParse(parseJson(line.endsWith(',') ? line.slice(0, -1) : line)).data
    if (one === undefined || one.first !== next) return undefined
    runs.push(one)
    next += one.frames
    await pause()
  }
  if (next !== header.frames) return undefined
  const { indexable } = header
  if (header.origins === undefined) return { indexable, offsets, runs }
  const packedOrigins = Buffer.from(header.origins, 'base64')
  const origins = await decodeOrigins(packedOrigins, header.frames, pause)
  return origins === undefined ? undefined : { indexable, offsets, runs, origins }
}

/** The run that holds a frame. */
export function runOf(digest: SegmentDigest, frame: number): Run | undefined {
  let low = 0
  let high = digest.runs.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const one = digest.runs[middle]
    if (one === undefined) return undefined
    if (frame < one.first) high = middle - 1
    else if (frame >= one.first + one.frames) low = middle + 1
    else return one
  }
  return undefined
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
}

function payloadLines(bytes: Uint8Array): readonly string[] {
  try {
    const payload = decodeCcxm(bytes)
    const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString()
    return text.split('\n')
  } catch {
    return []
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
