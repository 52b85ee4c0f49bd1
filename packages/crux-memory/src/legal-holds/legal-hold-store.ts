import type { Caller } from 'crux-types'
import type { LegalHold } from './legal-hold.js'

/** Schema name of a receipt of a hold. */
export const LEGAL_HOLD_RECEIPT_SCHEMA = 'crux.legal_hold.receipt.v1'

/** Proof that a hold was placed, released or overridden; times are RFC 3339 in UTC. */
export interface LegalHoldReceipt {
  readonly schema: typeof LEGAL_HOLD_RECEIPT_SCHEMA
  readonly kind: 'legal_hold_placed' | 'legal_hold_released' | 'legal_hold_overridden'
  readonly receipt_id: string
  readonly hold_ids: readonly string[]
  readonly tenant_id: string
  readonly entity_prefixes: readonly string[]
  readonly reason: string
  readonly actor: string
  /** Facts that an override gives up; empty otherwise. */
  readonly fact_ids: readonly string[]
  readonly recorded_at: string
}

/** A hold and the receipt of what was done with it. */
export interface LegalHoldChange {
  readonly hold: LegalHold
  readonly receipt: LegalHoldReceipt
}

/**
 * Holds that keep facts from being forgotten, purged, compacted away or retired by retention. They do
 * not keep anybody from deleting, editing or superseding a fact.
 *
 * For operators only: callers over HTTP with `admin:write`, and the daemon itself.
 *
 * @throws {CruxError} `LEGAL_HOLD_FORBIDDEN`, `LEGAL_HOLD_INVALID`, `LEGAL_HOLD_NOT_FOUND`,
 *   `LEGAL_HOLD_RELEASED`, `TENANT_FORBIDDEN`, and the journal's codes.
 */
export interface LegalHoldStore {
  /** Durable when it resolves: nothing that it covers is forgotten from then on. */
  place(
    caller: Caller,
    hold: {
      readonly tenantId: string
      /** Default: the whole tenant. */
      readonly entityPrefixes?: readonly string[]
      readonly reason: string
      /** Default `operator`. */
      readonly actor?: string
    },
  ): Promise<LegalHoldChange>
  release(
    caller: Caller,
    holdId: string,
    release?: { readonly reason?: string; readonly actor?: string },
  ): Promise<LegalHoldChange>
  /** Holds of all tenants that the caller may read, released ones included. */
  list(caller: Caller): Promise<readonly LegalHold[]>
  /**
   * Record that facts may be erased although these holds cover them.
   *
   * @returns The receipt, whose id `ForgettingStore.compact` takes.
   */
  override(
    caller: Caller,
    given: {
      readonly holdIds: readonly string[]
      readonly factIds: readonly string[]
      readonly reason: string
      readonly actor?: string
    },
  ): Promise<LegalHoldReceipt>
}
