/** How a long piece of work is followed, and stopped. */
export interface WorkWatch {
  /** Aborts the work at its next pause; what was committed by then stays. */
  readonly signal?: AbortSignal | undefined
  /** Told now and then how many steps are done of how many that are known; neither gets less. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

// Whoever follows is told at most as often as this in a piece of work, whatever its size.
const TOLD_AT_MOST = 200

/**
 * Counts the steps of a piece of work for whoever follows it.
 *
 * @example
 * const progress = new WorkProgress(watch)
 * progress.expect(rows.length)
 * for (const row of rows) {
 *   read(row)
 *   progress.advance()
 * }
 */
export class WorkProgress {
  private done = 0
  private total = 0
  private tellAt = 1

  constructor(private readonly watch: WorkWatch | undefined) {}

  /** More steps are known. */
  expect(steps: number): void {
    this.total += steps
  }

  /** Steps are done; cheap enough for every row of a table. */
  advance(steps = 1): void {
    this.done += steps
    if (this.done >= this.tellAt) this.tell()
  }

  private tell(): void {
    const { done, total } = this
    this.tellAt = Math.min(done + Math.ceil(total / TOLD_AT_MOST), Math.max(total, done + 1))
    this.watch?.onProgress?.(done, total)
  }
}
