import { messageOf } from 'crux-types'
import { z } from 'zod'

/** What answers at an address. */
export type Probe =
  | {
      readonly kind: 'crux'
      readonly version: string | undefined
      readonly accepts: boolean
      /** What its clock said; epoch milliseconds, to the second. */
      readonly date: number | undefined
    }
  | { readonly kind: 'starting' }
  | { readonly kind: 'other'; readonly what: string }
  | { readonly kind: 'nothing'; readonly why: string }

const TIMEOUT_MS = 10_000
const MAX_BODY_BYTES = 64 * 1024

const discovery = z.looseObject({
  serverInfo: z.looseObject({ name: z.literal('crux'), version: z.string() }),
})
const unauthorized = z.looseObject({
  error: z.string(),
  hint: z.string().includes('CRUX_AGENT_TOKEN'),
})
const notReady = z.looseObject({ error: z.literal('not_ready') })

/**
 * Ask the MCP endpoint who it is.
 *
 * @param token - Presented when given; `accepts` says whether the endpoint takes it, or serves without one.
 */
export async function probeMcp(url: string, token?: string): Promise<Probe> {
  const answer = await get(url, {
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  })
  if ('why' in answer) return { kind: 'nothing', why: answer.why }
  const { date } = answer
  const body = parseJson(answer.text)
  const found = discovery.safeParse(body)
  if (answer.status === 200 && found.success) {
    return { kind: 'crux', version: found.data.serverInfo.version, accepts: true, date }
  }
  if (answer.status === 401 && unauthorized.safeParse(body).success) {
    return { kind: 'crux', version: undefined, accepts: false, date }
  }
  if (answer.status === 503 && notReady.safeParse(body).success) return { kind: 'starting' }
  return { kind: 'other', what: `HTTP ${answer.status}` }
}

const health = z.looseObject({ build: z.looseObject({ version: z.string() }), compat: z.unknown() })

/** Ask the HTTP API who it is. */
export async function probeHttp(url: string): Promise<Probe> {
  const answer = await get(`${url.replace(/\/+$/, '')}/healthz`, {})
  if ('why' in answer) return { kind: 'nothing', why: answer.why }
  const { date } = answer
  const found = health.safeParse(parseJson(answer.text))
  if (answer.status === 200 && found.success) {
    return { kind: 'crux', version: found.data.build.version, accepts: true, date }
  }
  return { kind: 'other', what: `HTTP ${answer.status}` }
}

async function get(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string; date: number | undefined } | { why: string }> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { headers, signal, redirect: 'manual' })
    const date = Date.parse(response.headers.get('date') ?? '')
    return {
      status: response.status,
      text: await readSome(response),
      date: Number.isNaN(date) ? undefined : date,
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return { why: codeOf(cause) ?? messageOf(cause) }
  }
}

/** The start of a body: whatever answers, no more than this is read of it. */
async function readSome(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_BODY_BYTES) break
  }
  return Buffer.concat(chunks).toString()
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
