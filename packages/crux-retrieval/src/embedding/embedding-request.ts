import { type Clock, CruxError, messageOf } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'

/** The part of the platform's `fetch` that embedders use. */
export type FetchJson = (url: string, init: RequestInit) => Promise<Response>

/** One request to an embedding service. */
export interface EmbeddingRequest {
  readonly fetch: FetchJson
  /** What a date in `Retry-After` is compared with. */
  readonly clock: Clock
  readonly url: string
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined
  readonly body: unknown
  /** For the whole exchange, the body of the answer included. */
  readonly timeoutMs: number
  /** Largest answer that is read. */
  readonly maxReplyBytes: number
  /** Ends the exchange at once. */
  readonly signal?: AbortSignal | undefined
}

/** Characters kept of an answer that is an error: enough for a sentence, too little to matter. */
const MAX_ERROR_CHARS = 300
const MAX_ERROR_BYTES = 4096

/**
 * Post JSON and give the parsed JSON of a 2xx answer.
 *
 * Redirects are not followed: texts go only where the operator said. The message of an error names
 * address and status; what the service wrote is in `data.answer` alone, because it may quote a text.
 *
 * @throws {CruxError} `EMBED_TIMEOUT`, `EMBED_UNREACHABLE`, `EMBED_REFUSED`, `EMBED_REPLY_TOO_LARGE`,
 *   `EMBED_REPLY_INVALID`; and the signal's reason when it was aborted.
 */
export async function postForJson(request: EmbeddingRequest): Promise<unknown> {
  const { url, signal, timeoutMs } = request
  signal?.throwIfAborted()
  const ending = new AbortController()
  const stop = (): void => ending.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    ending.abort()
  }, timeoutMs)
  try {
    const response = await request.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(request.token === undefined ? {} : { authorization: `Bearer ${request.token}` }),
      },
      body: JSON.stringify(request.body),
      redirect: 'manual',
      signal: ending.signal,
    })
    if (!response.ok) throw await refusal(response, request)
    return parse(await readText(response, request), url)
  } catch (cause) {
    signal?.throwIfAborted()
    if (isLate) {
      throw new CruxError<RetrievalErrorCode>(
        'EMBED_TIMEOUT',
        `${url} gave no answer within ${timeoutMs} ms; see whether the service runs, or allow more time`,
        { cause, data: { timeoutMs } },
      )
    }
    if (cause instanceof CruxError) throw cause
    throw new CruxError<RetrievalErrorCode>(
      'EMBED_UNREACHABLE',
      `${url} cannot be reached (${rootMessage(cause)}); see whether the service runs and the address is right`,
      { cause },
    )
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

async function refusal(
  response: Response,
  { url, clock }: EmbeddingRequest,
): Promise<CruxError<RetrievalErrorCode>> {
  const { status } = response
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), clock)
  const answer = await readStart(response).catch(() => '')
  const what = status >= 300 && status < 400 ? 'a redirect, which is not followed' : 'an error'
  return new CruxError<RetrievalErrorCode>(
    'EMBED_REFUSED',
    `${url} answered ${status}, ${what}; see the service's log, and that address, model and key are right`,
    { data: { status, answer, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } },
  )
}

/** The header's time from now, in milliseconds: it holds seconds or a date (RFC 9110, 10.2.3). */
function parseRetryAfter(header: string | null, clock: Clock): number | undefined {
  if (header === null) return undefined
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now())
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of bodyOf(response)) {
    bytes += chunk.byteLength
    text += decoder.decode(chunk, { stream: true })
    // Leaving the loop cancels the rest of the body.
    if (bytes >= MAX_ERROR_BYTES) break
  }
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, MAX_ERROR_CHARS)
}

async function readText(
  response: Response,
  { url, maxReplyBytes }: EmbeddingRequest,
): Promise<string> {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let bytes = 0
  for await (const chunk of bodyOf(response)) {
    bytes += chunk.byteLength
    if (bytes > maxReplyBytes) {
      throw new CruxError<RetrievalErrorCode>(
        'EMBED_REPLY_TOO_LARGE',
        `${url} answered more than ${maxReplyBytes} bytes, which is more than the vectors asked for can take; see which service listens there`,
        { data: { maxBytes: maxReplyBytes } },
      )
    }
    pieces.push(decoder.decode(chunk, { stream: true }))
  }
  pieces.push(decoder.decode())
  return pieces.join('')
}

function bodyOf(response: Response): AsyncIterable<Uint8Array> {
  // Node.js makes web streams iterable; the type of the platform's Response does not say so.
  return (response.body ?? new Blob([]).stream()) as unknown as AsyncIterable<Uint8Array>
}

function parse(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CruxError<RetrievalErrorCode>(
      'EMBED_REPLY_INVALID',
      `${url} answered something that is not JSON; see which service listens there`,
      { cause, data: { expected: 'JSON' } },
    )
  }
}

/** `fetch` says "fetch failed" and keeps the reason in its cause. */
function rootMessage(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined
  if (!(cause instanceof Error)) return messageOf(thrown)
  // Several addresses were tried: the error has a code and no message.
  return cause.message || String('code' in cause ? cause.code : cause.name)
}
