import fc from 'fast-check'
import type { FuzzClient } from './client.js'
import { judgeOneOf, postOf, STREAM_REFUSALS } from './default-profile.js'
import { expectRpc, isObject, judgeRpc } from './expected-answer.js'
import { expectFull, judgeFull } from './full-answer.js'
import { answerOf, type FullMessage, fullMessages, NEGOTIATED, STATELESS } from './full-messages.js'
import type { FuzzedRequest } from './http-requests.js'
import type { ListedTool } from './messages.js'
import type { Judge } from './smallest.js'

/** What is sent: a message, or a GET, which may go on with a stream. */
export type FullTraffic = { readonly token: string } & (
  | { readonly message: FullMessage }
  | {
      readonly version: string | undefined
      readonly accept: string
      /** `last`: the newest event id that any stream had. */
      readonly lastEventId: string | undefined
    }
)

/** What clients of all revisions send the full profile, and what it answers. */
export function fullProfile({
  client,
  tools,
  tokens,
}: {
  readonly client: FuzzClient
  readonly tools: readonly ListedTool[]
  readonly tokens: readonly [string, ...string[]]
}): { readonly messages: fc.Arbitrary<FullTraffic>; readonly judge: Judge<FullTraffic> } {
  const names = new Set(tools.map(({ name }) => name))
  const token = fc.constantFrom(...tokens)
  const messages = fc.oneof<fc.MaybeWeightedArbitrary<FullTraffic>[]>(
    { weight: 20, arbitrary: fc.record({ token, message: fullMessages(tools) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        token,
        version: fc.constantFrom(undefined, '2099-01-01', STATELESS, ...NEGOTIATED),
        accept: fc.constantFrom('text/event-stream', 'application/json'),
        lastEventId: fc.constantFrom(
          ...[undefined, 'last', 'x', `${'0'.repeat(32)}_0`, `${'0'.repeat(32)}_999999999`],
        ),
      }),
    },
  )
  let newestId = ''

  const judgeMessage = async (message: FullMessage, token: string): Promise<string | undefined> => {
    const { headers, body, reply } = message
    const request = postOf(body, token, headers)
    const expected = expectFull(message)
    if (expected === 'default') {
      const { status, text } = await client.send(request)
      return judgeRpc(expectRpc(body, names), status, text)
    }
    const problems: string[] = []
    const answered = await client.follow(request, async (data) => {
      const event: unknown = JSON.parse(data)
      if (!isObject(event) || typeof event.method !== 'string') return 'go on'
      if (event.method === 'notifications/subscriptions/acknowledged') return 'enough'
      if (event.id === undefined) return 'go on'
      // What it is asked, a client answers in a request of its own; oddly at first, then plainly.
      for (const given of [reply, { action: 'decline' }]) {
        const response = JSON.stringify({ jsonrpc: '2.0', id: event.id, ...answerOf(given) })
        const { status } = await client.send(postOf(Buffer.from(response), token, headers))
        if (status !== 202) problems.push(`HTTP ${status} to ${response}`)
      }
      return 'go on'
    })
    newestId = answered.lastId ?? newestId
    const messages = answered.isStream
      ? answered.events.map((event): unknown => JSON.parse(event))
      : undefined
    return problems[0] ?? judgeFull(expected, { ...answered, messages })
  }

  const judgeGet = async ({
    token,
    version,
    accept,
    lastEventId,
  }: Exclude<FullTraffic, { message: FullMessage }>): Promise<string | undefined> => {
    const id = lastEventId === 'last' ? newestId : lastEventId
    const request: FuzzedRequest = {
      method: 'GET',
      path: '/mcp',
      headers: {
        authorization: `Bearer ${token}`,
        accept,
        ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
        ...(id === undefined ? {} : { 'last-event-id': id }),
      },
      body: new Uint8Array(),
    }
    const { status, text, isStream } = await client.send(request)
    if (version === STATELESS) return status === 405 ? undefined : `HTTP ${status} ${text}`
    if (version === '2099-01-01') return status === 400 ? undefined : `HTTP ${status} ${text}`
    if (isStream) return status === 200 ? undefined : `HTTP ${status} with a stream`
    if (accept === 'text/event-stream') return judgeOneOf(STREAM_REFUSALS, request, status, text)
    return status === 200 && text.includes('"serverInfo"') ? undefined : `HTTP ${status} ${text}`
  }

  return {
    messages,
    judge: (sent) => ('message' in sent ? judgeMessage(sent.message, sent.token) : judgeGet(sent)),
  }
}
