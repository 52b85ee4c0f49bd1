import type { Journal, JournalRecord, Position } from 'crux-storage'

/** Follows one journal stream into a state, and says how far that is. */
export class StreamFollower {
  /** Newest position applied; 0 before the first. */
  applied: Position = 0
  private readonly following = new AbortController()
  private readonly waiting = new Map<() => void, Position>()

  constructor(
    private readonly journal: Journal,
    readonly stream: string,
  ) {}

  /**
   * Apply everything that is durable, and what comes later as it comes.
   *
   * @param apply - Gets the position only where the record has a key to compare it with.
   * @throws {CruxError} the journal's codes.
   */
  async start(
    apply: (record: JournalRecord, keyed: Position | undefined, at: Position) => void,
  ): Promise<void> {
    await this.journal.follow(
      this.stream,
      this.applied,
      (record, at) => {
        // Lines of other programs have no key.
        apply(record, record.key === '' ? undefined : at, at)
        this.applied = at
        for (const [resume, position] of this.waiting) {
          if (position > at) continue
          this.waiting.delete(resume)
          resume()
        }
      },
      this.following.signal,
    )
  }

  /** Resolves once the record at a position has been applied. */
  async reached(position: Position): Promise<void> {
    if (position <= this.applied) return
    await new Promise<void>((resolve) => {
      this.waiting.set(resolve, position)
    })
  }

  stop(): void {
    this.following.abort()
  }
}
