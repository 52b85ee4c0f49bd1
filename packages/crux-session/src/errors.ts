/**
 * Codes thrown by crux-session.
 *
 * - `SESSION_STATE_INVALID`: the state is not a JSON value; `cause` may say why.
 * - `SESSION_TOO_LARGE`: the state's compact JSON is over the limit; `data.bytes`, `data.maxBytes`.
 * - `SESSION_TTL_INVALID`: the time to live is not a whole number of seconds that ends within the calendar; `data.ttlSeconds`.
 */
export type SessionErrorCode = 'SESSION_STATE_INVALID' | 'SESSION_TOO_LARGE' | 'SESSION_TTL_INVALID'
