import { PROTOCOL_VERSION } from '../protocol/codes.js'

/**
 * How a request speaks: `negotiated`, revisions that begin with `initialize`; `stateless`, the
 * revision in which every request says all about itself.
 */
export type Era = 'negotiated' | 'stateless'

/** Revisions that `initialize` can agree on, newest first. */
export const NEGOTIATED_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', PROTOCOL_VERSION]

/** The revision that needs no agreement. */
export const STATELESS_VERSION = '2026-07-28'

/** Every revision that the full profile speaks, newest first. */
export const FULL_PROFILE_VERSIONS = [STATELESS_VERSION, ...NEGOTIATED_VERSIONS]

/** First revision whose clients take an event without data, which says where a stream began. */
export const EMPTY_EVENTS_SINCE = '2025-11-25'

/**
 * Tell from one request alone how it speaks; nothing is remembered between requests.
 *
 * @param version - Header `MCP-Protocol-Version`.
 * @param method - `method` of the body.
 * @returns `default` where the default profile answers, `unknown` for a revision that is not spoken here.
 */
export function eraOf(version: string | undefined, method: unknown): Era | 'default' | 'unknown' {
  if (version === STATELESS_VERSION || method === 'server/discover') return 'stateless'
  // Whatever a client says before it has agreed on a revision, it can agree.
  if (method === 'initialize') return 'negotiated'
  if (version === undefined || version === PROTOCOL_VERSION) return 'default'
  return NEGOTIATED_VERSIONS.includes(version) ? 'negotiated' : 'unknown'
}
