import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SurfaceChoice } from 'crux-mcp/protocol'
import { Agent, request } from 'undici'
import { readEventData } from './event-data.js'

/** What the endpoint made of one message. */
export type UpstreamReply =
  | { readonly kind: 'answer'; readonly text: string; readonly sessionId: string | undefined }
  | { readonly kind: 'accepted' }
  /** Messages came as a stream, which has ended. */
  | { readonly kind: 'streamed' }
  | { readonly kind: 'failed'; readonly message: string; readonly detail: string }
  | { readonly kind: 'refused'; readonly message: string; readonly detail: string }

/** The MCP endpoint that messages are relayed to. */
export interface Upstream {
  /**
   * POST one message.
   *
   * @param options.onMessage - Gets each message of an answer that comes as a stream.
   * @param options.signal - Gives it up.
   * @returns `refused` when nothing listens: the message was not sent, so it may be sent again.
   */
  post(
    message: Uint8Array,
    options: {
      readonly headers: Readonly<Record<string, string>>
      readonly onMessage: (text: string) => Promise<void>
      readonly signal?: AbortSignal | undefined
    },
  ): Promise<UpstreamReply>
  /** Receive what is said to a session apart from answers, until the stream ends. */
  listen(
    headers: Readonly<Record<string, string>>,
    onMessage: (text: string) => Promise<void>,
  ): Promise<void>
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

  const common = {
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
  }
  const send: (...args: Parameters<Upstream['post']>) => Promise<UpstreamReply | 'starting'> =
    async (message, { headers, onMessage, signal }) => {
      const response = await request(target, {
        method: 'POST',
        dispatcher: agent,
        signal: signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...common,
          ...headers,
        },
        body: message,
      })
      if (isStream(response)) {
        for await (const text of readEventData(response.body)) await onMessage(oneLine(text))
        return { kind: 'streamed' }
      }
      const text = await response.body.text()
      if (response.statusCode !== 503) {
        return readReply(response.statusCode, text, oneHeader(response.headers['mcp-session-id']))
      }
      const seconds = Number(oneHeader(response.headers['retry-after']) ?? 1)
      await sleep(Math.min(Number.isFinite(seconds) ? seconds : 1, 5) * 1000, undefined, {
        signal: closing.signal,
      })
      return 'starting'
    }

  return {
    async post(message, given) {
      const deadline = performance.now() + STARTING_WAIT_MS
      try {
        for (;;) {
          const reply = await send(message, given)
          if (reply !== 'starting') return reply
          if (performance.now() > deadline) return readReply(503, '', undefined)
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
    async listen(headers, onMessage) {
      const response = await request(target, {
        dispatcher: agent,
        signal: closing.signal,
        headers: { accept: 'text/event-stream', ...common, ...headers },
      })
      if (!isStream(response)) return response.body.dump()
      for await (const text of readEventData(response.body)) await onMessage(oneLine(text))
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

function isStream({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): boolean {
  return String(headers['content-type']).startsWith('text/event-stream')
}

/** @throws {SyntaxError} For what is not JSON. */
function oneLine(text: string): string {
  const value: unknown = JSON.parse(text)
  return /[\r\n]/.test(text) ? JSON.stringify(value) : text
}

function readReply(status: number, text: string, sessionId: string | undefined): UpstreamReply {
  if (status === 202) return { kind: 'accepted' }
  const failed = (message: string): UpstreamReply => ({
    kind: 'failed',
    message,
    detail: text.slice(0, MAX_DETAIL),
  })
  // Some refusals of the protocol have a status of their own.
  if (status !== 200 && !/^\s*\{\s*"jsonrpc"/.test(text)) {
    return failed(`upstream MCP endpoint answered HTTP ${status}`)
  }
  // Only whole JSON on one line may reach the client, whatever the endpoint is.
  try {
    return { kind: 'answer', text: oneLine(text), sessionId }
  } catch {
    return failed(`upstream MCP endpoint answered HTTP ${status} with a body that is not JSON`)
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
