import type { Clock } from 'crux-types'
import { ageHours, effectiveConfidence, freshnessAt, type Horizons } from '../decay.js'
import type { RankedFact } from '../fact-store.js'
import type { FactProjection } from '../facts/fact-projection.js'
import type { FactTable } from '../facts/fact-table.js'
import { TenantIndex } from '../text/tenant-index.js'
import type { Sight } from './sight.js'

/** What all reads share. */
export class RecallContext {
  private readonly indexes = new WeakMap<FactTable, TenantIndex>()

  constructor(
    readonly projection: FactProjection,
    readonly clock: Clock,
    readonly horizons: Horizons,
  ) {}

  /** The indexes of a tenant's facts; brought up to date by whoever uses them. */
  indexOf(table: FactTable): TenantIndex {
    let index = this.indexes.get(table)
    if (index === undefined) {
      index = new TenantIndex(table)
      this.indexes.set(table, index)
    }
    return index
  }

  /** Confidence of a row after decay. */
  effectiveConfidence(table: FactTable, row: number, now: number): number {
    const horizonClass = table.horizonClass(row)
    const confidence = table.confidence.get(row)
    if (horizonClass === 'none') return confidence
    const freshness = freshnessAt(this.horizons, horizonClass, table.anchor(row), now)
    return effectiveConfidence(confidence, freshness)
  }

  /** The fact in a row as a caller sees it, which it may. */
  rankedFact(table: FactTable, sight: Sight, row: number, now: number): RankedFact {
    const anchor = table.anchor(row)
    const freshness = freshnessAt(this.horizons, table.horizonClass(row), anchor, now)
    return {
      fact: table.fact(row),
      entity: sight.entity(row) ?? '',
      effectiveConfidence: effectiveConfidence(table.confidence.get(row), freshness),
      freshness,
      ageHours: ageHours(anchor, now),
    }
  }
}
