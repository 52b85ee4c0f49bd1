import type { Fact } from '../fact.js'

const SLOTS = 512
// Longer values are read again each time: copying them is a small part of sending them.
const MAX_VALUE_LENGTH = 4096

/**
 * Facts that were read lately, by row: at most 512 of them, with values of at most 4,096 characters.
 *
 * A row has one slot; whoever changes a row must forget it.
 */
export class RecentFacts {
  private readonly rows = new Int32Array(SLOTS).fill(-1)
  private readonly facts: (Fact | undefined)[] = []

  /** The fact of a row, read when it is not there. */
  get(row: number, read: (row: number) => Fact): Fact {
    const slot = row % SLOTS
    const kept = this.rows[slot] === row ? this.facts[slot] : undefined
    if (kept !== undefined) return kept
    const fact = read(row)
    if (fact.value.length <= MAX_VALUE_LENGTH) {
      this.rows[slot] = row
      this.facts[slot] = fact
    }
    return fact
  }

  /** Read a row anew the next time. */
  forget(row: number): void {
    const slot = row % SLOTS
    if (this.rows[slot] === row) this.rows[slot] = -1
  }
}
