/** How fast a fact goes stale: 24 hours, 35 days, 365 days, never. */
export type HorizonClass = 'volatile' | 'medium' | 'stable' | 'none'

/** Whether a fact is within its horizon; `unknown` when its times make no sense. */
export type Freshness = 'fresh' | 'stale' | 'unknown'

/**
 * One version of one fact, in the form in which it stands in the journal and in HTTP answers.
 *
 * Times are RFC 3339 in UTC ending in `Z`. Absent members are omitted, except `source_receipt`.
 */
export interface Fact {
  /** `f_` and 32 hex digits. */
  readonly fact_id: string
  /** Name of the tenant. */
  readonly tenant_hash: string
  /** Stored entity; a private fact's is `__agent::<owner>::<entity>`. */
  readonly entity: string
  readonly key: string
  readonly value: string
  readonly source_receipt: string | null
  /** 0..1, rounded to a 32-bit float. */
  readonly confidence: number
  readonly stored_at: string
  /** UTF-8 bytes of the value over four, rounded up. */
  readonly tokens: number
  readonly deleted: boolean
  /** 1 for the first of its (tenant, entity, key). */
  readonly version: number
  /** The version before this one. */
  readonly supersedes?: string
  readonly private: boolean
  readonly horizon_class: HorizonClass
  readonly reverified_at?: string
  /** The fact that retired this one. */
  readonly superseded_by?: string
  /** Passport or agent that wrote it. */
  readonly actor?: string
  /** World time from which it holds, inclusive. */
  readonly valid_from?: string
  /** World time until which it holds, exclusive. */
  readonly valid_to?: string
  /** True on bootstrap knowledge that the daemon itself stored; `bootstrap` shows it in every tenant. */
  readonly seeded?: boolean
  /** True when it was forgotten: `value` is then `[forgotten]` to readers and empty in the journal. */
  readonly forgotten?: boolean
  readonly access_count?: number
  readonly last_accessed_at?: string
}
