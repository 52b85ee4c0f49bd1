import { CHARS4, type Clock, createPauser, type Pause, type TokenCounter } from 'crux-types'
import { ageHours, effectiveConfidence, freshnessAt, type Horizons } from '../decay.js'
import type { RankedFact } from '../fact-store.js'
import type { FactProjection } from '../facts/fact-projection.js'
import type { FactTable } from '../facts/fact-table.js'
import type { RecallCounts } from '../freshness/recall-counts.js'
import { TenantIndex } from '../text/tenant-index.js'
import type { Sight } from './sight.js'

/** Pieces of indexing that nobody waits for: about as long as a disk takes to make a write durable. */
const BACKGROUND_SLICE_MS = 0.5
/** The same when the index is far behind, as after a start. */
const BEHIND_SLICE_MS = 2
const FAR_BEHIND_ROWS = 1024

/** What all reads share. */
export class RecallContext {
  private readonly indexes = new WeakMap<FactTable, TenantIndex>()
  private readonly beingIndexed = new WeakSet<FactTable>()

  constructor(
    readonly projection: FactProjection,
    readonly clock: Clock,
    readonly horizons: Horizons,
    /** Counts recalls, which then stretch horizons; undefined when they do not count. */
    readonly recalls?: RecallCounts,
    private readonly tokenCounter: TokenCounter = CHARS4,
  ) {}

  /** What the value of a row costs against a budget. */
  cost(table: FactTable, row: number, pause: Pause): number | Promise<number> {
    // The usual price is known without reading the value.
    if (this.tokenCounter === CHARS4) return table.tokens(row)
    return this.tokenCounter.count(table.value(row), pause)
  }

  /** The indexes of a tenant's facts; brought up to date by whoever uses them. */
  indexOf(table: FactTable): TenantIndex {
    let index = this.indexes.get(table)
    if (index === undefined) {
      index = new TenantIndex(table)
      this.indexes.set(table, index)
    }
    return index
  }

  /** Use an index that a snapshot brought. */
  adopt(table: FactTable, index: TenantIndex): void {
    this.indexes.set(table, index)
  }

  /**
   * Index new rows of a tenant while nobody waits for them, and all rows anew when words of wiped
   * values are to go; does nothing when that is under way.
   */
  indexInBackground(table: FactTable, signal: AbortSignal): void {
    if (this.beingIndexed.has(table) || signal.aborted) return
    this.beingIndexed.add(table)
    // The turn after the one in which the next writes go out together: the disk has them meanwhile.
    setImmediate(() => setImmediate(() => this.indexSome(table, signal)))
  }

  private indexSome(table: FactTable, signal: AbortSignal): void {
    const index = this.indexOf(table).isTainted ? new TenantIndex(table) : this.indexOf(table)
    const isBehind = table.size - index.rows > FAR_BEHIND_ROWS
    const sliceMs = isBehind ? BEHIND_SLICE_MS : BACKGROUND_SLICE_MS
    index
      .catchUp(table.size, createPauser({ sliceMs, signal }))
      .catch((error: unknown) => {
        // Indexing throws nothing but the signal's reason.
        if (!signal.aborted) throw error
      })
      .finally(() => {
        this.beingIndexed.delete(table)
        if (index.rows >= this.indexOf(table).rows) this.indexes.set(table, index)
        const { rows, isTainted } = this.indexOf(table)
        if (rows < table.size || isTainted) this.indexInBackground(table, signal)
      })
  }

  /** Confidence of a row after decay, as recall ranks by it. */
  effectiveConfidence(table: FactTable, row: number, now: number): number {
    const horizonClass = table.horizonClass(row)
    const confidence = table.confidence.get(row)
    if (horizonClass === 'none') return confidence
    const recalls = this.recalls?.of(table, row)
    const freshness = freshnessAt(this.horizons, horizonClass, table.anchor(row), now, recalls)
    return effectiveConfidence(confidence, freshness)
  }

  /** Whether a row is past its horizon, however often it was recalled. */
  isStale(table: FactTable, row: number, now: number): boolean {
    const horizonClass = table.horizonClass(row)
    if (horizonClass === 'none') return false
    return freshnessAt(this.horizons, horizonClass, table.anchor(row), now) === 'stale'
  }

  /** A fact that is given out by recall: its freshness is that of its rank, and the recall is counted. */
  recalledFact(table: FactTable, sight: Sight, row: number, now: number): RankedFact {
    const ranked = this.rankedFact(table, sight, row, now, this.recalls?.of(table, row))
    this.recalls?.add(table, row)
    return ranked
  }

  /** The fact in a row as a caller sees it, which it may. */
  rankedFact(
    table: FactTable,
    sight: Sight,
    row: number,
    now: number,
    recalls?: number,
  ): RankedFact {
    const anchor = table.anchor(row)
    const freshness = freshnessAt(this.horizons, table.horizonClass(row), anchor, now, recalls)
    const fact = table.fact(row)
    return {
      fact,
      entity: sight.entityOf(fact) ?? '',
      effectiveConfidence: effectiveConfidence(table.confidence.get(row), freshness),
      freshness,
      ageHours: ageHours(anchor, now),
    }
  }
}
