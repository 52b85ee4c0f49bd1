import type { CcxiReader } from 'crux-segment'
import { isHidden } from './indexed-segment.js'
import { lowerBound } from './lower-bound.js'
import type { PostingArrays, TermList } from './term-list.js'

/** Room beyond what a continued list needs, so that the next segment need not copy it again. */
const SPARE = 1.25

/** Whether a document of a segment is the tenant's. */
export type Owns = (docId: number) => boolean

/** Postings of a list in the making: decoded ones, and those of an earlier list. */
export class PostingBuffer implements PostingArrays {
  docs: Uint32Array
  tfs: Uint16Array
  length = 0

  /** @param room - Most postings that will be written, unless {@link startWith} is called. */
  constructor(room: number) {
    this.docs = new Uint32Array(room)
    this.tfs = new Uint16Array(room)
  }

  /**
   * A buffer that starts with the postings of an earlier list, in its arrays if they have room.
   *
   * @param more - Most postings that will be written behind them.
   */
  static after(earlier: TermList, more: number): PostingBuffer {
    const need = earlier.length + more
    const buffer = new PostingBuffer(0)
    if (need <= earlier.docs.length && earlier.claimSpare()) {
      buffer.docs = earlier.docs
      buffer.tfs = earlier.tfs
    } else if (more === 0) {
      buffer.docs = earlier.docs.subarray(0, need)
      buffer.tfs = earlier.tfs.subarray(0, need)
    } else {
      buffer.docs = new Uint32Array(Math.ceil(need * SPARE))
      buffer.tfs = new Uint16Array(buffer.docs.length)
      buffer.docs.set(earlier.docs.subarray(0, earlier.length))
      buffer.tfs.set(earlier.tfs.subarray(0, earlier.length))
    }
    buffer.length = earlier.length
    return buffer
  }

  /**
   * Decode a term of one segment and keep what can be found and is the tenant's.
   *
   * @param base - First number of the segment's documents.
   * @param owns - Undefined when all of them are the tenant's.
   * @returns Documents that hold the term and can be found, whoever they belong to.
   */
  decode(
    reader: CcxiReader,
    index: number,
    base: number,
    hidden: Uint8Array | undefined,
    owns: Owns | undefined,
  ): number {
    const from = this.length
    const { docs, tfs } = this
    const to = from + reader.decodeInto(index, docs, tfs, from)
    if (hidden === undefined && owns === undefined) {
      if (base > 0) shift(docs, from, to, base)
      this.length = to
      return to - from
    }
    let visible = 0
    let kept = from
    for (let i = from; i < to; i++) {
      const doc = docs[i] as number // below `to`, which is within the arrays
      if (isHidden(hidden, doc)) continue
      visible += 1
      if (owns !== undefined && !owns(doc)) continue
      docs[kept] = base + doc
      tfs[kept] = tfs[i] as number
      kept += 1
    }
    this.length = kept
    return visible
  }

  /**
   * Copy one segment's postings of an earlier list, but for those hidden since.
   *
   * @param oldBase - First number of the segment's documents there.
   * @param count - Documents of the segment.
   * @param base - Their first number here.
   * @returns Postings kept.
   */
  copyFrom(
    earlier: TermList,
    oldBase: number,
    count: number,
    base: number,
    hidden: Uint8Array | undefined,
  ): number {
    const start = lowerBound(earlier.docs, 0, earlier.length, oldBase)
    const end = lowerBound(earlier.docs, start, earlier.length, oldBase + count)
    const { docs, tfs } = this
    let kept = this.length
    for (let i = start; i < end; i++) {
      const doc = (earlier.docs[i] as number) - oldBase // `end` is within the list
      if (isHidden(hidden, doc)) continue
      docs[kept] = base + doc
      tfs[kept] = earlier.tfs[i] as number
      kept += 1
    }
    const copied = kept - this.length
    this.length = kept
    return copied
  }

  /** Give room back when much of it was not needed. */
  trim(): void {
    if (this.length > this.docs.length * 0.75) return
    this.docs = this.docs.slice(0, this.length)
    this.tfs = this.tfs.slice(0, this.length)
  }

  /** Postings of documents from `first` on and below `end`. */
  countBetween(first: number, end: number): number {
    const start = lowerBound(this.docs, 0, this.length, first)
    return lowerBound(this.docs, start, this.length, end) - start
  }
}

function shift(docs: Uint32Array, from: number, to: number, base: number): void {
  for (let i = from; i < to; i++) docs[i] = (docs[i] as number) + base
}
