import { createHash } from 'node:crypto'

/** Journal key of a session: one per stored id, whatever characters the id holds. */
export function sessionKey(tenant: string, storedId: string): string {
  return `${tenant}/sessions/${createHash('sha256').update(storedId).digest('base64url').slice(0, 24)}`
}
