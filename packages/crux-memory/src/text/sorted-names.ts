import type { ByteDictionary } from '../columns/byte-dictionary.js'

const MAX_BUCKET = 1024

/**
 * Entries of a dictionary in the order of their bytes, for ranges by prefix.
 *
 * A list of sorted buckets: an insertion moves at most 1,024 integers.
 */
export class SortedNames {
  private readonly buckets: number[][] = [[]]

  constructor(private readonly names: ByteDictionary) {}

  /** @param entry - Not there yet. */
  add(entry: number): void {
    const index = this.lastBucketBelow((first) => this.names.compare(first, entry) <= 0)
    const bucket = this.buckets[index] as number[] // the search stays within the list
    bucket.splice(
      lowerBound(bucket, (other) => this.names.compare(other, entry) < 0),
      0,
      entry,
    )
    if (bucket.length > MAX_BUCKET) {
      this.buckets.splice(index + 1, 0, bucket.splice(MAX_BUCKET / 2))
    }
  }

  /** Entries that start with a prefix, in order, in pieces of at most 1,024; copies. */
  startingWith(prefix: string): number[][] {
    const bytes = Buffer.from(prefix)
    const isBelow = (entry: number): boolean => this.names.compareBytes(entry, bytes) < 0
    const isBelowOrIn = (entry: number): boolean =>
      isBelow(entry) || this.names.startsWith(entry, bytes)
    const pieces: number[][] = []
    for (let index = this.lastBucketBelow(isBelow); index < this.buckets.length; index++) {
      const bucket = this.buckets[index] as number[] // below the length
      const start = lowerBound(bucket, isBelow)
      const end = lowerBound(bucket, isBelowOrIn)
      if (end > start) pieces.push(bucket.slice(start, end))
      if (end < bucket.length) break
    }
    return pieces
  }

  /** Last bucket whose first entry satisfies `isBelow`, else the first bucket. */
  private lastBucketBelow(isBelow: (first: number) => boolean): number {
    const found = lowerBound(this.buckets, (bucket) => {
      const first = bucket[0]
      return first !== undefined && isBelow(first)
    })
    return Math.max(found - 1, 0)
  }
}

/** How many leading items satisfy `isBelow`, which holds for a prefix of the list. */
function lowerBound<T>(items: readonly T[], isBelow: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}
