import { ANONYMOUS, type Caller, type Clock, messageOf } from 'crux-types'
import { hashToken } from '../gates/agent-tokens.js'
import type { McpLog } from '../server-options.js'
import { type ActiveToken, type Fetch, introspect } from './introspect.js'
import { type OAuthOptions, READ_SCOPE } from './oauth-options.js'

/** Finds the caller that a bearer token of an authorization server stands for. */
export type FindOAuthCaller = (token: string) => Caller | undefined | Promise<Caller | undefined>

export interface OAuthCallersOptions {
  readonly oauth: OAuthOptions
  readonly clock: Clock
  readonly log: Pick<McpLog, 'warn'>
  readonly fetch: Fetch
}

const MAX_CACHE_MS = 60_000
// About 200 bytes each; the oldest goes first.
const MAX_CACHED = 1024
// Questions under way at once. Whoever makes up tokens costs this server little, and the
// authorization server no more than this.
const MAX_IN_FLIGHT = 64

interface CachedCaller {
  readonly caller: Caller | undefined
  /** Milliseconds since 1970-01-01 UTC. */
  readonly until: number
}

/**
 * Build the check of bearer tokens that an authorization server gave out.
 *
 * They let in to read, and to nothing else. What is found out of an active token is kept for a
 * minute at most, and never beyond the token's end; a failure counts as not active and is not kept.
 * Tokens themselves are not kept, only their hashes.
 *
 * @returns Undefined when introspection is not configured: then nobody is ever asked.
 */
export function createOAuthCallers({
  oauth,
  clock,
  log,
  fetch,
}: OAuthCallersOptions): FindOAuthCaller | undefined {
  const { introspection } = oauth
  if (introspection === undefined) return undefined
  const cache = new Map<string, CachedCaller>()
  const inFlight = new Map<string, Promise<Caller | undefined>>()

  const ask = async (token: string, key: string): Promise<Caller | undefined> => {
    try {
      const active = await introspect(token, introspection, fetch)
      if (active === undefined) return undefined
      const caller = callerOf(active, oauth)
      keep(key, active, caller)
      return caller
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'a bearer token could not be checked')
      return undefined
    }
  }

  const keep = (key: string, { expiresAt }: ActiveToken, caller: Caller | undefined): void => {
    const now = clock.now()
    const left = expiresAt === undefined ? MAX_CACHE_MS : expiresAt * 1000 - now
    if (!(left > 0)) return
    cache.delete(key)
    cache.set(key, { caller, until: now + Math.min(left, MAX_CACHE_MS) })
    if (cache.size <= MAX_CACHED) return
    for (const oldest of cache.keys()) {
      cache.delete(oldest)
      break
    }
  }

  return (token) => {
    const key = hashToken(token).toString('hex')
    const known = cache.get(key)
    if (known !== undefined && clock.now() < known.until) return known.caller
    cache.delete(key)
    const underWay = inFlight.get(key)
    if (underWay !== undefined) return underWay
    if (inFlight.size >= MAX_IN_FLIGHT) {
      log.warn(
        { limit: MAX_IN_FLIGHT },
        'too many bearer tokens are being checked; one was refused',
      )
      return undefined
    }
    const asking = ask(token, key).finally(() => inFlight.delete(key))
    inFlight.set(key, asking)
    return asking
  }
}

function callerOf(token: ActiveToken, oauth: OAuthOptions): Caller | undefined {
  const { tenant, requireAudience, resourceUrl } = oauth
  const isMeantForUs =
    !requireAudience ||
    token.audience.length === 0 ||
    (resourceUrl !== undefined && token.audience.includes(resourceUrl))
  if (!isMeantForUs || !token.scopes.includes(READ_SCOPE)) return undefined
  return {
    ...ANONYMOUS,
    kind: 'oauth',
    agent: tenant,
    identity: tenant,
    tenant,
    tenants: [],
    scopes: token.scopes,
    readOnly: true,
  }
}
