import { Buffer } from 'node:buffer'
import type { JournalRecord, Position } from './journal.js'
import { encodeLine, lineSpace } from './line.js'

/** A group takes no further append once it holds this much. */
const FULL_BYTES = 4 * 1024 * 1024
const FIRST_BYTES = 64 * 1024

/** One append that waits for its group to become durable. */
export interface Waiter {
  readonly records: readonly JournalRecord[]
  readonly positions: readonly Position[]
  readonly resolve: (positions: readonly Position[]) => void
  readonly reject: (error: unknown) => void
}

/** Appends that share one write and one sync. */
export class Group {
  readonly waiters: Waiter[] = []
  private space: Buffer
  private used = 0

  /** @param space - Memory of a finished group, to be used again. */
  constructor(space?: Buffer) {
    this.space = space ?? Buffer.allocUnsafeSlow(FIRST_BYTES)
  }

  get isFull(): boolean {
    return this.used >= FULL_BYTES
  }

  /** The lines so far; valid until the next {@link add}. */
  get bytes(): Uint8Array {
    return this.space.subarray(0, this.used)
  }

  /** Highest position in the group. */
  get last(): Position {
    return this.waiters.at(-1)?.positions.at(-1) ?? 0
  }

  add(waiter: Waiter): void {
    const { records, positions } = waiter
    const count = records.length
    for (let index = 0; index < count; index++) {
      const { key, bytes } = records[index] as JournalRecord // below the length
      this.reserve(lineSpace(bytes.length, key))
      const trailer = { at: positions[index] as Position, key, index, count }
      this.used = encodeLine(this.space, this.used, bytes, trailer)
    }
    this.waiters.push(waiter)
  }

  /** The memory, when it is of a size worth keeping; the group must not be used afterwards. */
  release(): Buffer | undefined {
    // An old group that waits to be collected would keep its young waiters alive until then.
    this.waiters.length = 0
    return this.space.length <= FULL_BYTES ? this.space : undefined
  }

  private reserve(more: number): void {
    const need = this.used + more
    if (need <= this.space.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(need, this.space.length * 2))
    this.space.copy(grown, 0, 0, this.used)
    this.space = grown
  }
}
