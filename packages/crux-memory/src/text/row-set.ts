/** A set of row numbers below a fixed count. */
export class RowSet {
  private readonly words: Int32Array

  /** @param limit - Rows from here on are left out. */
  constructor(readonly limit: number) {
    this.words = new Int32Array((limit + 31) >>> 5)
  }

  add(row: number): void {
    if (row >= this.limit) return
    this.words[row >>> 5] = (this.words[row >>> 5] as number) | (1 << (row & 31)) // below the limit
  }

  has(row: number): boolean {
    return row < this.limit && ((this.words[row >>> 5] as number) & (1 << (row & 31))) !== 0
  }

  /** Largest row of the set below `row`; -1 when there is none. */
  previous(row: number): number {
    let index = (row - 1) >> 5
    if (index < 0) return -1
    // Bits from `row` on are masked away in the first word only.
    let word = (this.words[index] as number) & (-1 >>> (31 - ((row - 1) & 31)))
    while (word === 0) {
      if (--index < 0) return -1
      word = this.words[index] as number
    }
    return (index << 5) + 31 - Math.clz32(word)
  }
}
