import { isWellFormed, type Pause, parseTime } from 'crux-types'
import type { ChunkInput, DocumentInput, IngestRequest } from '../document-store.js'
import { canonicalJson, MAX_METADATA_DEPTH } from './canonical-json.js'
import { VectorCheck } from './check-vectors.js'
import { atMost, duplicate, invalid, type Where } from './refusals.js'

/** Most documents of one request. */
export const MAX_DOCUMENTS = 4096
/** Most chunks of one request, and most documents that one request may take out. */
export const MAX_CHUNKS = 65_536
/** Longest chunk text, in UTF-8 bytes. */
export const MAX_CHUNK_BYTES = 4 * 1024 * 1024
/** Most text of one request, in UTF-8 bytes. */
export const MAX_REQUEST_BYTES = 256 * 1024 * 1024
/** Longest document id, in UTF-8 bytes. */
export const MAX_DOC_ID_BYTES = 1024
/** Longest chunk id and longest corpus name, in UTF-8 bytes. */
export const MAX_SHORT_ID_BYTES = 128
/** Longest title, URL and heading, in UTF-8 bytes. */
export const MAX_LABEL_BYTES = 4096
/** Most headings around one chunk. */
export const MAX_HEADINGS = 32
/** Largest metadata of one chunk, in UTF-8 bytes of JSON. */
export const MAX_METADATA_BYTES = 64 * 1024

/** Chunk ids that start so are taken: they name the frames that describe a document. */
export const RESERVED_CHUNK_ID_PREFIX = '_document:'

/** A chunk that passed the checks. */
export interface CheckedChunk {
  readonly chunkId: string
  readonly text: string
  readonly chunkIndex: number
  readonly headingPath: readonly string[]
  /** Canonical JSON; undefined when there is none. */
  readonly metadata: string | undefined
  /** Of the text; undefined when none came with it. */
  readonly vector: Float32Array | undefined
}

/** A document that passed the checks; chunks without text are gone. */
export interface CheckedDocument {
  readonly docId: string
  readonly title: string | null
  readonly url: string | null
  readonly sourceTimestamp: string | null
  readonly chunks: readonly CheckedChunk[]
}

/**
 * Check an ingest request against every rule but those about callers and tenants.
 *
 * Chunks whose text is blank are left out, as nothing could find them.
 *
 * @param pause - Awaited between chunks.
 * @throws {CruxError} `DOCUMENT_INVALID`, `DOCUMENT_DUPLICATE`, `INGEST_TOO_LARGE`.
 */
export async function checkRequest(
  request: IngestRequest,
  pause: Pause,
): Promise<readonly CheckedDocument[]> {
  checkId('corpus', request.corpus, MAX_SHORT_ID_BYTES, {})
  atMost('documents', MAX_DOCUMENTS, request.documents.length)
  atMost('remove', MAX_CHUNKS, request.remove?.length ?? 0)
  atMost(
    'chunks',
    MAX_CHUNKS,
    request.documents.reduce((sum, document) => sum + document.chunks.length, 0),
  )
  const named = new Set<string>()
  for (const docId of request.remove ?? []) {
    checkId('remove', docId, MAX_DOC_ID_BYTES, { docId })
    named.add(docId)
  }
  const checked: CheckedDocument[] = []
  const vectors = new VectorCheck(request.semanticProfile?.dimensions)
  let bytes = 0
  for (const document of request.documents) {
    const { docId } = document
    checkId('docId', docId, MAX_DOC_ID_BYTES, { docId })
    if (named.has(docId)) {
      throw duplicate(`document '${docId}' occurs twice in the request; send it once`, { docId })
    }
    named.add(docId)
    const chunks: CheckedChunk[] = []
    const chunkIds = new Set<string>()
    for (const [position, chunk] of document.chunks.entries()) {
      bytes += checkChunkText(docId, chunk)
      atMost('text', MAX_REQUEST_BYTES, bytes)
      const kept = checkChunk(docId, chunk, position, chunkIds, vectors)
      if (kept !== undefined) chunks.push(kept)
      await pause()
    }
    checked.push({ ...checkLabels(document), docId, chunks })
    await pause()
  }
  return checked
}

