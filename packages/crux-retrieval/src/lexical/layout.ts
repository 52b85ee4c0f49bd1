import type { IndexedSegment } from './indexed-segment.js'

/**
 * Which documents the numbers of a view stand for. Holds no segment, so that a list that outlives a
 * segment does not keep its bytes in memory.
 */
export class Layout {
  /** First number of each segment's documents, and after the last the number of documents. */
  readonly bases: Float64Array
  readonly serials: readonly number[]
  readonly hidden: readonly (Uint8Array | undefined)[]
  private slots: Map<number, number> | undefined
  private lastPrefix: Layout | undefined

  constructor(segments: readonly IndexedSegment[]) {
    this.bases = new Float64Array(segments.length + 1)
    let base = 0
    for (const [i, { lengths }] of segments.entries()) {
      this.bases[i] = base
      base += lengths.length
    }
    this.bases[segments.length] = base
    this.serials = segments.map(({ serial }) => serial)
    this.hidden = segments.map(({ hidden }) => hidden)
  }

  /** Documents numbered. */
  get size(): number {
    return this.bases[this.serials.length] as number // the last of them
  }

  /** Place of the segment with this serial number; undefined when it is not among them. */
  slotOf(serial: number): number | undefined {
    this.slots ??= new Map(this.serials.map((each, slot) => [each, slot]))
    return this.slots.get(serial)
  }

  /** Place of the segment that holds a document; `doc` is below `size`. */
  slotAt(doc: number): number {
    let first = 0
    let last = this.serials.length - 1
    while (first < last) {
      const middle = (first + last + 1) >>> 1
      if ((this.bases[middle] as number) <= doc) first = middle
      else last = middle - 1
    }
    return first
  }

  /** True when numbers of `earlier` stand for the same documents here, none of them hidden since. */
  continues(earlier: Layout): boolean {
    if (earlier === this || earlier === this.lastPrefix) return true
    const count = earlier.serials.length
    if (count > this.serials.length) return false
    for (let slot = 0; slot < count; slot++) {
      if (earlier.serials[slot] !== this.serials[slot]) return false
      if (earlier.hidden[slot] !== this.hidden[slot]) return false
    }
    this.lastPrefix = earlier
    return true
  }
}
