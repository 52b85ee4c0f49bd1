/** A copy of forgotten text in another store: which store, and its id there. */
export interface CopyRef {
  /** Such as `artefact`. */
  readonly kind: string
  readonly id: string
}

/** A change of what is forgotten, as a line of the journal names it; times are RFC 3339 in UTC. */
export type ForgetLine =
  | {
      readonly op: 'forget'
      readonly receipt_id: string
      readonly tenant_hash: string
      /** Facts of the scope. */
      readonly fact_ids: readonly string[]
      /** End of the time in which it can be undone. */
      readonly window_end: string
      /** Facts that repeat their values; absent when there are none. */
      readonly derived_fact_ids?: readonly string[]
      readonly copies?: readonly CopyRef[]
      /** Who forgot. */
      readonly passport_id: string
      /** Scope in words, `<type>:<value>`. */
      readonly scope: string
      /** Absent once a purge took it away. */
      readonly reason?: string
      readonly forgotten_at: string
    }
  | { readonly op: 'forget_restore'; readonly receipt_id: string; readonly restored_at: string }
  | {
      readonly op: 'forget_purge'
      readonly receipt_id: string
      readonly purge_receipt_id: string
      readonly purged_at: string
      /** Reason and scope repeat a value: they go as well, but for the scope's type. */
      readonly drops_words?: boolean
    }
  | { readonly op: 'compact'; readonly fact_ids: readonly string[]; readonly compacted_at: string }
  | { readonly op: 'values_erased'; readonly erased_at: string }

/** Names of the changes above. */
export const FORGET_OPS: ReadonlySet<unknown> = new Set<ForgetLine['op']>([
  'forget',
  'forget_restore',
  'forget_purge',
  'compact',
  'values_erased',
])

/**
 * The change that a parsed line names.
 *
 * @param value - An object whose `op` is one of {@link FORGET_OPS}.
 * @returns The reason as text when it names none.
 */
export function decodeForgetLine(value: Record<string, unknown>): ForgetLine | string {
  switch (value.op) {
    case 'forget': {
      const { receipt_id: id, tenant_hash: tenant, fact_ids: facts, window_end: end } = value
      const { passport_id: passport, scope, forgotten_at: at, reason } = value
      if (!isText(id) || !isText(tenant) || !isText(passport) || !isText(scope)) {
        return 'a name of the forgetting is not a string'
      }
      if (!isTexts(facts)) return 'fact_ids is not a list of strings'
      if (!isText(end) || !isText(at)) return 'a time of the forgetting is not a string'
      const derived = value.derived_fact_ids ?? []
      if (!isTexts(derived)) return 'derived_fact_ids is not a list of strings'
      const copies = decodeCopies(value.copies)
      if (copies === undefined) return 'copies is not a list of copies'
      return {
        op: 'forget',
        receipt_id: id,
        tenant_hash: tenant,
        fact_ids: facts,
        window_end: end,
        derived_fact_ids: derived,
        copies,
        passport_id: passport,
        scope,
        ...(isText(reason) && { reason }),
        forgotten_at: at,
      }
    }
    case 'forget_restore':
      if (!isText(value.receipt_id)) return 'receipt_id is not a string'
      if (!isText(value.restored_at)) return 'restored_at is not a string'
      return { op: value.op, receipt_id: value.receipt_id, restored_at: value.restored_at }
    case 'forget_purge': {
      const { receipt_id: id, purge_receipt_id: purgeId, purged_at: at } = value
      if (!isText(id) || !isText(purgeId) || !isText(at)) return 'a name of the purge is missing'
      return {
        op: 'forget_purge',
        receipt_id: id,
        purge_receipt_id: purgeId,
        purged_at: at,
        drops_words: value.drops_words === true,
      }
    }
    case 'compact':
      if (!isTexts(value.fact_ids)) return 'fact_ids is not a list of strings'
      if (!isText(value.compacted_at)) return 'compacted_at is not a string'
      return { op: 'compact', fact_ids: value.fact_ids, compacted_at: value.compacted_at }
    case 'values_erased':
      if (!isText(value.erased_at)) return 'erased_at is not a string'
      return { op: 'values_erased', erased_at: value.erased_at }
    default:
      return 'op is not one of forgetting'
  }
}

function decodeCopies(value: unknown): readonly CopyRef[] | undefined {
  if (value === undefined) return []
  if (!Array.isArray(value)) return undefined
  const copies: CopyRef[] = []
  for (const item of value) {
    if (!isText(item?.kind) || !isText(item.id)) return undefined
    copies.push({ kind: item.kind, id: item.id })
  }
  return copies
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}
