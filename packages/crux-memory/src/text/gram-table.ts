import { wholeCount } from '../columns/column.js'
import { bytesOf } from '../columns/hash-table.js'
import { type Part, partOf } from '../columns/parts.js'

const FIRST_SLOTS = 64

/**
 * Numbers 24-bit codes from 0 in the order in which they are first seen.
 *
 * Open addressing in one array of code + 1 and number; a Map takes several times as long, and this
 * runs once for every byte of every new word. There are at most some hundred thousand codes, so that
 * growing stays below a few milliseconds.
 */
export class GramTable {
  private slots = new Int32Array(FIRST_SLOTS * 2)
  private used = 0

  /** Distinct codes. */
  get size(): number {
    return this.used
  }

  /** Number of a code; -1 when it was never added. */
  find(code: number): number {
    const { slots } = this
    const mask = slots.length - 1
    for (let at = slotOf(code) & mask; ; at = (at + 2) & mask) {
      const kept = slots[at] as number // `at` is masked
      if (kept === code + 1) return slots[at + 1] as number
      if (kept === 0) return -1
    }
  }

  /** Add a code that is not there yet; returns its number. */
  add(code: number): number {
    if (this.used * 4 >= this.slots.length) this.grow()
    place(this.slots, code, this.used)
    return this.used++
  }

  /** Each code and its number, in no order. */
  *entries(): Iterable<readonly [code: number, number: number]> {
    for (let at = 0; at < this.slots.length; at += 2) {
      const kept = this.slots[at] as number // `at` is below the length
      if (kept !== 0) yield [kept - 1, this.slots[at + 1] as number]
    }
  }

  /** All codes; none may be added while the part is read. */
  part(name: string): Part {
    return partOf(name, bytesOf(this.slots))
  }

  /** Room for the codes that {@link part} gave, to be followed by {@link count}. */
  room(bytes: number): Iterable<Uint8Array> {
    this.slots = new Int32Array(wholeCount(bytes, Int32Array.BYTES_PER_ELEMENT))
    return [bytesOf(this.slots)]
  }

  /** Count the codes that were loaded. */
  count(): void {
    this.used = 0
    for (let at = 0; at < this.slots.length; at += 2) if (this.slots[at] !== 0) this.used++
  }

  private grow(): void {
    const larger = new Int32Array(this.slots.length * 2)
    for (let at = 0; at < this.slots.length; at += 2) {
      const kept = this.slots[at] as number
      if (kept !== 0) place(larger, kept - 1, this.slots[at + 1] as number)
    }
    this.slots = larger
  }
}

function slotOf(code: number): number {
  const h = Math.imul(code, 0x9e3779b1)
  return (h ^ (h >>> 15)) << 1
}

function place(slots: Int32Array, code: number, number: number): void {
  const mask = slots.length - 1
  let at = slotOf(code) & mask
  while (slots[at] !== 0) at = (at + 2) & mask
  slots[at] = code + 1
  slots[at + 1] = number
}
