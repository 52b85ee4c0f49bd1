/** First place from `from` on whose document is at least `doc`; `to` when there is none. */
export function lowerBound(docs: Uint32Array, from: number, to: number, doc: number): number {
  let first = from
  let last = to
  while (first < last) {
    const middle = (first + last) >>> 1
    if ((docs[middle] as number) < doc) first = middle + 1
    else last = middle
  }
  return first
}
