import { originKey } from './ingress-guard.js'

/** Headers by which a browser lets web pages of some origins read answers. */
export interface CorsRules {
  /** For any answer; undefined where the page may not read it. */
  grant(origin: string | undefined): CorsHeaders | undefined
  /**
   * For the question that a browser asks before a page's request; undefined when this is none, or of
   * another origin.
   *
   * @param header - A header of the request by its name in lower case.
   */
  preflight(
    method: string | undefined,
    header: (name: string) => string | undefined,
  ): CorsHeaders | undefined
}

/** Names and values. */
export type CorsHeaders = Readonly<Record<string, string>>

export interface CorsOptions {
  /** Origins whose pages may read answers. Others, loopback ones among them, are served and not read. */
  readonly allowedOrigins: readonly string[]
  readonly methods: readonly string[]
  /** Headers of answers that pages may read besides the common ones. */
  readonly exposed: readonly string[]
}

const MAX_AGE_SECONDS = '600'
const MAX_NAMES_LENGTH = 1024
const HEADER_NAMES = /^[\w-]+(?:\s*,\s*[\w-]+)*$/

/**
 * Build the rules; undefined when no origin is listed, so that nothing is to be done.
 *
 * A page that is let in proves who it is by a token, never by cookies: there are none.
 *
 * @see Fetch Standard, "CORS protocol"
 */
export function createCorsRules(options: CorsOptions): CorsRules | undefined {
  if (options.allowedOrigins.length === 0) return undefined
  const origins = new Set(options.allowedOrigins.map(originKey))
  const exposed = options.exposed.join(', ')
  const methods = options.methods.join(', ')
  const isListed = (origin: string | undefined): origin is string =>
    origin !== undefined && origins.has(originKey(origin))
  const readable = (origin: string): CorsHeaders => ({
    'Access-Control-Allow-Origin': origin,
    Vary: 'Origin',
  })
  return {
    grant: (origin) =>
      isListed(origin)
        ? { ...readable(origin), 'Access-Control-Expose-Headers': exposed }
        : undefined,
    preflight(method, header) {
      if (method !== 'OPTIONS' || header('access-control-request-method') === undefined) {
        return undefined
      }
      const origin = header('origin')
      if (!isListed(origin)) return undefined
      const wanted = header('access-control-request-headers') ?? ''
      const areNames = wanted.length <= MAX_NAMES_LENGTH && HEADER_NAMES.test(wanted)
      const isPrivate = header('access-control-request-private-network') === 'true'
      return {
        ...readable(origin),
        'Access-Control-Allow-Methods': methods,
        ...(areNames ? { 'Access-Control-Allow-Headers': wanted } : {}),
        ...(isPrivate ? { 'Access-Control-Allow-Private-Network': 'true' } : {}),
        'Access-Control-Max-Age': MAX_AGE_SECONDS,
      }
    },
  }
}
