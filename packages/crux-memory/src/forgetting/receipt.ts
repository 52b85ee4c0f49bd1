import { blake3 } from '@noble/hashes/blake3.js'
import { encode } from 'cborg'
import { type Pause, toStoredTime } from 'crux-types'
import type { FactTable } from '../facts/fact-table.js'
import type { ForgetEntry } from './forget-ledger.js'
import type { PurgeReceipt } from './forgetting-store.js'
import { type ForgetScope, renderScope } from './scope.js'

const FORGET_SCHEMA = 'cuecrux.receipt.forget.v1'
const PURGE_SCHEMA = 'cuecrux.receipt.permanent_purge.v1'
const ID_HEX_DIGITS = 16

/** What a receipt of forgetting states. */
export interface ForgetStatement {
  readonly passport: string
  /** Label of the receipt. */
  readonly tenant: string
  readonly reason: string
  readonly scope: ForgetScope
  readonly initiatedAt: number
  readonly windowEnd: number
}

/** Id of a receipt: it names who, what, how much and when, and nothing of the values. */
export function forgetReceiptId(
  { passport, tenant, scope, initiatedAt }: Omit<ForgetStatement, 'reason' | 'windowEnd'>,
  count: number,
): string {
  const parts = [passport, tenant, renderScope(scope), count, toStoredTime(initiatedAt)]
  return `r_forget_${shortHash(parts.join('|'))}`
}

/** The CBOR body of a receipt of forgetting, members in the order of its schema, and its BLAKE3. */
export async function forgetBody(
  receiptId: string,
  statement: ForgetStatement,
  table: FactTable | undefined,
  rows: readonly number[],
  pause: Pause,
): Promise<{ body: Uint8Array; bodyHash: Uint8Array }> {
  const affected: Record<string, string>[] = []
  if (table !== undefined) {
    for (const row of rows) {
      affected.push({
        fact_id: table.ids.id(row),
        pre_forget_value_hash_hex: hex(blake3(Buffer.from(table.value(row)))),
        entity: table.entity(row),
        key: table.key(row),
      })
      await pause()
    }
  }
  return sealed({
    schema: FORGET_SCHEMA,
    receipt_id: receiptId,
    tenant_id: statement.tenant,
    passport_id: statement.passport,
    reason: statement.reason,
    scope: { type: statement.scope.type, value: statement.scope.value },
    facts_affected: affected,
    initiated_at: toStoredTime(statement.initiatedAt),
    recovery_window_ends_at: toStoredTime(statement.windowEnd),
  })
}

/** Id of the receipt of a purge. */
export function purgeReceiptId(forgetReceiptId: string, purgedAt: string): string {
  return `r_purge_${shortHash(`${forgetReceiptId}|${purgedAt}`)}`
}

/** The receipt of a purge, as its entry determines it; undefined before the purge. */
export function purgeReceipt(entry: ForgetEntry): PurgeReceipt | undefined {
  const { purgeReceiptId: receiptId, endedAt: purgedAt } = entry
  if (receiptId === null || purgedAt === null) return undefined
  const factIds = [...entry.factIds, ...entry.derivedFactIds]
  return {
    receiptId,
    forgetReceiptId: entry.receiptId,
    tenant: entry.tenant,
    factIds,
    purgedAt,
    ...sealed({
      schema: PURGE_SCHEMA,
      receipt_id: receiptId,
      tenant_id: entry.tenant,
      source_forget_receipt_id: entry.receiptId,
      purged_fact_ids: factIds,
      purged_at: purgedAt,
    }),
  }
}

function sealed(value: Record<string, unknown>): { body: Uint8Array; bodyHash: Uint8Array } {
  // Members stay in the order of the schema; the library would sort them.
  const body = encode(value, { mapSorter: () => 0 })
  return { body, bodyHash: blake3(body) }
}

function shortHash(text: string): string {
  return hex(blake3(Buffer.from(text))).slice(0, ID_HEX_DIGITS)
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
