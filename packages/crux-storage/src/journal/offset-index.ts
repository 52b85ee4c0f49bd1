import type { Position } from './journal.js'

/** A point between two appends of a journal file. */
export interface Mark {
  /** Position of the last record before the point; 0 at the start of the file. */
  readonly last: Position
  readonly offset: number
}

const SPACING_BYTES = 256 * 1024

/** Remembers a {@link Mark} every quarter of a megabyte, so that a position is found without reading the file from its start. */
export class OffsetIndex {
  private readonly marks: Mark[]

  /** @param start - First known mark after the start of the file, if reading began later. */
  constructor(start?: Mark) {
    const zero = { last: 0, offset: 0 }
    this.marks = start === undefined || start.offset === 0 ? [zero] : [zero, start]
  }

  /** Note a point, later than all before it; most are not kept. */
  note(last: Position, offset: number): void {
    const newest = this.marks.at(-1)
    if (newest === undefined || offset - newest.offset >= SPACING_BYTES) {
      this.marks.push({ last, offset })
    }
  }

  /** The newest mark with no record after `at` before it, and the one after that. */
  around(at: Position): { readonly before: Mark; readonly next: Mark | undefined } {
    let low = 0
    let high = this.marks.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.marks[middle]?.last ?? 0) <= at) low = middle
      else high = middle
    }
    return { before: this.marks[low] ?? { last: 0, offset: 0 }, next: this.marks[high] }
  }
}
