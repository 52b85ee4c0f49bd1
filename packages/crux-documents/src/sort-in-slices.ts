import type { Pause } from 'crux-types'

const PIECE = 1024

/**
 * Sort many things without holding the event loop: pieces are sorted, then merged in passes.
 *
 * @param pause - Awaited between pieces of about a thousand.
 * @returns A new array; equal things keep their order.
 */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  pause: Pause,
): Promise<T[]> {
  let sorted: T[] = []
  for (let at = 0; at < items.length; at += PIECE) {
    sorted.push(...items.slice(at, at + PIECE).sort(compare))
    await pause()
  }
  for (let width = PIECE; width < items.length; width *= 2) {
    const merged: T[] = []
    for (let start = 0; start < sorted.length; start += 2 * width) {
      const middle = Math.min(start + width, sorted.length)
      const end = Math.min(start + 2 * width, sorted.length)
      let left = start
      let right = middle
      while (left < middle || right < end) {
        // Inside the bounds just checked, so both reads give items.
        const fromLeft =
          right >= end || (left < middle && compare(sorted[left] as T, sorted[right] as T) <= 0)
        merged.push(sorted[fromLeft ? left++ : right++] as T)
        if (merged.length % PIECE === 0) await pause()
      }
    }
    sorted = merged
  }
  return sorted
}