function checkLabels(
  document: DocumentInput,
): Pick<CheckedDocument, 'title' | 'url' | 'sourceTimestamp'> {
  const { docId, title = null, url = null, sourceTimestamp = null } = document
  if (title !== null) checkLabel('title', title, { docId })
  if (url !== null) checkLabel('url', url, { docId })
  if (sourceTimestamp !== null && parseTime(sourceTimestamp) === undefined) {
    throw invalid('sourceTimestamp', 'is not an RFC 3339 time such as 2026-01-31T12:00:00Z', {
      docId,
    })
  }
  return { title, url, sourceTimestamp }
}

/** @returns UTF-8 bytes of the text. */
function checkChunkText(docId: string, chunk: ChunkInput): number {
  const { chunkId, text } = chunk
  const bytes = Buffer.byteLength(text)
  atMost('chunk text', MAX_CHUNK_BYTES, bytes, { docId, chunkId })
  if (!isWellFormed(text)) {
    throw invalid('text', 'holds an unpaired surrogate; send well-formed Unicode', {
      docId,
      chunkId,
    })
  }
  return bytes
}

function checkChunk(
  docId: string,
  chunk: ChunkInput,
  position: number,
  chunkIds: Set<string>,
  vectors: VectorCheck,
): CheckedChunk | undefined {
  const { chunkId, text, chunkIndex = position, headingPath = [] } = chunk
  const where = { docId, chunkId }
  checkId('chunkId', chunkId, MAX_SHORT_ID_BYTES, where)
  if (chunkId.startsWith(RESERVED_CHUNK_ID_PREFIX)) {
    throw invalid('chunkId', `starts with '${RESERVED_CHUNK_ID_PREFIX}', which is reserved`, where)
  }
  if (chunkIds.has(chunkId)) {
    throw duplicate(`chunk '${chunkId}' occurs twice in document '${docId}'`, where)
  }
  chunkIds.add(chunkId)
  if (!Number.isSafeInteger(chunkIndex) || chunkIndex < 0) {
    throw invalid('chunkIndex', `is ${chunkIndex}, expected an integer from 0`, where)
  }
  if (headingPath.length > MAX_HEADINGS) {
    throw invalid('headingPath', `has ${headingPath.length} titles, at most ${MAX_HEADINGS}`, where)
  }
  for (const heading of headingPath) checkLabel('headingPath', heading, where)
  const metadata = checkMetadata(chunk.metadata, where)
  const vector = vectors.check(chunk.vector, where)
  if (text.trim() === '') return undefined
  return { chunkId, text, chunkIndex, headingPath: [...headingPath], metadata, vector }
}

function checkMetadata(metadata: ChunkInput['metadata'], where: Where): string | undefined {
  if (metadata === undefined) return undefined
  const json = canonicalJson(metadata)
  if (json === undefined) {
    throw invalid('metadata', `is not JSON of at most ${MAX_METADATA_DEPTH} levels`, where)
  }
  // JSON.stringify writes an unpaired surrogate as an escape, so the text is always well-formed.
  const bytes = Buffer.byteLength(json)
  if (bytes > MAX_METADATA_BYTES) {
    throw invalid('metadata', `has ${bytes} bytes, at most ${MAX_METADATA_BYTES}`, where)
  }
  return json === '{}' ? undefined : json
}

// U+0085 and the other C1 controls count: U+0085 is white space to some readers and not to others.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

function checkId(field: string, id: string, maxBytes: number, where: Where): void {
  if (id === '') throw invalid(field, 'is empty', where)
  if (!isWellFormed(id)) throw invalid(field, 'holds an unpaired surrogate', where)
  if (CONTROL.test(id)) throw invalid(field, 'holds a control character; remove it', where)
  if (id.trim() !== id) throw invalid(field, 'has white space at an end; trim it', where)
  const bytes = Buffer.byteLength(id)
  if (bytes > maxBytes) throw invalid(field, `has ${bytes} bytes, at most ${maxBytes}`, where)
}

function checkLabel(field: string, label: string, where: Where): void {
  if (!isWellFormed(label)) throw invalid(field, 'holds an unpaired surrogate', where)
  const bytes = Buffer.byteLength(label)
  if (bytes > MAX_LABEL_BYTES) {
    throw invalid(field, `has ${bytes} bytes, at most ${MAX_LABEL_BYTES}`, where)
  }
}
