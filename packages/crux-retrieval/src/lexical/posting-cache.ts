/** A decoded list that may be dropped and decoded again. */
export interface DroppableList {
  /** Size in bytes. */
  readonly bytes: number
  /** Set by whoever uses the list; such a list survives one more round. */
  wasUsed: boolean
  /** Take the list out of where it is looked up. */
  drop(): void
}

/** Bounds the memory of decoded lists; those not used lately go first. */
export class PostingCache {
  // A Set walks its members in the order in which they were added.
  private readonly lists = new Set<DroppableList>()
  bytes = 0

  /** @param maxBytes - Bound on the total; the newest list is kept even when it alone is larger. */
  constructor(private readonly maxBytes: number) {}

  /** Count a list in, dropping others to make room. */
  add(list: DroppableList): void {
    this.bytes += list.bytes
    // Lists that were used go to the back once, with the mark taken off, so that the walk ends.
    for (const oldest of this.lists) {
      if (this.bytes <= this.maxBytes) break
      this.lists.delete(oldest)
      if (oldest.wasUsed) {
        oldest.wasUsed = false
        this.lists.add(oldest)
      } else {
        oldest.drop()
        this.bytes -= oldest.bytes
      }
    }
    this.lists.add(list)
  }

  /** Count a list out without dropping it; one that is not counted is passed over. */
  remove(list: DroppableList): void {
    if (this.lists.delete(list)) this.bytes -= list.bytes
  }
}
