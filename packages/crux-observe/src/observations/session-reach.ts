import { createHash } from 'node:crypto'
import {
  assertSessionId,
  type Caller,
  CruxError,
  DEFAULT_TENANT,
  passportOf,
  storedSessionId,
  type TypesErrorCode,
  visibleSessionId,
} from 'crux-types'

/** What the ids of sessions start with that hold the calls of a passport. */
const LEDGER_PREFIX = 'ledger::'
/** Longest part of a file's name that stands for an id, and for a tenant, in characters. */
const MAX_ID_PART = 120
const MAX_TENANT_PART = 50
const MAX_STORED_ID_BYTES = 1024

/** The session in which the calls of this caller are kept. */
export function ledgerSession(caller: Caller): string {
  return LEDGER_PREFIX + passportOf(caller)
}

/**
 * The id under which a session's records are kept, of a session that the caller may read; undefined when it
 * may not.
 *
 * Agents read their own sessions and the calls that they made; whoever has no name reads what has no owner,
 * and the calls of the nameless. An operator, who administers the installation over HTTP, names any session by the id that it is
 * kept under.
 *
 * @throws {CruxError} `SESSION_ID_INVALID`, `SESSION_ID_RESERVED` or `SESSION_OWNER_INVALID`.
 */
export function readableSession(caller: Caller, sessionId: string): string | undefined {
  if (isOperator(caller, ['admin:read', 'admin:write'])) return storedId(sessionId)
  if (sessionId === ledgerSession(caller)) return sessionId
  if (sessionId.startsWith(LEDGER_PREFIX)) return undefined
  return storedSessionId(caller, sessionId)
}

/**
 * The id under which the caller's records of a session are kept.
 *
 * @throws {CruxError} As {@link readableSession}; `SESSION_ID_RESERVED` for ledgers too, which only the daemon
 *   and operators write.
 */
export function writableSession(caller: Caller, sessionId: string): string {
  if (isOperator(caller, ['admin:write'])) return storedId(sessionId)
  if (sessionId.startsWith(LEDGER_PREFIX)) {
    throw new CruxError<TypesErrorCode>(
      'SESSION_ID_RESERVED',
      `a session id may not start with '${LEDGER_PREFIX}', where the daemon keeps calls of tools; choose another name, or write with the scope admin:write`,
      { data: { prefix: LEDGER_PREFIX } },
    )
  }
  return storedSessionId(caller, sessionId)
}

/** The id by which the caller asks for what is kept under `storedId`; undefined when it may not read it. */
export function readableAs(caller: Caller, storedId: string): string | undefined {
  if (isOperator(caller, ['admin:read', 'admin:write'])) return storedId
  if (storedId === ledgerSession(caller)) return storedId
  if (storedId.startsWith(LEDGER_PREFIX)) return undefined
  return visibleSessionId(caller, storedId)
}

/**
 * Name of the log that holds a session's records; sessions whose ids differ only in what no file's name
 * holds share one.
 */
export function logName(tenant: string, storedId: string): string {
  return namePart(storedId, MAX_ID_PART) + tenantPart(tenant)
}

/** Whether records of a tenant may stand in a log. */
export function mayHoldTenant(log: string, tenant: string): boolean {
  const at = log.indexOf('@')
  return tenantPart(tenant) === (at < 0 ? '' : log.slice(at))
}

// No name of a session has the sign in it.
function tenantPart(tenant: string): string {
  return tenant === DEFAULT_TENANT ? '' : `@${namePart(tenant, MAX_TENANT_PART)}`
}

function namePart(text: string, maxLength: number): string {
  const name = text.replace(/[^A-Za-z0-9._-]/g, '_')
  if (name.length <= maxLength) return name
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return `${name.slice(0, maxLength - hash.length - 1)}-${hash}`
}

function isOperator({ kind, scopes }: Caller, wanted: readonly string[]): boolean {
  if (kind === 'system') return true
  return kind === 'http' && (scopes === '*' || wanted.some((scope) => scopes.includes(scope)))
}

/** An id with the name of its owner before it. @throws {CruxError} `SESSION_ID_INVALID`. */
function storedId(sessionId: string): string {
  assertSessionId(sessionId, MAX_STORED_ID_BYTES)
  return sessionId
}
