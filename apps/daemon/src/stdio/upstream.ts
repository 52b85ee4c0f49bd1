import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SurfaceChoice } from 'crux-mcp'
import { Agent, request } from 'undici'

/** What the endpoint made of one message. */
export type UpstreamReply =
  | { readonly kind: 'answer'; readonly text: string; readonly sessionId: string | undefined }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'failed'; readonly message: string; readonly detail: string }
  | { readonly kind: 'refused'; readonly message: string; readonly detail: string }

/** The MCP endpoint that messages are relayed to. */
export interface Upstream {
  /**
   * POST one message.
   *
   * @returns `refused` when nothing listens: the message was not sent, so it may be sent again.
   */
  post(message: Uint8Array, sessionId: string | undefined): Promise<UpstreamReply>
  /** Give up what is under way and release connections. */
  close(): Promise<void>
}

/** A daemon that is starting answers 503; it is asked again for this long. */
const STARTING_WAIT_MS = 15_000
// Longer than the daemon lets a tool run.
const ANSWER_TIMEOUT_MS = 120_000
const MAX_DETAIL = 300

/** Connect to a daemon's MCP endpoint; opens connections as calls need them. */
export function openUpstream(options: {
  readonly url: string
  readonly token: string | undefined
  /** Asked for in the query of the address. */
  readonly surface?: SurfaceChoice | undefined
  /** Most connections. */
  readonly connections: number
}): Upstream {
  const agent = new Agent({
    connections: options.connections,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  })
  const target = withSurface(options.url, options.surface)
  const closing = new AbortController()
  // Every request under way listens, which is no leak.
  setMaxListeners(0, closing.signal)

  const send = async (message: Uint8Array, sessionId: string | undefined) => {
    const response = await request(target, {
      method: 'POST',
      dispatcher: agent,
      signal: closing.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
      },
      body: message,
    })
    return {
      status: response.statusCode,
      headers: response.headers,
      text: await response.body.text(),
    }
  }

  return {
    async post(message, sessionId) {
      const deadline = performance.now() + STARTING_WAIT_MS
      try {
        for (;;) {
          const { status, headers, text } = await send(message, sessionId)
          if (status !== 503 || performance.now() > deadline) {
            return readReply(status, text, oneHeader(headers['mcp-session-id']))
          }
          const seconds = Number(oneHeader(headers['retry-after']) ?? 1)
          await sleep(Math.min(Number.isFinite(seconds) ? seconds : 1, 5) * 1000, undefined, {
            signal: closing.signal,
          })
        }
      } catch (error) {
        const isRefused = codesOf(error).includes('ECONNREFUSED')
        return {
          kind: isRefused ? 'refused' : 'failed',
          message: `upstream MCP endpoint unreachable: ${options.url}`,
          detail: codesOf(error).join(', ') || String(error),
        }
      }
    },
    async close() {
      closing.abort()
      await agent.destroy()
    },
  }
}

function withSurface(url: string, surface: SurfaceChoice | undefined): string {
  if (surface === undefined || !URL.canParse(url)) return url
  const target = new URL(url)
  target.searchParams.set('surface', surface)
  return target.href
}

function readReply(status: number, text: string, sessionId: string | undefined): UpstreamReply {
  if (status === 202) return { kind: 'accepted' }
  const failed = (message: string): UpstreamReply => ({
    kind: 'failed',
    message,
    detail: text.slice(0, MAX_DETAIL),
  })
  if (status !== 200) return failed(`upstream MCP endpoint answered HTTP ${status}`)
  // Only whole JSON on one line may reach the client, whatever the endpoint is.
  try {
    const value: unknown = JSON.parse(text)
    return { kind: 'answer', text: /[\r\n]/.test(text) ? JSON.stringify(value) : text, sessionId }
  } catch {
    return failed('upstream MCP endpoint answered HTTP 200 with a body that is not JSON')
  }
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

/** Error codes of a failure and of what caused it; several addresses may have been tried. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  const inner = error instanceof AggregateError ? error.errors : [error.cause]
  return [...own, ...inner.flatMap(codesOf)]
}
