/** Runs one piece of work at a time, in the order asked for; one that fails does not stop the next. */
export class SerialQueue {
  private tail: Promise<unknown> = Promise.resolve()

  /** Resolves or rejects as `work` does, once its turn has come. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.tail.then(work)
    // The caller sees the failure through `turn`; here it only has to end the turn.
    this.tail = turn.catch(() => undefined)
    return turn
  }

  /** Resolves when everything asked for so far has ended. */
  async drained(): Promise<void> {
    await this.tail
  }
}
