import { createPauser } from 'crux-types'
import { Follower, LiveFollowers } from './followers.js'
import { Group } from './group.js'
import type { Expectation, JournalRecord, Position, RecordEdit, RewriteReport } from './journal.js'
import { type JournalContext, JournalFile } from './journal-file.js'
import { assertBytes, checkExpectations } from './record.js'
import type { ScannedRecord } from './scan.js'

/**
 * One stream of a file journal: its writers, who share writes, and its followers.
 *
 * The file is opened and read by the first call. Positions beyond the file's last one belong to
 * appends that wait in `groups`.
 */
export class JournalStream {
  private readonly file: JournalFile
  private opening: Promise<void> | undefined
  private isOpen = false
  /** Calls that have begun and not yet queued or finished their work. */
  private inside = 0

  private last: Position = 0
  /** Newest position of keys in appends that are not durable yet. */
  private readonly pending = new Map<string, Position>()
  private groups: Group[] = []
  private committing: Promise<void> | undefined
  private spare: Buffer | undefined

  private readonly live = new LiveFollowers()
  /** Followers that are still reading; acknowledgements wait for them. */
  private readonly catchingUp = new Set<Promise<unknown>>()
  /** Everything under way that an erasure waits for. */
  private readonly underWay = new Set<Promise<unknown>>()
  /** Set while an erasure keeps everything else out. */
  private erasing: Promise<void> | undefined
  private saving: Promise<void> = Promise.resolve()

  constructor(
    name: string,
    private readonly context: JournalContext,
  ) {
    this.file = new JournalFile(name, context)
  }

  append(
    records: readonly JournalRecord[],
    expect: readonly Expectation[],
  ): Promise<readonly Position[]> {
    // Not async: a promise less for each append, and calls made one after another stay in order.
    if (this.isReady()) return this.queue(records, expect)
    return this.enter(() => this.ready()).then(() => this.queue(records, expect))
  }

  private queue(
    records: readonly JournalRecord[],
    expect: readonly Expectation[],
  ): Promise<readonly Position[]> {
    // What is thrown in here rejects the promise.
    return new Promise((resolve, reject) => {
      this.requireWritable()
      checkExpectations(this.positionOf, expect)
      const positions = records.map(({ key }) => {
        const at = ++this.last
        this.pending.set(key, at)
        return at
      })
      this.groupToFill().add({ records, positions, resolve, reject })
      this.committing ??= this.commit()
    })
  }

  /** Newest accepted position of a key. */
  private readonly positionOf = (key: string): Position | undefined =>
    this.pending.get(key) ?? this.file.position(key)

  async follow(
    from: Position,
    apply: (record: JournalRecord, at: Position) => void,
    signal: AbortSignal,
  ): Promise<{ readonly caughtUp: Position }> {
    signal.throwIfAborted()
    const follower = new Follower(from, apply, signal)
    await this.enter(async () => {
      while (this.erasing !== undefined) await this.erasing
      if (this.opening === undefined) await this.open(follower)
      else await this.track(this.catchUp(follower), this.catchingUp)
    })
    follower.throwFailure()
    signal.throwIfAborted()
    return { caughtUp: this.file.last }
  }

  async saveSnapshot(at: Position, state: AsyncIterable<Uint8Array>): Promise<void> {
    await this.enter(async () => {
      if (!this.isReady()) await this.ready()
      this.requireWritable()
      if (!(at >= 0 && at <= this.file.last)) {
        throw new RangeError(`snapshot at position ${at}, expected 0 to ${this.file.last}`)
      }
      const before = this.saving
      const saved = this.track(before.then(() => this.file.saveSnapshot(at, state)))
      this.saving = saved.catch(() => undefined)
      await saved
    })
  }

  async loadSnapshot(): ReturnType<JournalFile['loadSnapshot']> {
    return this.enter(async () => {
      while (this.erasing !== undefined) await this.erasing
      return this.track(this.file.loadSnapshot())
    })
  }

  async erase(keys: readonly string[], keep: readonly JournalRecord[]): Promise<void> {
    const gone = new Set(keys)
    await this.alone(async () => {
      const kept = await this.file.rewrite(
        (record) => (gone.has(record.key) ? undefined : record),
        keep,
      )
      await this.file.removeLeftovers()
      this.last = this.file.last
      this.live.give(
        kept,
        kept.map((record) => record.at),
      )
    })
  }

