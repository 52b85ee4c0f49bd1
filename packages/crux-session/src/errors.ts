/**
 * Codes thrown by crux-session.
 *
 * - `SESSION_ID_INVALID`: an id is empty, over 256 UTF-8 bytes, or holds a control character; `data.reason`.
 * - `SESSION_ID_RESERVED`: an id starts with the prefix under which agents' sessions are kept; `data.prefix`.
 * - `SESSION_OWNER_INVALID`: the agent's name cannot own sessions, because names with `::` inside or
 *   `:` at the end would share ids with another agent; `data.agent`.
 * - `SESSION_STATE_INVALID`: the state is not a JSON value; `cause` may say why.
 * - `SESSION_TOO_LARGE`: the state's compact JSON is over the limit; `data.bytes`, `data.maxBytes`.
 * - `SESSION_TTL_INVALID`: the time to live is not a whole number of seconds that ends within the calendar; `data.ttlSeconds`.
 */
export type SessionErrorCode =
  | 'SESSION_ID_INVALID'
  | 'SESSION_ID_RESERVED'
  | 'SESSION_OWNER_INVALID'
  | 'SESSION_STATE_INVALID'
  | 'SESSION_TOO_LARGE'
  | 'SESSION_TTL_INVALID'
