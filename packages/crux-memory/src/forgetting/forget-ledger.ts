import type { CopyRef, ForgetLine } from './forget-lines.js'

/** One forgetting, and what became of it; times are RFC 3339 in UTC. */
export interface ForgetEntry {
  readonly receiptId: string
  readonly tenant: string
  /** Who forgot. */
  readonly passportId: string
  /** In words, `<type>:<value>`. */
  readonly scope: string
  /** Null once a purge took it away. */
  readonly reason: string | null
  /** Facts of the scope. */
  readonly factIds: readonly string[]
  /** Facts that repeated their values. */
  readonly derivedFactIds: readonly string[]
  /** Copies in other stores. */
  readonly copies: readonly CopyRef[]
  readonly forgottenAt: string
  /** Until then it can be undone. */
  readonly windowEnd: string
  readonly status: 'forgotten' | 'restored' | 'purged'
  /** When it was restored or purged. */
  readonly endedAt: string | null
  readonly purgeReceiptId: string | null
}

/** What a snapshot keeps of the ledger. */
export interface LedgerState {
  readonly entries: readonly ForgetEntry[]
  readonly unerased: readonly string[]
  readonly isUnerased: boolean
}

/** Every forgetting there was, as the journal determines it. */
export class ForgetLedger {
  /** Counts the changes, so that a reader can tell whether there was one. */
  changes = 0
  /** Values were given up that may still be on disk. */
  isUnerased = false
  private readonly entries = new Map<string, ForgetEntry>()
  /** Purged receipts whose copies in other stores may still be there. */
  private unerasedReceipts = new Set<string>()
  private readonly hiddenCopies = new Set<string>()

  get(receiptId: string): ForgetEntry | undefined {
    return this.entries.get(receiptId)
  }

  /** Oldest first. */
  all(): IterableIterator<ForgetEntry> {
    return this.entries.values()
  }

  /** Purged receipts since the last erasure that came to its end. */
  unerased(): readonly ForgetEntry[] {
    return [...this.unerasedReceipts].flatMap((id) => this.entries.get(id) ?? [])
  }

  /** Whether a copy in another store is forgotten, purged ones included. */
  hides(tenant: string, copy: CopyRef): boolean {
    return this.hiddenCopies.has(copyName(tenant, copy))
  }

  /** @returns False when the line changes nothing, since its receipt is unknown, known already or at its end. */
  apply(line: ForgetLine): boolean {
    this.changes++
    switch (line.op) {
      case 'forget':
        if (this.entries.has(line.receipt_id)) return false
        this.add({
          receiptId: line.receipt_id,
          tenant: line.tenant_hash,
          passportId: line.passport_id,
          scope: line.scope,
          reason: line.reason ?? null,
          factIds: line.fact_ids,
          derivedFactIds: line.derived_fact_ids ?? [],
          copies: line.copies ?? [],
          forgottenAt: line.forgotten_at,
          windowEnd: line.window_end,
          status: 'forgotten',
          endedAt: null,
          purgeReceiptId: null,
        })
        return true
      case 'forget_restore': {
        const entry = this.entries.get(line.receipt_id)
        if (entry?.status !== 'forgotten') return false
        this.entries.set(entry.receiptId, {
          ...entry,
          status: 'restored',
          endedAt: line.restored_at,
        })
        for (const copy of entry.copies) this.hiddenCopies.delete(copyName(entry.tenant, copy))
        return true
      }
      case 'forget_purge': {
        const entry = this.entries.get(line.receipt_id)
        if (entry?.status !== 'forgotten') return false
        this.entries.set(entry.receiptId, {
          ...entry,
          ...(line.drops_words === true && withoutWords(entry)),
          status: 'purged',
          endedAt: line.purged_at,
          purgeReceiptId: line.purge_receipt_id,
        })
        this.unerasedReceipts.add(entry.receiptId)
        this.isUnerased = true
        return true
      }
      case 'compact':
        this.isUnerased = true
        return true
      case 'values_erased':
        this.unerasedReceipts = new Set()
        this.isUnerased = false
        return true
    }
  }

  state(): LedgerState {
    return {
      entries: [...this.entries.values()],
      unerased: [...this.unerasedReceipts],
      isUnerased: this.isUnerased,
    }
  }

  restore(state: LedgerState): void {
    for (const entry of state.entries) this.add(entry)
    this.unerasedReceipts = new Set(state.unerased)
    this.isUnerased = state.isUnerased
  }

  private add(entry: ForgetEntry): void {
    this.entries.set(entry.receiptId, entry)
    if (entry.status === 'restored') return
    for (const copy of entry.copies) this.hiddenCopies.add(copyName(entry.tenant, copy))
  }
}

/** What remains of a scope and a reason that repeat a value. */
export function withoutWords({ scope }: { readonly scope: string }): {
  readonly scope: string
  readonly reason: null
} {
  const end = scope.indexOf(':')
  return { scope: end === -1 ? scope : scope.slice(0, end + 1), reason: null }
}

function copyName(tenant: string, { kind, id }: CopyRef): string {
  return `${tenant}\u0000${kind}\u0000${id}`
}