  async rewrite(edit: RecordEdit): Promise<RewriteReport> {
    let changed = 0
    let dropped = 0
    const replace = (record: ScannedRecord): ScannedRecord | undefined => {
      const bytes = edit(record, record.at)
      if (bytes === record.bytes) return record
      if (bytes === undefined) {
        dropped++
        return undefined
      }
      changed++
      const edited = { ...record, bytes }
      assertBytes(edited)
      return edited
    }
    let filesRemoved = 0
    await this.alone(async () => {
      await this.file.rewrite(replace, [])
      filesRemoved = await this.file.removeLeftovers()
    })
    return { changed, dropped, filesRemoved }
  }

  /** Finish every call that has begun. The caller lets no new one begin. */
  async close(): Promise<void> {
    for (;;) {
      if (this.erasing !== undefined) await this.erasing
      else if (this.committing !== undefined) await this.committing
      else if (this.underWay.size > 0) await Promise.allSettled(this.underWay)
      else if (this.inside > 0) await nextTurn()
      else break
    }
    this.live.clear()
    await this.file.close()
  }

  private isReady(): boolean {
    return this.isOpen && this.erasing === undefined
  }

  private async ready(): Promise<void> {
    while (!this.isReady()) await (this.erasing ?? this.open())
  }

  private async enter<T>(call: () => Promise<T>): Promise<T> {
    this.inside++
    try {
      return await call()
    } finally {
      this.inside--
    }
  }

  /** Open the file once, whoever asks first. A failed opening is tried again by the next call. */
  private open(follower?: Follower): Promise<void> {
    const open = async (): Promise<void> => {
      await this.file.open(follower)
      this.last = this.file.last
      if (follower !== undefined) this.live.add(follower)
      this.isOpen = true
    }
    this.opening ??= this.track(open()).catch((error: unknown) => {
      this.opening = undefined
      throw error
    })
    return this.opening
  }

  private async catchUp(follower: Follower): Promise<void> {
    await this.open()
    await this.file.read(follower)
    // In the same turn in which reading found no more, so that no record falls in between.
    this.live.add(follower)
  }

  private groupToFill(): Group {
    const newest = this.groups.at(-1)
    if (newest !== undefined && !newest.isFull) return newest
    const group = new Group(this.spare)
    this.spare = undefined
    this.groups.push(group)
    return group
  }

  private async commit(): Promise<void> {
    for (;;) {
      // One turn, so that all who were acknowledged together can queue together again.
      await nextTurn()
      const group = this.groups.shift()
      if (group === undefined) break
      try {
        await this.file.write(group.bytes, group.last)
      } catch (error) {
        this.rejectQueued(group, error)
        continue
      }
      await this.deliver(group)
      const space = group.release()
      this.spare ??= space
    }
    this.committing = undefined
  }

  /** Those queued later count on the positions of those before them, so they fail together. */
  private rejectQueued(group: Group, error: unknown): void {
    const failed = [group, ...this.groups]
    this.groups = []
    this.pending.clear()
    this.last = this.file.last
    for (const { waiters } of failed) for (const { reject } of waiters) reject(error)
  }

  private async deliver(group: Group): Promise<void> {
    const pause = createPauser()
    const failures = new Map<number, unknown>()
    for (const [place, { records, positions }] of group.waiters.entries()) {
      this.file.note(records, positions)
      for (let i = 0; i < records.length; i++) {
        const { key } = records[i] as JournalRecord // below the length
        if (this.pending.get(key) === positions[i]) this.pending.delete(key)
      }
      try {
        this.live.give(records, positions)
      } catch (error) {
        failures.set(place, error)
      }
      const paused = pause()
      if (paused !== undefined) await paused
    }
    if (this.catchingUp.size > 0) await Promise.allSettled(this.catchingUp)
    group.waiters.forEach((waiter, place) => {
      if (failures.has(place)) waiter.reject(failures.get(place))
      else waiter.resolve(waiter.positions)
    })
  }

  /** Run work on the file while nothing else is under way and nothing begins. */
  private async alone(work: () => Promise<void>): Promise<void> {
    await this.enter(async () => {
      if (!this.isReady()) await this.ready()
      this.requireWritable()
      const done = this.whenIdle(work)
      const end = (): void => {
        this.erasing = undefined
      }
      this.erasing = done.then(end, end)
      await done
    })
  }

  private async whenIdle(work: () => Promise<void>): Promise<void> {
    // By the next turn `erasing` is set and nothing new begins; then wait for what has begun.
    await null
    while (this.committing !== undefined) await this.committing
    await Promise.allSettled(this.underWay)
    this.requireWritable()
    await work()
  }

  private requireWritable(): void {
    if (this.context.poison !== undefined) throw this.context.poison
  }

  private async track<T>(work: Promise<T>, also?: Set<Promise<unknown>>): Promise<T> {
    this.underWay.add(work)
    also?.add(work)
    try {
      return await work
    } finally {
      this.underWay.delete(work)
      also?.delete(work)
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
