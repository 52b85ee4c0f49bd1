import { isUtf8 } from 'node:buffer'
import { createIndexBuilder, type IndexFiles } from 'crux-retrieval'
import {
  type DecodedSegment,
  decodeFrame,
  decodeSegment,
  type Frame,
  type Hashes,
  tenantHash,
} from 'crux-segment'
import type { SegmentRef } from 'crux-storage'
import type { Pause } from 'crux-types'
import { findLinks } from '../graph/find-links.js'
import { DOCUMENT_EVENT_TYPE, parseDocumentHead } from './document-frames.js'
import { parseOriginsFrame, type SegmentOrigins } from './origins.js'
import type { Run, RunHead, SegmentDigest } from './segment-digest.js'

/**
 * Describe a segment's frames for a start that does not read them.
 *
 * @param pause - Awaited between frames; what it throws (an abort) ends the scan.
 * @throws {CruxError} The codes of crux-segment when the segment does not decode.
 */
export async function digestSegment(
  bytes: Uint8Array,
  hashes: Hashes,
  pause: Pause,
): Promise<SegmentDigest> {
  const { entries } = await decodeSegment(bytes, hashes, { verify: 'quick' }, pause)
  const offsets = new Uint32Array(entries.length + 1)
  const origins = await originsOf(bytes, entries, pause)
  const runs = new RunCollector(origins)
  let indexable = 0
  for (const [number, { offset, frameLength }] of entries.entries()) {
    const frame = decodeFrame(bytes, offset)
    offsets[number] = offset
    offsets[number + 1] = offset + frameLength
    runs.add(number, frame)
    if (isText(frame)) indexable++
    await pause()
  }
  const digest = { indexable, offsets, runs: runs.runs }
  return origins === undefined ? digest : { ...digest, origins }
}

/**
 * Index the text of a segment's frames.
 *
 * @param pause - Awaited between pieces of text; what it throws (an abort) ends the work.
 * @returns `.ccxi` and `.ccxf` bytes, equal for equal segments; undefined when no frame is text.
 * @throws {CruxError} The codes of crux-segment when the segment does not decode.
 */
export async function indexSegment(
  ref: SegmentRef,
  bytes: Uint8Array,
  { offsets }: SegmentDigest,
  hashes: Hashes,
  pause: Pause,
): Promise<IndexFiles | undefined> {
  const builder = createIndexBuilder(hashes, { words: true })
  for (const [number, offset] of offsets.subarray(0, -1).entries()) {
    const frame = decodeFrame(bytes, offset)
    if (isText(frame)) {
      const { payload } = frame
      await pause()
      const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString()
      await pause()
      const owner = tenantHash(frame.header.tenantId, hashes)
      await builder.addInSlices(number, text, owner, offset, pause)
    }
    // The builder pauses within long texts only.
    await pause()
  }
  return builder.finishWithWordsInSlices(
    { shardId: ref.shard, segmentSeq: ref.seq, epoch: ref.epoch },
    pause,
  )
}

async function originsOf(
  bytes: Uint8Array,
  entries: DecodedSegment['entries'],
  pause: Pause,
): Promise<SegmentOrigins | undefined> {
  const [first] = entries
  if (first === undefined) return undefined
  const { header, payload } = decodeFrame(bytes, first.offset)
  return parseOriginsFrame(header.eventType, payload, entries.length, pause)
}

/** True when a frame's payload is UTF-8 and not empty. */
function isText({ payload }: Frame): boolean {
  return payload.length > 0 && isUtf8(payload)
}

/** Joins neighbouring frames of one stream, unless they come from different places. */
class RunCollector {
  readonly runs: Run[] = []
  private nextRange = 0

  constructor(private readonly origins: SegmentOrigins | undefined) {}

  add(number: number, frame: Frame): void {
    const { header, payload } = frame
    const { tenantId: tenant, streamType: corpus, streamId: doc, seq } = header
    const last = this.runs.at(-1)
    const head = headOf(header.eventType, payload)
    const isNewRange = this.origins?.startOf(this.nextRange) === number
    if (isNewRange) this.nextRange++
    const links = linksOf(frame)
    const follows =
      last !== undefined &&
      head === undefined &&
      !isNewRange &&
      last.doc === doc &&
      last.corpus === corpus &&
      last.tenant === tenant &&
      last.seq + last.frames === seq
    let run = last
    if (follows) last.frames++
    else {
      const begun = { tenant, corpus, doc, first: number, frames: 1, seq }
      run = head === undefined ? begun : { ...begun, head }
      this.runs.push(run)
    }
    if (run === undefined || links.length === 0) return
    const place = number - run.first
    run.links = [...(run.links ?? []), ...links.map((target): [number, string] => [place, target])]
  }
}

/** Most text of a chunk that is looked through for links: what stands in front of it is enough. */
const MOST_LINKED_BYTES = 256 * 1024
const BRACKET = '['.charCodeAt(0)

function linksOf(frame: Frame): readonly string[] {
  const { payload } = frame
  const start = payload.subarray(0, MOST_LINKED_BYTES)
  if (frame.header.eventType === DOCUMENT_EVENT_TYPE || !start.includes(BRACKET)) return []
  if (!isText(frame)) return []
  return findLinks(Buffer.from(start.buffer, start.byteOffset, start.length).toString())
}

function headOf(eventType: string, payload: Uint8Array): RunHead | undefined {
  if (eventType !== DOCUMENT_EVENT_TYPE) return undefined
  const head = parseDocumentHead(payload)
  if (head === undefined) return undefined
  const { revision, title, url, removed = false, pages } = head
  return { revision, title, url, removed, pages }
}
