import { setTimeout as sleep } from 'node:timers/promises'
import { CruxError, messageOf } from 'crux-types'
import { z } from 'zod'
import type { DaemonErrorCode } from '../errors.js'

/** Speaks to a daemon's HTTP API. */
export interface DaemonClient {
  /** JSON of a successful answer, checked. */
  json<T extends z.ZodType>(request: ClientRequest, schema: T): Promise<z.output<T>>
  /** A successful answer, or one with a status of `accept`. */
  send(request: ClientRequest): Promise<Response>
}

/** One request. */
export interface ClientRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** From the root, with its query. */
  readonly path: string
  /** JSON text, unless `contentType` says otherwise. */
  readonly body?: string
  readonly contentType?: string
  /** Statuses besides 2xx that are answers and not errors. */
  readonly accept?: readonly number[]
}

const RETRY_DELAYS_MS = [100, 200, 400, 800]
const MAX_RETRY_AFTER_SECONDS = 30

const problemSchema = z.looseObject({ title: z.string(), detail: z.string().optional() })

/**
 * A client of the daemon at `url`. A busy daemon (429, 503) is asked again, after the time it names.
 *
 * @param options.token - Sent as bearer.
 * @param options.signal - Ends everything under way.
 * @throws {CruxError} `DAEMON_UNREACHABLE`, `DAEMON_REFUSED`.
 */
export function createDaemonClient(options: {
  url: string
  token: string | undefined
  signal: AbortSignal
}): DaemonClient {
  const base = options.url.replace(/\/+$/, '')

  async function once(request: ClientRequest): Promise<Response> {
    try {
      return await fetch(`${base}${request.path}`, {
        method: request.method,
        signal: options.signal,
        headers: {
          ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
          ...(request.body === undefined
            ? {}
            : { 'content-type': request.contentType ?? 'application/json' }),
        },
        ...(request.body === undefined ? {} : { body: request.body }),
      })
    } catch (cause) {
      if (options.signal.aborted) throw cause
      throw new CruxError<DaemonErrorCode>(
        'DAEMON_UNREACHABLE',
        `no daemon answers at ${base} (${reasonOf(cause)}); start one with \`npm start\`, or name another with --url or CORECRUXD_HTTP_URL`,
        { cause, data: { url: base } },
      )
    }
  }

  async function send(request: ClientRequest): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const response = await once(request)
      if (response.ok || request.accept?.includes(response.status) === true) return response
      const delay = RETRY_DELAYS_MS[attempt]
      const isBusy = response.status === 429 || response.status === 503
      const retryAfter = response.headers.get('retry-after')
      // A 503 without a time is a daemon that cannot, such as one whose disk is full.
      if (!isBusy || retryAfter === null || delay === undefined) throw await refusal(response)
      await response.body?.cancel()
      const seconds = Math.min(Number(retryAfter) || 0, MAX_RETRY_AFTER_SECONDS)
      await sleep(Math.max(delay, seconds * 1000), undefined, { signal: options.signal })
    }
  }

  return {
    send,
    json: async (request, schema) => schema.parse(await (await send(request)).json()),
  }
}

async function refusal(response: Response): Promise<CruxError<DaemonErrorCode>> {
  const text = await response.text()
  const problem = parseProblem(text)
  const said = problem?.detail ?? problem?.title ?? text.slice(0, 200)
  return new CruxError(
    'DAEMON_REFUSED',
    `the daemon answered ${response.status}: ${said}${adviceFor(response.status)}`,
    { data: { status: response.status, problem } },
  )
}

function parseProblem(text: string): z.output<typeof problemSchema> | undefined {
  try {
    return problemSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function adviceFor(status: number): string {
  return status === 401 ? '; give a token with --token or CORECRUXD_TOKEN' : ''
}

/** The innermost message: `fetch` says only that it failed. */
function reasonOf(cause: unknown): string {
  let reason = cause
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause
  if (reason instanceof AggregateError && reason.errors[0] instanceof Error)
    reason = reason.errors[0]
  return messageOf(reason)
}
