import type { IncomingMessage } from 'node:http'

const SESSION_ID = /^[A-Za-z0-9._:-]{1,128}$/

/** The answer to a session header that cannot be used. */
export const INVALID_SESSION_ID_BODY = JSON.stringify({
  error: 'invalid_mcp_session_id',
  hint: 'Mcp-Session-Id must be 1..=128 ASCII chars from [A-Za-z0-9._:-]',
})

/**
 * Read the `Mcp-Session-Id` header.
 *
 * @returns The id; undefined when there is no header; null when it is malformed or sent twice.
 */
export function readSessionId(request: IncomingMessage): string | undefined | null {
  const header = request.headers['mcp-session-id']
  if (header === undefined) return undefined
  // Node joins repeated headers with a comma, which no id may hold.
  const id = String(header).trim()
  return SESSION_ID.test(id) ? id : null
}
