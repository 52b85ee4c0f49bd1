import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server'
import { isObject } from 'crux-types'
import { sendJson } from '../http/answer-batch.js'
import { ownerKey } from '../http/event-streams.js'
import { end } from '../http/gate-answers.js'
import { INVALID_REQUEST } from '../protocol/codes.js'
import { errorResponse, resultResponse } from '../protocol/json-rpc.js'
import { type Answer, BatchedAnswer } from './answer.js'
import { AnswerStream } from './answer-stream.js'
import { answerBatch, BATCH_VERSION, MAX_BATCH } from './batch.js'
import { mintSessionId } from './client-capabilities.js'
import { EMPTY_EVENTS_SINCE } from './era.js'
import { Exchange } from './exchange.js'
import { type Exchanges, nameOf } from './exchanges.js'
import type { FullRequest, GatedRequest } from './full-request.js'
import { negotiate } from './initialize.js'
import { type FullParts, protocolServer } from './protocol-server.js'

const VERSION_HEADER = 'mcp-protocol-version'
const SESSION_HEADER = 'Mcp-Session-Id'
// Methods whose answer may begin with a question to the client.
const ASKING: readonly string[] = ['tools/call', 'prompts/get', 'resources/read']

/** Build what answers a POST of the revisions that begin with `initialize`. */
export function negotiatedEra(
  parts: FullParts,
  exchanges: Exchanges,
  {
    requestOf,
    keepAliveMs,
  }: {
    readonly requestOf: (gated: GatedRequest, body: unknown, era: 'negotiated') => FullRequest
    readonly keepAliveMs: number
  },
): (gated: GatedRequest, body: unknown) => Promise<void> {
  /** Begin to answer a request. */
  const begin = async (
    gated: GatedRequest,
    body: JSONRPCRequest,
    answerFor: (request: FullRequest) => Answer,
  ): Promise<void> => {
    const request = requestOf(gated, body, 'negotiated')
    const answer = answerFor(request)
    const exchange = new Exchange(
      answer,
      request.held,
      () => exchanges.ended(answer),
      () => exchanges.asks(answer),
    )
    await protocolServer(parts, request).connect(exchange)
    exchanges.add(nameOf(request.owner, gated.sessionId, body.id), exchange)
    if (ASKING.includes(body.method)) {
      await exchange.seed(versionOf(gated), request.capabilities)
    }
    exchange.receive(body)
  }

  /** Take what has no answer; false for everything else. */
  const take = ({ request, sessionId, from }: GatedRequest, body: unknown): boolean => {
    const owner = ownerKey(from.caller, request.socket.remoteAddress)
    if (isJSONRPCResponse(body)) {
      exchanges.answered(owner, body)
      return true
    }
    if (!isJSONRPCNotification(body)) return false
    if (body.method === 'notifications/cancelled') {
      exchanges.cancelled(nameOf(owner, sessionId, body.params?.requestId), body)
    }
    return true
  }

  const answerInBatch = async (
    gated: GatedRequest,
    message: unknown,
  ): Promise<string | undefined> => {
    if (take(gated, message)) return undefined
    if (!isJSONRPCRequest(message)) return errorResponse(null, INVALID_REQUEST, NO_MESSAGE)
    const { id, method } = message
    if (method === 'initialize') return errorResponse(id, INVALID_REQUEST, NOT_IN_BATCH)
    let answer: BatchedAnswer | undefined
    await begin(gated, message, (request) => {
      answer = new BatchedAnswer(request)
      return answer
    })
    return answer?.text
  }

  const batch = async (gated: GatedRequest, messages: readonly unknown[]): Promise<void> => {
    const { response } = gated
    if (messages.length === 0 || messages.length > MAX_BATCH) {
      return sendJson(response, 400, errorResponse(null, INVALID_REQUEST, BATCH_SIZE))
    }
    const answers = await answerBatch(messages, (message) => answerInBatch(gated, message))
    return answers === undefined ? end(response, 202) : sendJson(response, 200, answers)
  }

  const initialize = ({ response, sessionId }: GatedRequest, { id, params }: JSONRPCRequest) => {
    if (sessionId === undefined) {
      response.setHeader(SESSION_HEADER, mintSessionId(declaredBy(params)))
    }
    const result = negotiate(params?.protocolVersion, parts.version, parts.capabilities)
    return sendJson(response, 200, resultResponse(id, JSON.stringify(result)))
  }

  return async (gated, body) => {
    const { response } = gated
    if (take(gated, body)) return end(response, 202)
    if (Array.isArray(body) && versionOf(gated) === BATCH_VERSION) return batch(gated, body)
    if (!isJSONRPCRequest(body)) {
      return sendJson(response, 400, errorResponse(null, INVALID_REQUEST, NO_MESSAGE))
    }
    if (body.method === 'initialize') return initialize(gated, body)
    return begin(
      gated,
      body,
      (request) =>
        new AnswerStream(response, {
          holder: request,
          canStream: (gated.request.headers.accept ?? '').includes('text/event-stream'),
          hasOpeningEvent: versionOf(gated) >= EMPTY_EVENTS_SINCE,
          keepAliveMs,
        }),
    )
  }
}

const NO_MESSAGE = `expected one JSON-RPC 2.0 request, notification or response, with an id that is a string or a whole number; batches are taken in ${BATCH_VERSION} only`
const NOT_IN_BATCH = 'initialize is sent by itself, not in a batch'
const BATCH_SIZE = `a batch has 1 to ${MAX_BATCH} messages; send the others in further ones`

function versionOf({ request }: GatedRequest): string {
  return String(request.headers[VERSION_HEADER]).trim()
}

function declaredBy(params: unknown): object {
  return isObject(params) && isObject(params.capabilities) ? params.capabilities : {}
}
