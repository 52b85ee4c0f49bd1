/** Numbers by which rows are ordered: greater first, then the second, then the newer row. */
export interface RowRank {
  readonly first: number
  readonly second: number
  readonly row: number
}

/**
 * Keeps the best rows of any number of them.
 *
 * @param capacity - Most rows kept; a heap of that size is all the memory it takes.
 */
export class TopRows {
  private readonly heap: RowRank[] = []

  constructor(private readonly capacity: number) {}

  /** Whether a row with these ranks would be kept; cheap, so ask before making one. */
  wouldKeep(first: number, second: number, row: number): boolean {
    if (this.heap.length < this.capacity) return true
    const worst = this.heap[0]
    return worst !== undefined && isBetter(first, second, row, worst)
  }

  /** Add a row that {@link wouldKeep} accepts. */
  add(rank: RowRank): void {
    const { heap } = this
    if (heap.length < this.capacity) {
      heap.push(rank)
      this.siftUp(heap.length - 1)
    } else {
      heap[0] = rank
      this.siftDown()
    }
  }

  /** The rank that a row must exceed to be kept; undefined while there is room. */
  get bar(): RowRank | undefined {
    return this.heap.length < this.capacity ? undefined : this.heap[0]
  }

  /** The rows kept, best first. */
  sorted(): readonly RowRank[] {
    return [...this.heap].sort((a, b) => (isBetter(a.first, a.second, a.row, b) ? -1 : 1))
  }

  private siftUp(from: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (!this.isWorse(at, parent)) return
      this.swap(at, parent)
      at = parent
    }
  }

  private siftDown(): void {
    const { heap } = this
    let at = 0
    for (;;) {
      let worst = at
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && this.isWorse(child, worst)) worst = child
      }
      if (worst === at) return
      this.swap(at, worst)
      at = worst
    }
  }

  private isWorse(a: number, b: number): boolean {
    const { first, second, row } = this.heap[b] as RowRank // both are below the length
    return isBetter(first, second, row, this.heap[a] as RowRank)
  }

  private swap(a: number, b: number): void {
    const kept = this.heap[a] as RowRank
    this.heap[a] = this.heap[b] as RowRank
    this.heap[b] = kept
  }
}

/** Whether the three numbers come before `other`. */
export function isBetter(first: number, second: number, row: number, other: RowRank): boolean {
  if (first !== other.first) return first > other.first
  if (second !== other.second) return second > other.second
  return row > other.row
}
