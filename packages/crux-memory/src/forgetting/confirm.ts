import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Caller } from 'crux-types'
import type { ForgetRequest } from './forgetting-store.js'
import type { ResolvedScope } from './resolve.js'

/** More facts than this are not forgotten without proof that they were looked at. */
const MAX_UNCONFIRMED_FACTS = 100

/** Whether forgetting this needs the proof. */
export function needsConfirm({ rows, isAllVisible }: ResolvedScope): boolean {
  return rows.length > MAX_UNCONFIRMED_FACTS || isAllVisible
}

/**
 * Proof that a set of facts was shown to a caller for a scope: it fits this set, scope, caller and data
 * directory only.
 *
 * @param key - Secret of the data directory, at least 16 bytes.
 */
export function confirmToken(
  key: Uint8Array,
  caller: Caller,
  { scope, includePinned = false }: ForgetRequest,
  { table, rows }: ResolvedScope,
): string {
  const mac = createHmac('sha256', key)
  const { tenant, identity } = caller
  mac.update(JSON.stringify(['forget', tenant, identity, scope.type, scope.value, includePinned]))
  const ids = table === undefined ? [] : rows.map((row) => table.ids.id(row))
  for (const id of ids.sort()) mac.update(`\n${id}`)
  return mac.digest('base64url')
}

/** Compares in constant time. */
export function isSameToken(expected: string, given: string): boolean {
  const a = Buffer.from(expected)
  const b = Buffer.from(given)
  return a.length === b.length && timingSafeEqual(a, b)
}
