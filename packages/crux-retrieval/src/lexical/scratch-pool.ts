/** Arrays of zeros to work in, shared by the queries of an index. */
export interface ScratchPool<T> {
  /** An array of at least `size` zeros. */
  take(size: number): T
  /** Give an array back once it holds zeros only. */
  give(array: T): void
}

/**
 * A pool that keeps one array; queries that overlap because of pauses make their own.
 *
 * @param make - Makes an array of zeros.
 */
export function createScratchPool<T extends { readonly length: number }>(
  make: (size: number) => T,
): ScratchPool<T> {
  let free: T | undefined
  return {
    take: (size) => {
      const array = free
      free = undefined
      if (array !== undefined && array.length >= size) return array
      // Some room to grow, so that a growing index does not make a new array for each query.
      return make(Math.ceil(size * 1.25))
    },
    give: (array) => {
      if (free === undefined || free.length < array.length) free = array
    },
  }
}
