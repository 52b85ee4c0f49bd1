import type { Journal } from 'crux-storage'
import { type Clock, createPauser, toStoredTime } from 'crux-types'
import type { FactProjection } from '../facts/fact-projection.js'
import { ERASURE_KEY, encodeFactLine, FACT_STREAM } from '../facts/journal-line.js'
import { blankValues } from './blank-values.js'
import type { ErasureLane } from './erasure-lane.js'
import type { ErasableCopies } from './forgetting-store.js'

/** Steps of an erasure, in order, for crash tests. */
export type PurgeFailpoint =
  | 'purge_before_commit'
  | 'purge_after_commit'
  | 'purge_after_rewrite'
  | 'purge_after_copies'
  | 'purge_after_done'

/** What erasing stands on. */
export interface EraserParts {
  readonly journal: Journal
  readonly projection: FactProjection
  readonly lane: ErasureLane
  readonly clock: Clock
  readonly copies: () => readonly ErasableCopies[]
  readonly failpoint: (name: PurgeFailpoint) => void
}

/**
 * Takes values off the disk that the journal says are gone: first a record says so, then they are
 * erased, then a record says that it is done. A crash in between leaves the second step to be done
 * again, and whoever replays the journal has no value from the first record on.
 */
export class Eraser {
  private running: Promise<unknown> = Promise.resolve()

  constructor(private readonly parts: EraserParts) {}

  /**
   * Commit to an erasure, then do it. One at a time: what is committed meanwhile would otherwise count
   * as done when it is not.
   *
   * @param commit - Appends the records that give values up; its result is passed on.
   */
  run<T>(commit: () => Promise<T>): Promise<T> {
    const work = this.running.then(async () => {
      const result = await commit()
      if (!this.parts.projection.forgotten.isUnerased) return result
      this.parts.failpoint('purge_after_commit')
      await this.erase()
      return result
    })
    this.running = work.catch(() => undefined)
    return work
  }

  private async erase(): Promise<void> {
    const { journal, projection, lane, clock, copies, failpoint } = this.parts
    await journal.rewrite(FACT_STREAM, blankValues(projection))
    failpoint('purge_after_rewrite')
    const pause = createPauser()
    for (const store of copies()) {
      for (const { tenant, copies: refs } of projection.forgotten.unerased()) {
        const ids = refs.filter(({ kind }) => kind === store.kind).map(({ id }) => id)
        // Without ids as well: what was removed before may still be on the disk.
        await store.erase(tenant, ids)
        await pause()
      }
    }
    failpoint('purge_after_copies')
    await lane.submit(() => {
      const line = { op: 'values_erased', erased_at: toStoredTime(clock.now()) } as const
      return { records: [{ key: ERASURE_KEY, bytes: encodeFactLine(line) }], result: undefined }
    })
    failpoint('purge_after_done')
  }
}
