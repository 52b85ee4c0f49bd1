/**
 * The best few of many scored documents, with ties in favour of the lower number.
 *
 * A heap with the worst kept document on top, in two flat arrays.
 */
export class TopHits {
  private readonly scores: Float64Array
  private readonly docs: Uint32Array
  private size = 0
  /** A document that scores less than this cannot get in; equal ones still may. */
  entry = Number.NEGATIVE_INFINITY

  /** @param limit - Most documents kept; integer >= 0. */
  constructor(private readonly limit: number) {
    this.scores = new Float64Array(limit)
    this.docs = new Uint32Array(limit)
    if (limit === 0) this.entry = Number.POSITIVE_INFINITY
  }

  /** Keep a document if it is among the best so far. Callers may skip those below `entry`. */
  offer(doc: number, score: number): void {
    if (this.size < this.limit) {
      this.siftUp(this.size++, doc, score)
    } else if (this.limit > 0 && this.isWorse(0, doc, score)) {
      this.siftDown(doc, score)
    }
    if (this.size === this.limit && this.limit > 0) this.entry = this.scores[0] as number
  }

  /** Best first. */
  sorted(): { readonly doc: number; readonly score: number }[] {
    return Array.from({ length: this.size }, (_, i) => ({
      doc: this.docs[i] as number, // i is below `size`
      score: this.scores[i] as number,
    })).sort((a, b) => b.score - a.score || a.doc - b.doc)
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

  private siftDown(doc: number, score: number): void {
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= this.size) break
      const right = child + 1
      if (
        right < this.size &&
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
