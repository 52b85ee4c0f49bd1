import type { Caller } from 'crux-types'

/** Whether a caller acts for whoever runs the daemon: over HTTP with an admin scope, or the daemon itself. */
export function isOperator(caller: Caller, need: 'read' | 'write'): boolean {
  if (caller.kind === 'system') return true
  if (caller.kind !== 'http') return false
  const { scopes } = caller
  if (scopes === '*' || scopes.includes('admin:write')) return true
  return need === 'read' && scopes.includes('admin:read')
}
