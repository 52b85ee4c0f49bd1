import type { Hashes } from 'crux-segment'
import type { SegmentStore } from 'crux-storage'
import { CruxError, type Pause, type TokenCounter } from 'crux-types'
import type {
  ChunkText,
  ExpandAnswer,
  ExpandError,
  ExpandErrorKind,
  ExpandedChunk,
  ExpandMark,
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
  readonly tokenCounter: TokenCounter
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
 * @throws {CruxError} `EXPAND_TOO_LARGE`, `SEGMENT_CORRUPT`. @throws {RangeError} When a number is not an integer from 0.
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
  const text = new TextCollector(sources, query, pause)
  for (const [place, handle] of query.handles.entries()) {
    const found = find(handle, sources.readers, tenant)
    if ('error' in found) {
      errors.push({ handle, ...found })
    } else {
      chunks.push(found.chunk)
      if (query.includeText) await text.add(place, handle, found)
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
    ...(text.content.length > 0 && text.next !== undefined && { next: text.next }),
  }
}

function checkQuery({ handles, tokenBudget, firstByte }: ExpandQuery): void {
  if (handles.length > MAX_HANDLES) {
    throw new CruxError<DocumentsErrorCode>(
      'EXPAND_TOO_LARGE',
      `${handles.length} handles, at most ${MAX_HANDLES} are expanded at once; ask for fewer`,
      { data: { limit: MAX_HANDLES, got: handles.length } },
    )
  }
  for (const [name, value] of Object.entries({ tokenBudget, firstByte })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new RangeError(`${name}: expected an integer from 0, got ${value}`)
    }
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
  /** First text that was not given, or not whole. */
  next: ExpandMark | undefined
  private readonly reader: ChunkReader
  private readonly budget: number
  private readonly firstByte: number

  private readonly counter: TokenCounter

  constructor(
    { segments, hashes, tokenCounter }: ExpandSources,
    query: ExpandQuery,
    private readonly pause: Pause,
  ) {
    this.reader = new ChunkReader(segments, hashes)
    this.counter = tokenCounter
    this.budget = query.tokenBudget ?? Number.POSITIVE_INFINITY
    this.firstByte = query.firstByte ?? 0
  }

  /** @param place - Of the handle, among those of the query. */
  async add(place: number, handle: string, { segment, run, chunk }: Found): Promise<void> {
    const fromByte = place === 0 ? this.firstByte : 0
    // Once one did not fit none follows: a shorter, lower-ranked one would displace it.
    if (this.next !== undefined || this.tokens >= this.budget) {
      this.leaveOut({ handle: place, byte: fromByte })
      return
    }
    const stored = await this.reader.read(segment, run, chunk.docId)
    const whole = fromByte === 0 ? stored.text : textFromByte(stored.text, fromByte)
    const isFirst = this.content.length === 0
    const { counter, pause } = this
    const cost = await counter.count(whole, pause)
    const fits = this.tokens + cost <= this.budget
    const text = fits ? whole : isFirst ? await counter.cut(whole, this.budget, pause) : ''
    if (text === '' && !fits) {
      this.leaveOut({ handle: place, byte: fromByte })
      return
    }
    this.tokens += fits ? cost : await counter.count(text, pause)
    if (!fits) this.next = { handle: place, byte: fromByte + Buffer.byteLength(text) }
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
      fromByte,
    })
  }

  private leaveOut(mark: ExpandMark): void {
    this.leftOut++
    this.next ??= mark
  }
}

function textFromByte(text: string, byte: number): string {
  return Buffer.from(text).toString('utf8', byte)
}
