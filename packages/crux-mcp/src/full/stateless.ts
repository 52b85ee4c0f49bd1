import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { uuidHex } from 'crux-types'
import { z } from 'zod'
import { sendJson } from '../http/answer-batch.js'
import type { StreamHolder } from '../http/event-streams.js'
import { INTERNAL_ERROR } from '../protocol/codes.js'
import { errorResponse } from '../protocol/json-rpc.js'
import type { StreamLimits } from '../server-options.js'
import type { FullRequest } from './full-request.js'
import type { HeldResults } from './held-result.js'
import { type FullParts, protocolServer } from './protocol-server.js'
import { Subscribers } from './subscribers.js'
import { MAX_PER_OWNER, type Subscriptions } from './subscriptions.js'

const LISTEN = 'subscriptions/listen'
const TOO_MANY_RESOURCES = `one caller is told of at most ${MAX_PER_OWNER} resources; end a stream first`

const listenParams = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal(LISTEN),
  params: z.object({
    notifications: z.object({ resourceSubscriptions: z.array(z.string()).optional() }),
  }),
})

/** The revision in which every request stands alone. */
export interface StatelessEra {
  serve(
    request: FullRequest,
    http: { readonly request: IncomingMessage; readonly response: ServerResponse },
    body: unknown,
  ): Promise<void>
  /** Something that all streams may hear of changed. */
  readonly changed: { tools(): void; prompts(): void }
  /** The list of tools of one owner may have changed. */
  toolsChangedFor(owner: string): void
  /** End streams of those who would not be let in any more. */
  endRefused(): void
  /** End streams that would stay open for ever. */
  close(): void
}

/** Serve it with the protocol library, which checks headers and metadata and writes the results. */
export function statelessEra(
  parts: FullParts,
  subscriptions: Subscriptions,
  { limits, keepAliveMs }: { readonly limits: () => StreamLimits; readonly keepAliveMs: number },
): StatelessEra {
  const current = new AsyncLocalStorage<FullRequest>()
  const subscribers = new Subscribers(current)
  const streams = new Map<AbortController, StreamHolder>()
  const handler = createMcpHandler(
    () => {
      const request = current.getStore()
      if (request === undefined) throw new Error('served outside a request')
      return protocolServer(parts, request)
    },
    {
      legacy: 'reject',
      bus: subscribers,
      // Counted here, where limits may change and each owner has its own.
      maxSubscriptions: Number.MAX_SAFE_INTEGER,
      keepAliveMs,
      onerror: (error) => parts.log.debug?.({ err: error }, 'a stateless MCP request was refused'),
    },
  )

  const reasonToRefuse = (owner: string): string | undefined => {
    const { total, perOwner } = limits()
    const own = [...streams.values()].filter((other) => other.owner === owner).length
    if (perOwner > 0 && own >= perOwner) {
      return `one caller has at most ${perOwner} streams; end one first`
    }
    return total > 0 && streams.size >= total
      ? `at most ${total} streams may be open; try again later`
      : undefined
  }

  /** Tell a stream of its resources from now on. Undefined when there are too many. */
  const watch = async (
    request: FullRequest,
    uris: readonly string[],
  ): Promise<(() => void) | undefined> => {
    const stream = uuidHex()
    const names = [...new Set(uris)].map((uri) => ({ uri, name: `${stream} ${uri}` }))
    const stop = () => {
      for (const { name } of names) subscriptions.remove(name)
    }
    for (const { uri, name } of names) {
      const isWatched = await subscriptions.add(name, {
        owner: request.owner,
        caller: request.from.caller,
        uri,
        tell: () => subscribers.publishTo(request, { kind: 'resource_updated', uri }),
      })
      if (isWatched) continue
      stop()
      return undefined
    }
    return stop
  }

  return {
    async serve(request, { request: incoming, response }, body) {
      const gone = new AbortController()
      response.on('close', () => gone.abort())
      const listen = listenParams.safeParse(body)
      let stopWatching: (() => void) | undefined
      if (listen.success) {
        const { id, params } = listen.data
        const full = reasonToRefuse(request.owner)
        if (full !== undefined) {
          return sendJson(response, 200, errorResponse(id, INTERNAL_ERROR, full))
        }
        streams.set(gone, request)
        const uris = params.notifications.resourceSubscriptions ?? []
        stopWatching = await watch(request, uris)
        if (stopWatching === undefined) {
          streams.delete(gone)
          return sendJson(response, 200, errorResponse(id, INTERNAL_ERROR, TOO_MANY_RESOURCES))
        }
      }
      try {
        const answer = await current.run(request, () =>
          handler.fetch(toWebRequest(incoming, gone.signal), { parsedBody: body }),
        )
        await send(answer, response, request.held)
      } finally {
        stopWatching?.()
        streams.delete(gone)
      }
    },
    changed: {
      tools: () => subscribers.publish({ kind: 'tools_list_changed' }),
      prompts: () => subscribers.publish({ kind: 'prompts_list_changed' }),
    },
    toolsChangedFor: (owner) => subscribers.publishToOwner(owner, { kind: 'tools_list_changed' }),
    endRefused() {
      for (const [stream, { isAdmitted }] of [...streams]) if (!isAdmitted()) stream.abort()
    },
    close() {
      for (const stream of streams.keys()) stream.abort()
    },
  }
}

function toWebRequest({ headers }: IncomingMessage, signal: AbortSignal): Request {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) copied.append(name, one)
    }
  }
  // The address plays no part: host and path were looked at before.
  return new Request('http://localhost/mcp', { method: 'POST', headers: copied, signal })
}

async function send(answer: Response, response: ServerResponse, held: HeldResults): Promise<void> {
  if (response.destroyed) return
  const headers = [...answer.headers].filter(([name]) => name !== 'connection')
  if (answer.body === null) headers.push(['content-length', '0'])
  response.writeHead(answer.status, Object.fromEntries(headers))
  if (answer.body !== null) {
    for await (const chunk of filled(answer, answer.body, held)) {
      if (response.destroyed) break
      if (!response.write(chunk)) await drained(response)
    }
  }
  response.end()
}

/** The text of an answer with what was held put in: a body, or each event of a stream, whole. */
async function* filled(
  { headers }: Response,
  body: AsyncIterable<Uint8Array>,
  held: HeldResults,
): AsyncGenerator<string> {
  const isStream = headers.get('content-type') === 'text/event-stream'
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const end = isStream ? text.lastIndexOf('\n\n') + 2 : 0
    if (end < 2) continue
    yield held.fill(text.slice(0, end))
    text = text.slice(end)
  }
  yield held.fill(text)
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve)
    response.once('close', resolve)
  })
}
