/** A set of row numbers below a fixed count. */
export class RowSet {
  /**
   * @param limit - Rows from here on are left out.
   * @param words - Zeroes, at least as many as {@link wordsOf} says; the set owns them.
   */
  constructor(
    readonly limit: number,
    readonly words = new Int32Array(wordsOf(limit)),
  ) {}

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

function wordsOf(limit: number): number {
  return (limit + 31) >>> 5
}

/**
 * Lends the memory of row sets, one at a time.
 *
 * A set over a million facts takes 128 KB. Made anew for every query, sets make the engine collect all
 * its garbage every few hundred queries, for several milliseconds.
 */
export class RowSets {
  private spare: Int32Array<ArrayBuffer> | undefined

  /** An empty set. */
  take(limit: number): RowSet {
    const needed = wordsOf(limit)
    const { spare } = this
    if (spare === undefined || spare.length < needed) {
      // With room to grow, since the next query mostly comes after more facts.
      return new RowSet(limit, new Int32Array(needed + (needed >>> 3)))
    }
    this.spare = undefined
    return new RowSet(limit, spare.fill(0, 0, needed))
  }

  /** Take back a set that nobody reads any more. One that is never given back is merely garbage. */
  giveBack({ words }: RowSet): void {
    if (words.length >= (this.spare?.length ?? 0)) this.spare = words
  }
}
