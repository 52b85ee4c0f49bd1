import type { Hashes } from 'crux-segment'
import type { SegmentStore } from 'crux-storage'
import { CruxError, cutUtf8, type Pause, storeTokens } from 'crux-types'
import type {
  ChunkText,
  ExpandAnswer,
  ExpandError,
  ExpandErrorKind,
  ExpandedChunk,
  ExpandQuery,
} from '../document-store.js'
import type { DocumentsErrorCode } from '../errors.js'
import type { KnownSegment } from '../segments/document-catalog.js'
import { parseHandle } from '../segments/handle.js'
import type { Readers } from '../segments/readers.js'
import { type Run, runOf } from '../segments/segment-digest.js'
import { ChunkReader } from './chunk-reader.js'

/** Most handles that one call expands. */
export const MAX_HANDLES = 4096

/** What expansion reads from. */
export interface ExpandSources {
  readonly segments: SegmentStore
  readonly hashes: Hashes
  readonly readers: Readers
}

interface Found {
  readonly segment: KnownSegment
  readonly run: Run
  readonly chunk: ExpandedChunk
}

type Failure = { readonly kind: ExpandErrorKind; readonly error: string }

const INVALID_FORMAT: Failure = { kind: 'invalid_format', error: 'invalid result_id format' }
const NO_SEGMENT: Failure = { kind: 'evicted', error: 'segment not found' }
const NO_DOCUMENT: Failure = { kind: 'evicted', error: 'doc_id out of range' }
const OTHER_TENANT: Failure = { kind: 'tenant_mismatch', error: 'tenant mismatch' }

/**
 * Resolve handles to chunks of one tenant, and to their text within a budget.
 *
 * @param pause - Awaited between handles.
 * @throws {CruxError} `EXPAND_TOO_LARGE`, `SEGMENT_CORRUPT`. @throws {RangeError} When the budget is not an integer from 0.
 */
export async function expand(
  sources: ExpandSources,
  query: ExpandQuery,
  pause: Pause,
): Promise<ExpandAnswer> {
  checkQuery(query)
  const tenant = { name: query.tenant, hash: sources.hashes.xxh64Text(query.tenant) }
  const chunks: ExpandedChunk[] = []
  const errors: ExpandError[] = []
  const text = new TextCollector(sources, query.tokenBudget)
  for (const handle of query.handles) {
    const found = find(handle, sources.readers, tenant)
    if ('error' in found) {
      errors.push({ handle, ...found })
    } else {
      chunks.push(found.chunk)
      if (query.includeText) await text.add(handle, found)
    }
    await pause()
  }
  return {
    chunks,
    tokensLoaded: chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0),
    errors,
    content: text.content,
    textTokens: text.tokens,
    leftOut: text.leftOut,
  }
}

function checkQuery({ handles, tokenBudget }: ExpandQuery): void {
  if (handles.length > MAX_HANDLES) {
    throw new CruxError<DocumentsErrorCode>(
      'EXPAND_TOO_LARGE',
      `${handles.length} handles, at most ${MAX_HANDLES} are expanded at once; ask for fewer`,
      { data: { limit: MAX_HANDLES, got: handles.length } },
    )
  }
  if (tokenBudget !== undefined && !(Number.isSafeInteger(tokenBudget) && tokenBudget >= 0)) {
    throw new RangeError(`tokenBudget: expected an integer from 0, got ${tokenBudget}`)
  }
}

function find(
  text: string,
  readers: Readers,
  tenant: { readonly name: string; readonly hash: bigint },
): Found | Failure {
  const handle = parseHandle(text)
  if (handle === undefined) return INVALID_FORMAT
  const found =
    handle.kind === 'stable'
      ? readers.find(handle.segmentId, handle.docId)
      : readers.at(handle.segmentIndex, handle.docId)
  if (found === undefined) return NO_SEGMENT
  const { segment, position: segmentIndex, docId } = found
  if (docId === undefined) return NO_DOCUMENT
  const { digest, ref } = segment
  // Neither a document's description nor a replaced chunk is found here, although their bytes exist.
  const doc = readers.index.findDoc(ref.id, docId)
  const run = doc === undefined ? undefined : runOf(digest, docId)
  if (doc === undefined || run === undefined) return NO_DOCUMENT
  // The hash is what the index keeps; the name settles it should two names share a hash.
  if (doc.tenantHash !== tenant.hash || run.tenant !== tenant.name) return OTHER_TENANT
  return {
    segment,
    run,
    chunk: {
      segmentIndex,
      docId,
      chunkRef: readers.chunkRefOf(segmentIndex, docId),
      frameOffset: doc.frameOffset,
      tokenCount: doc.docLength,
    },
  }
}

/** Collects text in the order asked for until the budget is spent; the first is cut to fit, later ones are not. */
class TextCollector {
  readonly content: ChunkText[] = []
  tokens = 0
  leftOut = 0
  private readonly reader: ChunkReader

  constructor(
    { segments, hashes }: ExpandSources,
    private readonly budget = Number.POSITIVE_INFINITY,
  ) {
    this.reader = new ChunkReader(segments, hashes)
  }

  async add(handle: string, { segment, run, chunk }: Found): Promise<void> {
    // Once one did not fit none follows: a shorter, lower-ranked one would displace it.
    if (this.leftOut > 0 || this.tokens >= this.budget) {
      this.leftOut++
      return
    }
    const stored = await this.reader.read(segment, run, chunk.docId)
    const isFirst = this.content.length === 0
    const fits = this.tokens + storeTokens(stored.text) <= this.budget
    const text = fits ? stored.text : isFirst ? cutUtf8(stored.text, this.budget * 4) : ''
    if (text === '') {
      this.leftOut++
      return
    }
    this.tokens += storeTokens(text)
    const { title = null, url = null } = run.head ?? {}
    this.content.push({
      id: handle,
      chunkRef: chunk.chunkRef,
      text,
      title,
      source: url ?? run.doc,
      docId: run.doc,
      corpus: run.corpus,
      headingPath: stored.headingPath,
      chunkIndex: stored.chunkIndex,
      metadata: stored.metadata,
      isCut: !fits,
    })
  }
}
