const MAX_BUCKET = 1024

/**
 * A set of texts in the order of their UTF-16 units, read piece by piece.
 *
 * A list of sorted buckets: adding moves at most 1,024 texts, and a reader that pauses between two
 * pieces goes on after the last text it got, whatever was added meanwhile.
 */
export class SortedKeys {
  private readonly buckets: string[][] = [[]]

  /** @param key - Not there yet. */
  add(key: string): void {
    const index = this.bucketOf(key)
    const bucket = this.buckets[index] as string[] // the search stays within the list
    bucket.splice(firstAbove(bucket, key), 0, key)
    if (bucket.length > MAX_BUCKET) {
      this.buckets.splice(index + 1, 0, bucket.splice(MAX_BUCKET / 2))
    }
  }

  /** The next texts from a place on, at most 1,024; empty at the end. The place need not be in the set. */
  from(place: string): readonly string[] {
    return this.piece(place, firstFrom)
  }

  /** Like {@link from}, without the place itself. */
  after(place: string): readonly string[] {
    return this.piece(place, firstAbove)
  }

  private piece(
    place: string,
    startIn: (sorted: readonly string[], key: string) => number,
  ): readonly string[] {
    for (let index = this.bucketOf(place); index < this.buckets.length; index++) {
      const bucket = this.buckets[index] as string[] // below the length
      const start = startIn(bucket, place)
      if (start < bucket.length) return bucket.slice(start)
    }
    return []
  }

  /** The last bucket that starts at or before a text, else the first. */
  private bucketOf(key: string): number {
    let low = 0
    let high = this.buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const first = this.buckets[middle]?.[0]
      if (first !== undefined && first <= key) low = middle + 1
      else high = middle
    }
    return Math.max(low - 1, 0)
  }
}

/** Place of the first text that is not below `key` in a sorted list of different texts. */
function firstFrom(sorted: readonly string[], key: string): number {
  const above = firstAbove(sorted, key)
  return sorted[above - 1] === key ? above - 1 : above
}

/** Place of the first text above `key` in a sorted list. */
function firstAbove(sorted: readonly string[], key: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as string) <= key)
      low = middle + 1 // below the length
    else high = middle
  }
  return low
}
