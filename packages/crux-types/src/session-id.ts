import type { Caller } from './caller.js'
import { CruxError, hasCode, type TypesErrorCode } from './errors.js'
import { assertText } from './text.js'

/** Longest session id, in UTF-8 bytes. */
export const MAX_SESSION_ID_BYTES = 256

/** What the ids of agents' sessions start with where they are kept. */
export const AGENT_SESSION_PREFIX = '__agent_session::'

/**
 * The id under which a caller's session is kept: agents have sessions of their own, all others of a
 * tenant share theirs.
 *
 * @throws {CruxError} `SESSION_ID_INVALID`, `SESSION_ID_RESERVED` or `SESSION_OWNER_INVALID`.
 */
export function storedSessionId(caller: Caller, sessionId: string): string {
  assertSessionId(sessionId)
  if (sessionId.startsWith(AGENT_SESSION_PREFIX)) {
    throw new CruxError<TypesErrorCode>(
      'SESSION_ID_RESERVED',
      `a session id may not start with '${AGENT_SESSION_PREFIX}', which is where agents' sessions are kept; choose another name`,
      { data: { prefix: AGENT_SESSION_PREFIX } },
    )
  }
  return sessionPrefix(caller) + sessionId
}

/**
 * The id as the caller knows it; undefined when the session belongs to somebody else.
 *
 * @param storedId - As kept in the journal.
 */
export function visibleSessionId(caller: Caller, storedId: string): string | undefined {
  const prefix = sessionPrefix(caller)
  if (prefix === '') return storedId.startsWith(AGENT_SESSION_PREFIX) ? undefined : storedId
  return storedId.startsWith(prefix) ? storedId.slice(prefix.length) : undefined
}

/**
 * Check a session id for form alone.
 *
 * @throws {CruxError} `SESSION_ID_INVALID`.
 */
export function assertSessionId(sessionId: string, maxBytes = MAX_SESSION_ID_BYTES): void {
  const refuse = (reason: string): never => {
    throw new CruxError<TypesErrorCode>('SESSION_ID_INVALID', reason, { data: { reason } })
  }
  if (sessionId === '') refuse('session id is empty; name the session')
  try {
    assertText(sessionId, { field: 'session id', maxBytes, allowControl: false })
  } catch (error) {
    if (!hasCode(error, 'TEXT_INVALID')) throw error
    refuse(error.message)
  }
}

/** What an agent's stored ids start with; empty for a caller without a name. */
function sessionPrefix(caller: Caller): string {
  const agent = caller.agent ?? caller.identity
  if (agent === null) return ''
  // `a` with id `b::x` and `a::b` with id `x` would be one stored id.
  if (agent === '' || agent.includes('::') || agent.endsWith(':')) {
    throw new CruxError<TypesErrorCode>(
      'SESSION_OWNER_INVALID',
      `the agent name '${agent}' cannot own sessions; rename the agent without '::' and without ':' at the end`,
      { data: { agent } },
    )
  }
  return `${AGENT_SESSION_PREFIX}${agent}::`
}
