import type { Log } from '../log.js'

/** Something that can keep its state. */
export interface Snapshotting {
  snapshot(): Promise<void>
}

/** The store that takes snapshots of each stream; a stream that is not named has none. */
export function snapshotStores(stores: {
  readonly facts: Snapshotting
  readonly sessions: Snapshotting
  readonly substrate: { readonly entities: Snapshotting; readonly edges: Snapshotting }
}): ReadonlyMap<string, Snapshotting> {
  const { facts, sessions, substrate } = stores
  return new Map([
    ['facts', facts],
    ['sessions', sessions],
    ['entities', substrate.entities],
    ['substrate-edges', substrate.edges],
  ])
}

/** Takes snapshots when enough has changed, so that the next start replays little. */
export interface SnapshotPlan {
  /** Note journal bytes of a stream that no snapshot covers. */
  grew(stream: string, bytes: number): void
  /** Take snapshots of all streams that changed; waits for one that is under way. */
  takeAll(): Promise<void>
}

/** Journal bytes after which a snapshot is taken while the daemon runs. */
const SNAPSHOT_GROWTH_BYTES = 64 * 1024 * 1024

/** @param store - The store of a stream; undefined while it is not open. */
export function createSnapshotPlan(
  store: (stream: string) => Snapshotting | undefined,
  log: Log,
  growthBytes = SNAPSHOT_GROWTH_BYTES,
): SnapshotPlan {
  const grown = new Map<string, number>()
  const running = new Map<string, Promise<void>>()

  async function take(stream: string): Promise<void> {
    const before = running.get(stream)
    if (before !== undefined) return before
    const target = store(stream)
    if (target === undefined || (grown.get(stream) ?? 0) === 0) return
    grown.set(stream, 0)
    const work = target.snapshot().then(
      () => log.debug({ stream }, 'snapshot taken'),
      // Nothing is lost by it: the journal has everything, only the next start takes longer.
      (error: unknown) => log.warn({ stream, err: error }, 'no snapshot could be taken'),
    )
    running.set(stream, work)
    await work
    running.delete(stream)
  }

  return {
    grew(stream, bytes) {
      const total = (grown.get(stream) ?? 0) + bytes
      grown.set(stream, total)
      // A store follows its stream before it is open; `take` then finds none and does nothing.
      if (total >= growthBytes && !running.has(stream)) void take(stream)
    },
    async takeAll() {
      for (const stream of grown.keys()) {
        await running.get(stream)
        await take(stream)
      }
    },
  }
}
