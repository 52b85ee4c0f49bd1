import { decodeFrame, type Frame, type Hashes, verifyFrame } from 'crux-segment'
import type { SegmentStore, StorageErrorCode } from 'crux-storage'
import { CruxError } from 'crux-types'
import type { KnownSegment } from '../segments/document-catalog.js'
import { type ChunkFacts, parseChunkFacts, parseDocumentHead } from '../segments/document-frames.js'
import type { Run } from '../segments/segment-digest.js'

/** A chunk as it stands in its segment. */
export interface StoredChunk {
  readonly text: string
  readonly chunkIndex: number
  readonly headingPath: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>> | null
}

/** Reads chunks from segments, one frame at a time; make one per answer, it keeps what chunks of a document share. */
export class ChunkReader {
  private readonly pages = new Map<string, readonly ChunkFacts[]>()

  constructor(
    private readonly segments: SegmentStore,
    private readonly hashes: Hashes,
  ) {}

  /**
   * The chunk in frame `frame` of a segment, which belongs to `run`.
   *
   * @throws {CruxError} `SEGMENT_CORRUPT` when the frame's bytes, hashes or names are not what they were.
   */
  async read(segment: KnownSegment, run: Run, frame: number): Promise<StoredChunk> {
    const { payload } = await this.readFrame(segment, run, frame)
    const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString()
    const pages = run.head?.pages ?? []
    const place = frame - run.first - pages.length
    const pageNumber = lastAtMost(pages, place)
    const facts =
      pageNumber < 0
        ? undefined
        : (await this.readPage(segment, run, pageNumber))[place - (pages[pageNumber] ?? 0)]
    return {
      text,
      chunkIndex: facts?.index ?? place,
      headingPath: facts?.headings ?? [],
      metadata: facts?.metadata ?? null,
    }
  }

  private async readPage(
    segment: KnownSegment,
    run: Run,
    page: number,
  ): Promise<readonly ChunkFacts[]> {
    const frame = run.first + page
    const key = `${segment.ref.id}:${frame}`
    const known = this.pages.get(key)
    if (known !== undefined) return known
    const { payload } = await this.readFrame(segment, run, frame)
    const facts = page === 0 ? parseDocumentHead(payload)?.facts : parseChunkFacts(payload)
    if (facts === undefined) throw corrupt(segment, frame, 'it does not describe a document')
    this.pages.set(key, facts)
    return facts
  }

  private async readFrame(segment: KnownSegment, run: Run, number: number): Promise<Frame> {
    const { ref, digest } = segment
    const start = digest.offsets[number]
    const end = digest.offsets[number + 1]
    if (start === undefined || end === undefined) {
      throw corrupt(segment, number, `the segment has ${ref.frameCount} frames`)
    }
    const bytes = await this.segments.readRange(ref, start, end - start)
    let frame: Frame
    try {
      frame = decodeFrame(bytes)
      verifyFrame(frame, this.hashes)
    } catch (cause) {
      throw corrupt(segment, number, 'its bytes are damaged', cause)
    }
    const { tenantId, streamType, streamId, seq } = frame.header
    const isNamed = tenantId === run.tenant && streamType === run.corpus && streamId === run.doc
    if (!isNamed || seq !== run.seq + number - run.first) {
      throw corrupt(segment, number, 'it belongs to another document')
    }
    return frame
  }
}

/** Index of the last of ascending numbers that is at most `value`; -1 when there is none. */
function lastAtMost(ascending: readonly number[], value: number): number {
  return ascending.findLastIndex((start) => start <= value)
}

function corrupt(
  { ref, digest }: KnownSegment,
  frame: number,
  why: string,
  cause?: unknown,
): CruxError<StorageErrorCode> {
  return new CruxError(
    'SEGMENT_CORRUPT',
    `segment ${ref.id}, frame ${frame}: ${why}; restore the segment from a backup`,
    { cause, data: { id: ref.id, offset: digest.offsets[frame] } },
  )
}
