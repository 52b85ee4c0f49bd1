import type { FactTable } from '../facts/fact-table.js'

/**
 * How often facts were recalled since the process started.
 *
 * A hint and no state: it stretches horizons for recall and is gone after a restart.
 */
export class RecallCounts {
  private readonly counts = new WeakMap<FactTable, Map<number, number>>()

  /** Times that the fact of a row was recalled. */
  of(table: FactTable, row: number): number {
    return this.counts.get(table)?.get(row) ?? 0
  }

  /** Count one recall. */
  add(table: FactTable, row: number): void {
    let rows = this.counts.get(table)
    if (rows === undefined) {
      rows = new Map()
      this.counts.set(table, rows)
    }
    rows.set(row, (rows.get(row) ?? 0) + 1)
  }
}
