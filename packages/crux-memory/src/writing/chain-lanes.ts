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

/** A change that waits, and what its last plan came to. */
interface Queued<Head> {
  readonly change: ChainChange<unknown, Head>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  result: unknown
  /** Set when the plan refused the change. */
  refusal: { readonly error: unknown } | undefined
}

/** The changes of one chain that are under way. */
interface Lane<Head> {
  readonly key: string
  readonly state: ChainState<Head>
  /** Those in the append that is on its way. */
  batch: readonly Queued<Head>[]
  /** Those that go out next. */
  readonly waiting: Queued<Head>[]
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
  private readonly lanes = new Map<string, Lane<Head>>()

  /**
   * @param reached - Resolves once the state has taken in the record at a position.
   * @param givenUp - The error of a write that lost to other writers time and again.
   */
  constructor(
    private readonly journal: Journal,
    private readonly reached: (position: Position) => Promise<void>,
    private readonly givenUp: (key: string, conflicts: number) => Error = factConflict,
  ) {}

  // Below, callbacks in place of async functions: nearly every lane has one change and ends, and each
  // async function would make a promise and a frame for it that live until the disk has it.

  /** Queue a change; resolves when it is durable and part of the state. */
  submit<T>(key: string, state: ChainState<Head>, change: ChainChange<T, Head>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const queued: Queued<Head> = {
        change,
        // The result comes from the same change's plan.
        resolve: resolve as (result: unknown) => void,
        reject,
        result: undefined,
        refusal: undefined,
      }
      const known = this.lanes.get(key)
      if (known !== undefined) {
        known.waiting.push(queued)
        return
      }
      const lane: Lane<Head> = { key, state, batch: [queued], waiting: [] }
      this.lanes.set(key, lane)
      this.write(lane)
    })
  }

  /** @param last - Where the journal says the key is; known better than the state after a rewrite of the stream. */
  private write(lane: Lane<Head>, last?: Position | 'none', conflicts = 0): void {
    const { key, state, batch } = lane
    try {
      const records = planBatch(state.head(), batch)
      if (records.length === 0) {
        this.settle(lane)
        return
      }
      this.journal.append(records, [{ key, last: last ?? (state.position() || 'none') }]).then(
        () => this.settle(lane),
        (error: unknown) => this.retry(lane, error, conflicts + 1),
      )
    } catch (error) {
      this.fail(lane, error)
    }
  }

  private async retry(lane: Lane<Head>, error: unknown, conflicts: number): Promise<void> {
    if (!hasCode(error, 'JOURNAL_CONFLICT')) {
      this.fail(lane, error)
      return
    }
    if (conflicts === MAX_CONFLICTS) {
      this.fail(lane, this.givenUp(lane.key, conflicts))
      return
    }
    const last = typeof error.data.last === 'number' ? error.data.last : 'none'
    if (last !== 'none') await this.reached(last)
    this.write(lane, last, conflicts)
  }

  private settle(lane: Lane<Head>): void {
    for (const { resolve, reject, result, refusal } of lane.batch) {
      if (refusal === undefined) resolve(result)
      else reject(refusal.error)
    }
    this.next(lane)
  }

  private fail(lane: Lane<Head>, error: unknown): void {
    for (const { reject } of lane.batch) reject(error)
    this.next(lane)
  }

  private next(lane: Lane<Head>): void {
    if (lane.batch.length === 1 && lane.waiting.length === 0) {
      this.lanes.delete(lane.key)
      return
    }
    // After those who were just answered, whose next changes then go out together.
    void Promise.resolve().then(() => {
      if (lane.waiting.length === 0) {
        this.lanes.delete(lane.key)
        return
      }
      lane.batch = takeBatch(lane.waiting)
      this.write(lane)
    })
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

/** Plan changes on each other; each keeps what came of it. @returns The records of all. */
function planBatch<Head>(start: Head, batch: readonly Queued<Head>[]): readonly JournalRecord[] {
  let records: readonly JournalRecord[] = []
  let several: JournalRecord[] | undefined
  let head = start
  for (const queued of batch) {
    queued.refusal = undefined
    try {
      const plan = queued.change.plan(head)
      if (records.length === 0) {
        records = plan.records
      } else {
        several ??= [...records]
        several.push(...plan.records)
        records = several
      }
      head = plan.head
      queued.result = plan.result
    } catch (error) {
      queued.refusal = { error }
    }
  }
  return records
}
