import fc from 'fast-check'
import { z } from 'zod'
import type { FuzzClient } from './client.js'
import { expectRpc, judgeRpc } from './expected-answer.js'
import { type FuzzedRequest, type GateAnswer, httpRequests } from './http-requests.js'
import { bodies, type ListedTool } from './messages.js'
import { judgeRaw, rawBytes } from './raw-bytes.js'
import type { Judge } from './smallest.js'

/** What is sent: a JSON-RPC message, an HTTP request with all that is around one, or bytes. */
export type DefaultMessage =
  | { readonly body: Uint8Array; readonly token: string }
  | { readonly request: FuzzedRequest; readonly expected: GateAnswer | undefined }
  | { readonly raw: Uint8Array }

const gateBody = z.looseObject({ error: z.string() })

/** What clients of the default profile send, and what it answers. */
export function defaultProfile({
  client,
  port,
  tools,
  tokens,
}: {
  readonly client: FuzzClient
  readonly port: number
  readonly tools: readonly ListedTool[]
  readonly tokens: readonly [string, ...string[]]
}): { readonly messages: fc.Arbitrary<DefaultMessage>; readonly judge: Judge<DefaultMessage> } {
  const names = new Set(tools.map(({ name }) => name))
  const message = bodies(tools)
  const messages = fc.oneof<fc.MaybeWeightedArbitrary<DefaultMessage>[]>(
    {
      weight: 32,
      arbitrary: fc.record({ body: message, token: fc.constantFrom(...tokens) }),
    },
    { weight: 6, arbitrary: httpRequests(port, tokens, message) },
    { weight: 2, arbitrary: rawBytes().map((raw) => ({ raw })) },
  )
  const judgeRequest = async (
    request: FuzzedRequest,
    expected: GateAnswer | undefined,
  ): Promise<string | undefined> => {
    const { status, text, isStream } = await client.send(request)
    if (expected !== undefined) return judgeGate(expected, request, status, text)
    if (request.method === 'POST') return judgeRpc(expectRpc(request.body, names), status, text)
    if (isStream) return status === 200 ? undefined : `HTTP ${status} with a stream`
    // A stream is refused while many are open, or under a session of the other agent.
    if (String(request.headers.accept).includes('text/event-stream')) {
      return judgeOneOf(STREAM_REFUSALS, request, status, text)
    }
    return status === 200 && text.includes('"serverInfo"') ? undefined : `HTTP ${status} ${text}`
  }
  return {
    messages,
    async judge(sent) {
      if ('raw' in sent) return judgeRaw(port, sent.raw)
      if ('request' in sent) return judgeRequest(sent.request, sent.expected)
      const { status, text } = await client.send(postOf(sent.body, sent.token))
      return judgeRpc(expectRpc(sent.body, names), status, text)
    },
  }
}

/** A POST that all gates let through. */
export function postOf(
  body: Uint8Array,
  token: string,
  headers: Readonly<Record<string, string>> = {},
): FuzzedRequest {
  return {
    method: 'POST',
    path: '/mcp',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body,
  }
}

/** A refusal of a stream that was well asked for. */
export const STREAM_REFUSALS: readonly GateAnswer[] = [
  { status: 403, error: 'sse_session_owner_mismatch' },
  { status: 429, error: 'sse_session_limit' },
]

function judgeGate(
  expected: GateAnswer,
  { method }: FuzzedRequest,
  status: number,
  text: string,
): string | undefined {
  const wanted = `expected HTTP ${expected.status} ${expected.error ?? ''}`
  if (status !== expected.status) return `HTTP ${status} ${text.slice(0, 200)}, ${wanted}`
  if (method === 'HEAD' || expected.error === undefined) {
    return text === '' ? undefined : `a body, ${wanted}`
  }
  const body = gateBody.safeParse(JSON.parse(text))
  return body.success && body.data.error === expected.error ? undefined : `${text}, ${wanted}`
}

/** Why none of several answers was given; undefined when one was. */
export function judgeOneOf(
  answers: readonly GateAnswer[],
  request: FuzzedRequest,
  status: number,
  text: string,
): string | undefined {
  const problems = answers.map((answer) => judgeGate(answer, request, status, text))
  return problems.includes(undefined) ? undefined : problems.join('; ')
}
