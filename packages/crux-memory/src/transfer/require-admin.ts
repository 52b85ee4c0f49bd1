import { type Caller, CruxError } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'

/** @throws {CruxError} `ADMIN_REQUIRED` unless the caller holds the scope. */
export function requireAdmin(caller: Caller, scope: 'admin:read' | 'admin:write'): void {
  if (caller.scopes === '*' || caller.scopes.includes(scope)) return
  throw new CruxError<MemoryErrorCode>(
    'ADMIN_REQUIRED',
    `this needs the scope ${scope}; ask with a token that holds it`,
    { data: { scope } },
  )
}
