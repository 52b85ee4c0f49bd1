import type { FrameInput } from 'crux-storage'
import type { Pause } from 'crux-types'
import { z } from 'zod'
import { type CheckedChunk, RESERVED_CHUNK_ID_PREFIX } from '../ingest/check-request.js'
import type { EncodedDocument } from '../ingest/revision.js'

/** Event type of the frames that hold a chunk's text. */
export const CHUNK_EVENT_TYPE = 'corecrux.prose.chunk.v1'
/** Event type of the frames that describe a document: what its chunk frames cannot hold. */
export const DOCUMENT_EVENT_TYPE = 'crux.document.v1'

const CHUNK_CONTENT_TYPE = 'text/plain; charset=utf-8'
const DOCUMENT_CONTENT_TYPE = 'application/vnd.crux.document+json'

// No UTF-8 text holds this byte, so a reader that indexes every frame of text passes over it.
const NOT_TEXT = 0xff

// Bounds on what is parsed to describe one chunk, whatever the size of its document.
const MAX_PAGE_CHUNKS = 512
const MAX_PAGE_CHARACTERS = 128 * 1024

/** Chunks between two looks at the clock. */
const CHUNK_SLICE = 64

const chunkFacts = z.object({
  /** The chunk's own index; its place in the document when absent. */
  index: z.number().optional(),
  headings: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
})

const documentHead = z.object({
  v: z.literal(1),
  removed: z.boolean().optional(),
  revision: z.string(),
  title: z.string().nullable(),
  url: z.string().nullable(),
  source_timestamp: z.string().nullable(),
  /** Chunk frames that follow. */
  chunks: z.number().int().min(0),
  /** Place of the first chunk of each page of facts; the first page stands in this frame. */
  pages: z.array(z.number().int().min(0)),
  facts: z.array(chunkFacts),
})

const chunkPage = z.object({ v: z.literal(1), facts: z.array(chunkFacts) })

/** What a document's first frame says about it. */
export type DocumentHead = z.output<typeof documentHead>

/** What a frame cannot hold about one chunk. */
export type ChunkFacts = z.output<typeof chunkFacts>

/** Where the frames of a document belong. */
export interface DocumentStream {
  readonly tenant: string
  readonly corpus: string
  /** RFC 3339. */
  readonly occurredAt: string
}

/**
 * Frames of a document: its description, on several frames when it has many chunks, then its chunks.
 *
 * ```text
 * head (facts of the first chunks) | further pages of facts ... | chunk | chunk | ...
 * ```
 *
 * @param pause - Awaited between chunks.
 */
export async function documentFrames(
  stream: DocumentStream,
  document: EncodedDocument,
  pause: Pause,
): Promise<readonly FrameInput[]> {
  const pages = await pagesOf(document.chunks, pause)
  const name = `${RESERVED_CHUNK_ID_PREFIX}${document.revision}`
  const first: DocumentHead = {
    v: 1,
    revision: document.revision,
    title: document.title,
    url: document.url,
    source_timestamp: document.sourceTimestamp,
    chunks: document.chunks.length,
    pages: pages.map(({ start }) => start),
    facts: [],
  }
  const frames: FrameInput[] = []
  for (const [number, { facts }] of pages.entries()) {
    frames.push(
      frame(stream, document.docId, {
        eventId: number === 0 ? name : `${name}:${number}`,
        eventType: DOCUMENT_EVENT_TYPE,
        contentType: DOCUMENT_CONTENT_TYPE,
        payload: notText(withFacts(number === 0 ? first : { v: 1 }, facts)),
      }),
    )
    await pause()
  }
  for (const [index, { chunkId }] of document.chunks.entries()) {
    frames.push(
      frame(stream, document.docId, {
        eventId: chunkId,
        eventType: CHUNK_EVENT_TYPE,
        contentType: CHUNK_CONTENT_TYPE,
        payload: document.payloads[index] ?? new Uint8Array(),
      }),
    )
    if (index % CHUNK_SLICE === 0) await pause()
  }
  return frames
}

/** The frame that says that a document was taken out. */
export function removalFrame(stream: DocumentStream, docId: string): FrameInput {
  const head: DocumentHead = {
    v: 1,
    removed: true,
    revision: '',
    title: null,
    url: null,
    source_timestamp: null,
    chunks: 0,
    pages: [0],
    facts: [],
  }
  return frame(stream, docId, {
    eventId: `${RESERVED_CHUNK_ID_PREFIX}removed`,
    eventType: DOCUMENT_EVENT_TYPE,
    contentType: DOCUMENT_CONTENT_TYPE,
    payload: notText(JSON.stringify(head)),
  })
}

/** The description that a frame's payload holds; undefined when it is something else. */
export function parseDocumentHead(payload: Uint8Array): DocumentHead | undefined {
  return documentHead.safeParse(parseNotText(payload)).data
}

/** Facts about the chunks of one page, in order; undefined when the payload is something else. */
export function parseChunkFacts(payload: Uint8Array): readonly ChunkFacts[] | undefined {
  return chunkPage.safeParse(parseNotText(payload)).data?.facts
}

type FrameBody = Pick<FrameInput, 'eventId' | 'eventType' | 'contentType' | 'payload'>

function frame(stream: DocumentStream, docId: string, body: FrameBody): FrameInput {
  const { tenant, corpus, occurredAt } = stream
  return { tenantId: tenant, streamType: corpus, streamId: docId, occurredAt, ...body }
}

interface FactsPage {
  /** Place of its first chunk. */
  readonly start: number
  /** JSON of each chunk's facts. */
  readonly facts: string[]
}

async function pagesOf(
  chunks: readonly CheckedChunk[],
  pause: Pause,
): Promise<readonly FactsPage[]> {
  let page: FactsPage = { start: 0, facts: [] }
  let characters = 0
  const pages = [page]
  for (const [place, chunk] of chunks.entries()) {
    const facts = factsOf(chunk, place)
    const isFull =
      page.facts.length === MAX_PAGE_CHUNKS || characters + facts.length > MAX_PAGE_CHARACTERS
    if (isFull && page.facts.length > 0) {
      page = { start: place, facts: [] }
      characters = 0
      pages.push(page)
    }
    page.facts.push(facts)
    characters += facts.length
    if (place % CHUNK_SLICE === 0) await pause()
  }
  return pages
}

function factsOf(chunk: CheckedChunk, place: number): string {
  const members: string[] = []
  if (chunk.chunkIndex !== place) members.push(`"index":${chunk.chunkIndex}`)
  if (chunk.headingPath.length > 0) members.push(`"headings":${JSON.stringify(chunk.headingPath)}`)
  if (chunk.metadata !== undefined) members.push(`"metadata":${chunk.metadata}`)
  return `{${members.join(',')}}`
}

/** The object with a last member `facts`, whose items are JSON already. */
function withFacts(object: object, facts: readonly string[]): string {
  const { facts: _, ...rest } = { facts: [], ...object }
  return `${JSON.stringify(rest).slice(0, -1)},"facts":[${facts.join(',')}]}`
}

function notText(json: string): Uint8Array {
  const payload = Buffer.allocUnsafe(1 + Buffer.byteLength(json))
  payload[0] = NOT_TEXT
  payload.write(json, 1)
  return payload
}

function parseNotText(payload: Uint8Array): unknown {
  if (payload[0] !== NOT_TEXT) return undefined
  try {
    return JSON.parse(
      Buffer.from(payload.buffer, payload.byteOffset + 1, payload.length - 1).toString(),
    )
  } catch {
    // Another writer's frame under our event type: it describes nothing that we know.
    return undefined
  }
}
