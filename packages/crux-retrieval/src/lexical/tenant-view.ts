import type { Hashes } from 'crux-segment'
import type { Analyser } from '../analyser/analyser.js'
import { type IndexedSegment, isHidden } from './indexed-segment.js'
import { Layout } from './layout.js'
import { PostingBuffer } from './posting-buffer.js'
import type { PostingCache } from './posting-cache.js'
import { type LengthNorm, lengthNormOf, TermList } from './term-list.js'

/** Version of the rules that gave a segment's terms. */
export type AnalyserVersion = Analyser['version']

/** The segments of an index at one time, with the statistics that all its tenants share. */
export interface Corpus {
  /** Told apart from every other corpus of the index. */
  readonly snapshot: number
  /** In the order in which they were added. */
  readonly segments: readonly IndexedSegment[]
  readonly docs: number
  readonly tokens: number
  /** Mean tokens per document; 1 when there are none. */
  readonly meanLength: number
  /** Version of the analyser whose words are counted for coverage. */
  readonly version: AnalyserVersion
  /** Whether there are segments of version 1 beside those of `version`. */
  readonly isMixed: boolean
}

/** Lists of one tenant by version of the analyser and term; they outlive the corpus they were made for. */
export class TenantLists {
  /** The view that may derive lists from those that are here. */
  owner: TenantView | undefined
  private readonly first = new Map<string, TermList>()
  private readonly second = new Map<string, TermList>()

  of(version: AnalyserVersion): Map<string, TermList> {
    return version === 1 ? this.first : this.second
  }
}

/** Where the postings of a term are in one segment. */
interface Source {
  readonly segment: IndexedSegment
  /** Number of the term there. */
  readonly index: number
  /** Place of the segment in the view's layout; undefined when it holds nothing of the tenant. */
  readonly slot: number | undefined
}

/**
 * What one tenant sees of a corpus. Documents are numbered from 0 through the segments that hold
 * any of the tenant's, so that a query's accumulator is no larger than it needs to be.
 */
export class TenantView {
  /** Numbers in use. */
  readonly size: number
  readonly norm: LengthNorm
  private readonly parts: readonly IndexedSegment[]
  private readonly layout: Layout
  private readonly low: number
  private readonly high: number
  private allLengths: Uint16Array | undefined

  constructor(
    readonly corpus: Corpus,
    tenant: bigint,
    private readonly lists: TenantLists,
    private readonly cache: PostingCache,
  ) {
    this.parts = corpus.segments.filter((segment) => segment.tenants.has(tenant))
    this.layout = new Layout(this.parts)
    this.size = this.layout.size
    this.norm = lengthNormOf(corpus.meanLength)
    this.low = Number(tenant & 0xffffffffn)
    this.high = Number(tenant >> 32n)
    lists.owner = this
  }

  /** Tokens of each document, by number. */
  get lengths(): Uint16Array {
    this.allLengths ??= this.joinLengths()
    return this.allLengths
  }

  /** A term's list if it has been read. */
  find(version: AnalyserVersion, term: string): TermList | undefined {
    const list = this.lists.of(version).get(term)
    if (list === undefined || !this.isUsable(list)) return undefined
    list.wasUsed = true
    return list
  }

  /**
   * Read a term's list, from the postings of an earlier list where they are still right. Yields after
   * each segment whose postings were read.
   */
  *read(version: AnalyserVersion, term: string, hashes: Hashes): Generator<void, TermList> {
    const lists = this.lists.of(version)
    const isOwner = this.lists.owner === this
    const earlier = isOwner ? lists.get(term) : undefined
    const sources = this.sourcesOf(version, term, hashes)
    const continued =
      earlier !== undefined && this.layout.continues(earlier.layout) ? earlier : undefined
    const buffer =
      continued === undefined
        ? new PostingBuffer(mostPostings(sources, undefined))
        : PostingBuffer.after(continued, mostPostings(sources, continued.layout))
    let df = 0
    for (const source of sources) {
      const { segment, index, slot } = source
      if (slot === undefined && segment.hidden === undefined) {
        df += segment.reader.documentFrequency(index)
        continue
      }
      df += this.readSource(source, earlier, continued !== undefined, buffer)
      yield
    }
    if (continued === undefined) buffer.trim()
    const drop = () => {
      if (lists.get(term) === list) lists.delete(term)
    }
    const { snapshot } = this.corpus
    const list = new TermList(term, buffer, df, snapshot, this.layout, drop)
    if (continued !== undefined) list.inherit(continued)
    if (this.lists.owner !== this) return list
    const present = lists.get(term)
    if (present !== undefined) {
      if (this.isUsable(present)) return present // another query has read it meanwhile
      this.cache.remove(present)
    }
    lists.set(term, list)
    this.cache.add(list)
    return list
  }

