import type { CcxiReader } from 'crux-segment'
import { type Analyser, analyserOf } from '../analyser/analyser.js'

/** One segment of an index as it is at one time; replaced, not changed, when documents are hidden. */
export interface IndexedSegment {
  readonly key: string
  /** Tells the segments of an index apart, also those that had the same key one after the other. */
  readonly serial: number
  readonly reader: CcxiReader
  /** Version of the analyser that gave its terms. */
  readonly version: Analyser['version']
  /** Tokens of each document, by number. */
  readonly lengths: Uint16Array
  /** Hashes of the owners of its documents. */
  readonly tenants: ReadonlySet<bigint>
  /** One bit per document, set where it is hidden; undefined when none is. */
  readonly hidden: Uint8Array | undefined
  /** Documents that can be found. */
  readonly docs: number
  /** Tokens of the documents that can be found. */
  readonly tokens: number
}

/** Documents read between two looks at the clock. */
const SLICE = 4096

/**
 * Read the facts that every query needs from a segment's index: one step through its documents.
 * Yields where a pause may be taken.
 *
 * @throws {CruxError} `ANALYSER_UNKNOWN`.
 */
export function* readSegment(
  key: string,
  serial: number,
  reader: CcxiReader,
): Generator<void, IndexedSegment> {
  const { version } = analyserOf(reader.header.tokenizerVersion)
  const lengths = new Uint16Array(reader.totalFrames)
  const tenants = new Set<bigint>()
  let lastLow = 0
  let lastHigh = 0
  let docs = 0
  let tokens = 0
  for (let doc = 0; doc < lengths.length; doc++) {
    if (doc > 0 && doc % SLICE === 0) yield
    if (!isIndexed(reader, doc)) continue
    const length = reader.docLength(doc)
    const low = reader.docTenantLow(doc)
    const high = reader.docTenantHigh(doc)
    if (low !== lastLow || high !== lastHigh || docs === 0) {
      tenants.add(reader.docTenantHash(doc))
      lastLow = low
      lastHigh = high
    }
    lengths[doc] = length
    tokens += length
    docs += 1
  }
  return { key, serial, reader, version, lengths, tenants, hidden: undefined, docs, tokens }
}

/** False for a frame that was never indexed: its entry is all zero. */
export function isIndexed(reader: CcxiReader, doc: number): boolean {
  return (
    reader.docFrameOffset(doc) !== 0 ||
    reader.docLength(doc) !== 0 ||
    reader.docTenantLow(doc) !== 0 ||
    reader.docTenantHigh(doc) !== 0
  )
}

/** The segment with more documents hidden; numbers that it does not hold are passed over. */
export function hideDocs(segment: IndexedSegment, docIds: Iterable<number>): IndexedSegment {
  const { reader, lengths } = segment
  const hidden = segment.hidden?.slice() ?? new Uint8Array(Math.ceil(lengths.length / 8))
  let { docs, tokens } = segment
  for (const doc of docIds) {
    const isDoc = Number.isInteger(doc) && doc >= 0 && doc < lengths.length
    if (!isDoc || isHidden(hidden, doc)) continue
    hidden[doc >>> 3] = (hidden[doc >>> 3] as number) | (1 << (doc & 7))
    if (!isIndexed(reader, doc)) continue
    docs -= 1
    tokens -= lengths[doc] as number // `doc` is below the length
  }
  return { ...segment, hidden, docs, tokens }
}

/** Whether a document's bit is set. */
export function isHidden(hidden: Uint8Array | undefined, doc: number): boolean {
  return hidden !== undefined && ((hidden[doc >>> 3] ?? 0) & (1 << (doc & 7))) !== 0
}
