import type { Journal, JournalRecord, Position } from 'crux-storage'
import { CruxError, hasCode } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'

/** Newest accepted version of a chain, queued ones included. */
export interface ChainHead {
  /** Newest live fact; undefined when the chain is empty or all of it is deleted. */
  readonly factId: string | undefined
  /** Its version; 0 when there is none. */
  readonly version: number
}

/** A change of one chain, planned against the head it will find. */
export interface ChainChange<T, Head = ChainHead> {
  /**
   * The records to append, the first of them under the chain's key; none when there is nothing to do.
   * May run again after a conflict. @throws what is to reject this change alone.
   */
  plan(head: Head): {
    readonly records: readonly JournalRecord[]
    readonly head: Head
    readonly result: T
  }
  /** Whether others may follow in the same append; false for what the head does not tell about. */
  readonly isStackable: boolean
  /** Bytes of its records, about. */
  readonly weight: number
}

/** What lanes read of the state that the journal determines. */
export interface ChainState<Head = ChainHead> {
  head(): Head
  /** Newest position of the chain's key; 0 when there is none. */
  position(): Position
}

interface Queued<Head> {
  readonly change: ChainChange<unknown, Head>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

const MAX_BATCH = 256
const MAX_BATCH_BYTES = 4 * 1024 * 1024
/** Conflicts in a row after which a write is given up. */
const MAX_CONFLICTS = 100

/**
 * Writes changes of the same chain one after another and those of different chains side by side.
 *
 * While an append is on its way, further changes of the chain wait and then go out together, planned
 * on each other: a thousand writes to one key need a handful of appends, each compared with the
 * position of the one before.
 */
export class ChainLanes<Head = ChainHead> {
  private readonly lanes = new Map<string, Queued<Head>[]>()

  /**
   * @param reached - Resolves once the state has taken in the record at a position.
   * @param givenUp - The error of a write that lost to other writers time and again.
   */
  constructor(
    private readonly journal: Journal,
    private readonly reached: (position: Position) => Promise<void>,
    private readonly givenUp: (key: string, conflicts: number) => Error = factConflict,
  ) {}

  /** Queue a change; resolves when it is durable and part of the state. */
  submit<T>(key: string, state: ChainState<Head>, change: ChainChange<T, Head>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // The result comes from the same change's plan.
      const queued: Queued<Head> = { change, resolve: resolve as (result: unknown) => void, reject }
      const lane = this.lanes.get(key)
      if (lane !== undefined) {
        lane.push(queued)
        return
      }
      this.lanes.set(key, [queued])
      void this.run(key, state)
    })
  }

  private async run(key: string, state: ChainState<Head>): Promise<void> {
    const lane = this.lanes.get(key) ?? []
    while (lane.length > 0) {
      const batch = takeBatch(lane)
      try {
        await this.write(key, state, batch)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.lanes.delete(key)
  }

  private async write(
    key: string,
    state: ChainState<Head>,
    batch: readonly Queued<Head>[],
  ): Promise<void> {
    // Where the journal says the key is; known better than the state after a rewrite of the stream.
    let known: Position | 'none' | undefined
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const { records, settle } = planBatch(state.head(), batch)
      if (records.length === 0) return settle()
      try {
        await this.journal.append(records, [{ key, last: known ?? (state.position() || 'none') }])
        return settle()
      } catch (error) {
        if (!hasCode(error, 'JOURNAL_CONFLICT')) throw error
        const last = error.data.last
        known = typeof last === 'number' ? last : 'none'
        if (known !== 'none') await this.reached(known)
      }
    }
    throw this.givenUp(key, MAX_CONFLICTS)
  }
}

function factConflict(key: string, conflicts: number): CruxError<MemoryErrorCode> {
  return new CruxError(
    'FACT_CONFLICT',
    `other writers changed the same fact ${conflicts} times in a row; try again`,
    { data: { key } },
  )
}

function takeBatch<Head>(lane: Queued<Head>[]): readonly Queued<Head>[] {
  let count = 0
  let bytes = 0
  for (const { change } of lane) {
    if (count > 0 && (!change.isStackable || bytes + change.weight > MAX_BATCH_BYTES)) break
    count++
    bytes += change.weight
    if (!change.isStackable || count === MAX_BATCH) break
  }
  return lane.splice(0, count)
}

function planBatch<Head>(
  start: Head,
  batch: readonly Queued<Head>[],
): { records: readonly JournalRecord[]; settle: () => void } {
  const records: JournalRecord[] = []
  const settlements: (() => void)[] = []
  let head = start
  for (const { change, resolve, reject } of batch) {
    try {
      const plan = change.plan(head)
      for (const record of plan.records) records.push(record)
      head = plan.head
      settlements.push(() => resolve(plan.result))
    } catch (error) {
      settlements.push(() => reject(error))
    }
  }
  return {
    records,
    settle: () => {
      for (const settle of settlements) settle()
    },
  }
}
