import type { JournalRecord, Position } from './journal.js'

/** One `follow` call. */
export class Follower {
  private failure: { readonly error: unknown } | undefined

  constructor(
    /** Position of the last record applied. */
    public at: Position,
    private readonly apply: (record: JournalRecord, at: Position) => void,
    readonly signal: AbortSignal,
  ) {}

  /** True once it was ended or has failed: it takes no more records. */
  get isOver(): boolean {
    return this.signal.aborted || this.failure !== undefined
  }

  /** Apply a record unless this follower has had it or is over. A failure ends it. */
  take(record: JournalRecord, at: Position): void {
    if (at <= this.at || this.isOver) return
    this.at = at
    try {
      this.apply(record, at)
    } catch (error) {
      this.failure = { error }
    }
  }

  /** @throws what `apply` threw, if it did. */
  throwFailure(): void {
    if (this.failure !== undefined) throw this.failure.error
  }
}

/** The followers of one stream that have caught up and get new records as they become durable. */
export class LiveFollowers {
  private readonly followers = new Set<Follower>()

  add(follower: Follower): void {
    if (follower.isOver) return
    this.followers.add(follower)
    follower.signal.addEventListener('abort', () => this.followers.delete(follower), { once: true })
  }

  /**
   * Give the records of one append to every follower. One that fails is dropped: it must not go
   * on with a record missing.
   *
   * @throws what the first failing one threw, after the others have had the records.
   */
  give(records: readonly JournalRecord[], positions: readonly Position[]): void {
    let failed: Follower | undefined
    for (const follower of this.followers) {
      for (let place = 0; place < records.length; place++) {
        follower.take(records[place] as JournalRecord, positions[place] as Position) // below the length
      }
      if (!follower.isOver) continue
      this.followers.delete(follower)
      failed ??= follower
    }
    failed?.throwFailure()
  }

  clear(): void {
    this.followers.clear()
  }
}