  /** Whether a list is of this corpus, not of an earlier or later one. */
  private isUsable(list: TermList): boolean {
    return list.snapshot === this.corpus.snapshot
  }

  /** The segment and the number within it of a document of this view. */
  locate(doc: number): { readonly segment: IndexedSegment; readonly docId: number } {
    const slot = this.layout.slotAt(doc)
    const segment = this.parts[slot]
    if (segment === undefined || doc >= this.size)
      throw new RangeError(`document ${doc} of ${this.size}`)
    return { segment, docId: doc - (this.layout.bases[slot] as number) }
  }

  /** Number of a document of this view; undefined when its segment is not in it. */
  numberOf(segment: IndexedSegment, docId: number): number | undefined {
    const slot = this.layout.slotOf(segment.serial)
    if (slot === undefined || !(docId in segment.lengths)) return undefined
    return (this.layout.bases[slot] as number) + docId
  }

  private sourcesOf(version: AnalyserVersion, term: string, hashes: Hashes): Source[] {
    const hash = hashes.xxh64Text(term)
    const high = Number(hash >> 32n)
    const low = Number(hash & 0xffffffffn)
    const sources: Source[] = []
    for (const segment of this.corpus.segments) {
      if (segment.version !== version) continue
      const index = segment.reader.findHalves(high, low)
      if (index < 0) continue
      sources.push({ segment, index, slot: this.layout.slotOf(segment.serial) })
    }
    return sources
  }

  /** @returns Documents of all tenants that hold the term in this segment and can be found. */
  private readSource(
    { segment, index, slot }: Source,
    earlier: TermList | undefined,
    isContinued: boolean,
    buffer: PostingBuffer,
  ): number {
    const { reader, hidden, tenants, lengths } = segment
    if (slot === undefined) return countVisible(reader.postings(index).docIds, hidden)
    const isShared = tenants.size > 1
    const base = this.layout.bases[slot] as number
    const oldSlot = earlier?.layout.slotOf(segment.serial)
    if (earlier === undefined || oldSlot === undefined) {
      const owns = isShared ? (doc: number) => this.owns(segment, doc) : undefined
      return buffer.decode(reader, index, base, hidden, owns)
    }
    const kept = isContinued
      ? buffer.countBetween(base, base + lengths.length)
      : buffer.copyFrom(
          earlier,
          earlier.layout.bases[oldSlot] as number,
          lengths.length,
          base,
          hidden,
        )
    if (!isShared) return kept
    if (hidden === undefined) return reader.documentFrequency(index)
    return countVisible(reader.postings(index).docIds, hidden)
  }

  /** Both halves of the owner's hash, the half that tells most tenants apart first. */
  private owns({ reader }: IndexedSegment, doc: number): boolean {
    return reader.docTenantLow(doc) === this.low && reader.docTenantHigh(doc) === this.high
  }

  private joinLengths(): Uint16Array {
    const [only] = this.parts
    if (only !== undefined && this.parts.length === 1) return only.lengths
    const lengths = new Uint16Array(this.size)
    for (const [slot, part] of this.parts.entries()) {
      lengths.set(part.lengths, this.layout.bases[slot])
    }
    return lengths
  }
}

/** Most postings that the sources give to a list, but for those of segments that `known` has. */
function mostPostings(sources: readonly Source[], known: Layout | undefined): number {
  let postings = 0
  for (const { segment, index, slot } of sources) {
    if (slot === undefined || known?.slotOf(segment.serial) !== undefined) continue
    postings += segment.reader.documentFrequency(index)
  }
  return postings
}

function countVisible(docIds: Uint32Array, hidden: Uint8Array | undefined): number {
  let visible = 0
  for (const doc of docIds) if (!isHidden(hidden, doc)) visible += 1
  return visible
}
