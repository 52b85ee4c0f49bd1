import type { Clock } from 'crux-types'
import type { Config } from '../config/load.js'
import { cidrMatcher } from '../config/network.js'
import { ProblemError } from './problem.js'

/** Address of a client, and whether the rate limit passes it by. */
export interface ClientAddress {
  readonly address: string
  readonly isExempt: boolean
}

/**
 * Who the client of a connection is: the peer, unless that is a trusted proxy, whose forwarding
 * header then names it. A forwarding header from anybody else is not believed, and ends the
 * exemption: something stands in between.
 */
export function createAddressReader(
  config: Pick<Config, 'rateLimitExemptCidrs' | 'trustedProxyCidrs'>,
): (peer: string | undefined, forwardedFor: string | undefined) => ClientAddress {
  const isExempt = cidrMatcher(config.rateLimitExemptCidrs)
  const isProxy = cidrMatcher(config.trustedProxyCidrs)
  return (peer = 'unknown', forwardedFor) => {
    if (forwardedFor === undefined) return { address: peer, isExempt: isExempt(peer) }
    if (!isProxy(peer)) return { address: peer, isExempt: false }
    // Each proxy appends the peer it saw, so the last one that is no proxy is the client.
    const hops = forwardedFor.split(',').map((hop) => hop.trim())
    const client = hops.findLast((hop) => !isProxy(hop)) ?? peer
    return { address: client, isExempt: isExempt(client) }
  }
}

const MAX_BUCKETS = 10_000

/**
 * Token bucket for each client address.
 *
 * @returns A function that takes a token, or throws a 429 with the seconds until there is one.
 */
export function createRateLimit(
  config: Pick<Config, 'rateLimitRps' | 'rateLimitBurst'>,
  clock: Clock,
  onLimited: () => void,
): (client: ClientAddress) => void {
  const { rateLimitRps: rps, rateLimitBurst: burst } = config
  const buckets = new Map<string, { tokens: number; at: number }>()
  return (client) => {
    if (rps === 0 || client.isExempt) return
    const now = clock.now()
    const known = buckets.get(client.address)
    const tokens =
      known === undefined
        ? burst
        : Math.min(burst, known.tokens + (Math.max(now - known.at, 0) / 1000) * rps)
    // Set anew, so that the map is in order of last use and the first is the one to forget.
    buckets.delete(client.address)
    buckets.set(client.address, { tokens: Math.max(tokens - 1, 0), at: now })
    if (buckets.size > MAX_BUCKETS) {
      for (const oldest of buckets.keys()) {
        buckets.delete(oldest)
        break
      }
    }
    if (tokens >= 1) return
    buckets.set(client.address, { tokens, at: now })
    onLimited()
    const seconds = Math.max(Math.ceil((1 - tokens) / rps), 1)
    throw new ProblemError(
      'rate-limited',
      `more than ${rps} requests a second from this address; slow down, or raise CORECRUXD_RATE_LIMIT_RPS`,
      { headers: { 'retry-after': String(seconds) } },
    )
  }
}

/** Counts requests in flight. */
export interface InflightGate {
  /** @throws {ProblemError} 503 above the limit. */
  enter(): void
  leave(): void
  readonly count: () => number
}

/** @param limit - Most requests at a time; 0 is no limit. */
export function createInflightGate(limit: number): InflightGate {
  let inflight = 0
  return {
    enter() {
      if (limit > 0 && inflight >= limit) {
        throw new ProblemError(
          'overloaded',
          `${limit} requests are being served; try again, or raise CORECRUXD_MAX_INFLIGHT`,
          { headers: { 'retry-after': '1' } },
        )
      }
      inflight += 1
    },
    leave() {
      inflight -= 1
    },
    count: () => inflight,
  }
}
