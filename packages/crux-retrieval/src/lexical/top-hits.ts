/**
 * The best few of many scored documents, with ties in favour of the lower number.
 *
 * A heap with the worst kept document on top, in two flat arrays.
 */
export class TopHits {
  private readonly scores: Float64Array
  private readonly docs: Uint32Array
  /** Documents kept. */
  size = 0
  /** A document that scores less than this cannot get in; equal ones still may. */
  entry: number

  /** @param limit - Most documents kept; integer >= 0. */
  constructor(readonly limit: number) {
    this.scores = new Float64Array(limit)
    this.docs = new Uint32Array(limit)
    this.entry = limit === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  }

  /** Keep a document if it is among the best so far. Callers may skip those below `entry`. */
  offer(doc: number, score: number): void {
    if (this.size < this.limit) {
      this.siftUp(this.size++, doc, score)
    } else if (this.limit > 0 && this.isWorse(0, doc, score)) {
      this.siftDown(this.size, doc, score)
    } else {
      return
    }
    if (this.size === this.limit) this.entry = this.scores[0] as number
  }

  /** Put the kept documents in order, best first; nothing may be offered after it. */
  sort(): void {
    for (let end = this.size - 1; end > 0; end--) {
      const doc = this.docs[end] as number // `end` is below `size`
      const score = this.scores[end] as number
      this.move(0, end)
      this.siftDown(end, doc, score)
    }
  }

  /** {@link sort} and give what is kept. */
  sorted(): { readonly doc: number; readonly score: number }[] {
    this.sort()
    return Array.from({ length: this.size }, (_, i) => ({
      doc: this.docAt(i),
      score: this.scoreAt(i),
    }))
  }

  /** Number of a kept document; `at` is below `size`. */
  docAt(at: number): number {
    return this.docs[at] as number
  }

  /** Score of a kept document; `at` is below `size`. */
  scoreAt(at: number): number {
    return this.scores[at] as number
  }

  /** True when the kept document at `at` ranks below this one. */
  private isWorse(at: number, doc: number, score: number): boolean {
    const kept = this.scores[at] as number
    return kept < score || (kept === score && (this.docs[at] as number) > doc)
  }

  private siftUp(from: number, doc: number, score: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (this.isWorse(parent, doc, score)) break
      this.move(parent, at)
      at = parent
    }
    this.scores[at] = score
    this.docs[at] = doc
  }

  /** Put a document on top of the heap of the first `size` and let it sink. */
  private siftDown(size: number, doc: number, score: number): void {
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= size) break
      const right = child + 1
      if (
        right < size &&
        this.isWorse(right, this.docs[child] as number, this.scores[child] as number)
      ) {
        child = right
      }
      if (!this.isWorse(child, doc, score)) break
      this.move(child, at)
      at = child
    }
    this.scores[at] = score
    this.docs[at] = doc
  }

  private move(from: number, to: number): void {
    this.scores[to] = this.scores[from] as number
    this.docs[to] = this.docs[from] as number
  }
}
