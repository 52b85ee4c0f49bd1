import type { Caller, WorkWatch } from 'crux-types'
import type { ForgetEntry } from './forget-ledger.js'
import type { CopyRef } from './forget-lines.js'
import type { ForgetScope } from './scope.js'

/** What is to be forgotten. */
export interface ForgetRequest {
  readonly scope: ForgetScope
  /** Facts that the caller pinned as well; default false. */
  readonly includePinned?: boolean
  /** Tokens of values, oldest facts first, at least one fact; default everything in scope. */
  readonly tokenBudget?: number
  /** Only what comes after this fact. */
  readonly after?: ForgetMark
}

/** Place of a fact among those of a scope; plain numbers. */
export interface ForgetMark {
  /** Milliseconds since 1970-01-01 UTC. */
  readonly storedAt: number
  readonly row: number
}

/** A fact that would be forgotten, as the caller sees it. */
export interface ForgetCandidate {
  readonly factId: string
  readonly entity: string
  readonly key: string
  /** RFC 3339 in UTC. */
  readonly storedAt: string
  readonly tokens: number
}

/** What a forgetting would do. */
export interface ForgetPreview {
  /** Oldest first. */
  readonly facts: readonly ForgetCandidate[]
  /** Facts of the scope that the budget had no room for. */
  readonly leftOut: number
  /** The last of the facts; undefined when nothing was left out. */
  readonly next?: ForgetMark
  /** Whether {@link confirm} has to be sent along: more than 100 facts, or all that the caller sees. */
  readonly isConfirmNeeded: boolean
  /** Proof that this very set was shown to this caller. */
  readonly confirm: string
  /** Facts of the daemon's own that repeat a value and go along. */
  readonly derivedFactIds: readonly string[]
  /** Copies in other stores that go along. */
  readonly copies: readonly CopyRef[]
  /** Some of the values, longest first, for looking where else they stand. */
  readonly values: readonly string[]
  readonly activeHoldIds: readonly string[]
}

/** What was forgotten. */
export interface ForgetReceipt {
  /** `r_forget_` and 16 hex digits. */
  readonly receiptId: string
  readonly factIds: readonly string[]
  /** Tokens of their values. */
  readonly tokens: number
  /** Facts of the scope that the budget had no room for, which are not forgotten. */
  readonly leftOut: number
  readonly windowSeconds: number
  /** Milliseconds since 1970-01-01 UTC. */
  readonly windowEnd: number
  /** CBOR, with the hash of each value; it is given out and not kept. */
  readonly body: Uint8Array
  readonly bodyHash: Uint8Array
}

/** A forgetting, with whether its values have left the disk. */
export type ListedForget = ForgetEntry & { readonly isErased: boolean }

/** Values that were purged. */
export interface PurgeReceipt {
  readonly receiptId: string
  readonly forgetReceiptId: string
  readonly tenant: string
  readonly factIds: readonly string[]
  /** RFC 3339 in UTC. */
  readonly purgedAt: string
  /** CBOR, with ids and no hash of any value. */
  readonly body: Uint8Array
  readonly bodyHash: Uint8Array
}

/** Outcome of a purge of all that is due. */
export interface PurgeRun {
  readonly purged: readonly PurgeReceipt[]
  /** Receipts that legal holds keep from being purged. */
  readonly held: readonly { readonly receiptId: string; readonly holdIds: readonly string[] }[]
}

/** What a compaction did. */
export interface CompactReport {
  /** Deleted facts whose values are gone. */
  readonly factsDropped: number
  readonly factsRetained: number
  /** Deleted facts that stay in histories, without a value. */
  readonly tombstonesKept: number
}

/** Copies of facts in another store, which forgetting has to reach. */
export interface ErasableCopies {
  /** Such as `artefact`. */
  readonly kind: string
  /** Ids of what belongs to the caller and holds forgotten text. */
  find(caller: Caller, holds: (content: Uint8Array) => boolean): Promise<readonly string[]>
  /**
   * Take them off the disk, with what was removed before and all that was set aside of their files;
   * unknown ids are passed over.
   */
  erase(tenant: string, ids: readonly string[]): Promise<void>
}

/**
 * Forgetting: a value is gone for readers at once, can come back within a window, and is then purged
 * from the disk.
 *
 * An operator is a caller over HTTP with `admin:write`, or the daemon itself.
 *
 * @throws {CruxError} see `MemoryErrorCode`, and the journal's codes.
 */
export interface ForgettingStore {
  /** @param watch - Follows and stops it. */
  preview(caller: Caller, request: ForgetRequest, watch?: WorkWatch): Promise<ForgetPreview>
  /**
   * Durable when it resolves; all or nothing.
   *
   * @param watch - Follows it, and stops it as long as nothing is forgotten.
   * @param request.reason - Not blank, at most 4 KiB.
   * @param request.confirm - From {@link ForgetPreview}, where it is needed.
   * @param request.receiptTenant - Label on the receipt; default `default`.
   */
  forget(
    caller: Caller,
    request: ForgetRequest & {
      readonly reason: string
      readonly confirm?: string
      readonly receiptTenant?: string
    },
    watch?: WorkWatch,
  ): Promise<ForgetReceipt>
  /** Forgettings of the caller's tenant, oldest first: its own, and to who may read as operator all. */
  list(caller: Caller): Promise<readonly ListedForget[]>
  /** Bring everything back; undefined when the caller has no such receipt. */
  restore(caller: Caller, receiptId: string): Promise<ForgetEntry | undefined>
  /**
   * Purge one receipt; undefined when the caller has no such receipt.
   *
   * @param options.isNow - Before the window ends, too; for operators only.
   */
  purge(
    caller: Caller,
    receiptId: string,
    options?: { readonly isNow?: boolean },
  ): Promise<PurgeReceipt | undefined>
  /** Finish what a crash interrupted, and purge all whose window has ended. */
  purgeDue(): Promise<PurgeRun>
  /** Whether a copy in another store is forgotten. */
  isForgottenCopy(tenant: string, copy: CopyRef): boolean
  /**
   * Take the values of deleted facts off the disk. Facts that can still be restored are left alone.
   *
   * @param override - A receipt of {@link LegalHoldStore.override} that covers all that is held.
   */
  compact(override?: string): Promise<CompactReport>
  /**
   * Delete live facts that are not private and were stored before a time, except held ones and marks of
   * synchronisation.
   *
   * @param before - Milliseconds since 1970-01-01 UTC.
   * @returns Ids of what was deleted.
   */
  markRetentionEligible(before: number): Promise<readonly string[]>
}
