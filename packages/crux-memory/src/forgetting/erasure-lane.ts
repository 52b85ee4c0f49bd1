import type { Journal, JournalRecord } from 'crux-storage'
import type { FactProjection } from '../facts/fact-projection.js'
import { ERASURE_KEY } from '../facts/journal-line.js'
import { ChainLanes } from '../writing/chain-lanes.js'

/**
 * Writes what forgets, restores, purges and holds, one change after another over all tenants: each is
 * planned on the state that the one before left, also when that came from another writer.
 */
export class ErasureLane {
  private readonly lanes: ChainLanes<undefined>

  constructor(
    journal: Journal,
    private readonly projection: FactProjection,
  ) {
    this.lanes = new ChainLanes(journal, (position) => projection.reached(position))
  }

  /**
   * Append what `plan` gives; no records when there is nothing to do.
   *
   * @param plan - May run again after a conflict. @throws what is to refuse the change.
   */
  submit<T>(
    plan: () => { readonly records: readonly JournalRecord[]; readonly result: T },
  ): Promise<T> {
    const state = {
      head: () => undefined,
      position: () => this.projection.erasurePosition,
    }
    return this.lanes.submit(ERASURE_KEY, state, {
      plan: (head) => ({ ...plan(), head }),
      isStackable: false,
      weight: 0,
    })
  }
}
