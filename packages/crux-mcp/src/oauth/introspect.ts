import { z } from 'zod'
import type { IntrospectionOptions } from './oauth-options.js'

/** What an authorization server says of a token that is active. */
export interface ActiveToken {
  readonly scopes: readonly string[]
  /** Whom the token is meant for; empty when it does not say. */
  readonly audience: readonly string[]
  /** Seconds since 1970-01-01 UTC; undefined when it does not say. */
  readonly expiresAt: number | undefined
}

/** The part of the platform's `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

const DEFAULT_TIMEOUT_MS = 10_000
// Many times what such an answer takes.
const MAX_REPLY_BYTES = 64 * 1024

const replySchema = z.object({
  active: z.boolean(),
  scope: z.string().nullish(),
  aud: z.union([z.string(), z.array(z.string())]).nullish(),
  exp: z.number().nullish(),
})

/**
 * Ask an authorization server about a token (RFC 7662, with JSON for the request).
 *
 * Redirects are not followed: token and secret go only where the operator said.
 *
 * @returns Undefined when the token is not active.
 * @throws When there is no usable answer in time; the error holds neither token nor secret.
 */
export async function introspect(
  token: string,
  options: IntrospectionOptions,
  fetch: Fetch,
): Promise<ActiveToken | undefined> {
  const { url, clientId, clientSecret, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ token, client_id: clientId, client_secret: clientSecret }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await readBounded(response)
  if (!response.ok) throw new Error(`introspection answered HTTP ${response.status}`)
  const reply = replySchema.safeParse(parseOrNothing(text))
  if (!reply.success) {
    throw new Error('introspection answered no JSON object with a boolean "active"')
  }
  const { active, scope, aud, exp } = reply.data
  if (!active) return undefined
  return {
    scopes: (scope ?? '').split(' ').filter((word) => word !== ''),
    audience: typeof aud === 'string' ? [aud] : (aud ?? []),
    expiresAt: exp ?? undefined,
  }
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  // Node.js makes web streams iterable; the type of the platform's Response does not say so.
  const body = (response.body ?? []) as unknown as AsyncIterable<Uint8Array>
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > MAX_REPLY_BYTES) {
      throw new Error(`introspection answered more than ${MAX_REPLY_BYTES} bytes`)
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
