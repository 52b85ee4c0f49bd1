/** What one turn of an agent used, as the agent said. */
export interface UsedInTurn {
  readonly turnId: string
  readonly intent: string
  readonly factIds: readonly string[]
}

/** Most turns that are kept; the oldest go first. */
export const MAX_TURNS = 1024

/**
 * What turns used: the last 1,024 turns, while the process lives.
 *
 * A hint and no state: nothing is decided by it, and it is not journaled.
 */
export class Acknowledgements {
  private readonly turns = new Map<string, UsedInTurn>()

  /** Keep what a turn used, in place of what was said of it before. */
  note(tenant: string, owner: string, used: UsedInTurn): void {
    const key = keyOf(tenant, owner, used.turnId)
    this.turns.delete(key)
    this.turns.set(key, used)
    for (const oldest of this.turns.keys()) {
      if (this.turns.size <= MAX_TURNS) return
      this.turns.delete(oldest)
    }
  }

  /** What the owner said of a turn; undefined when it said nothing, or long ago. */
  find(tenant: string, owner: string, turnId: string): UsedInTurn | undefined {
    return this.turns.get(keyOf(tenant, owner, turnId))
  }
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
