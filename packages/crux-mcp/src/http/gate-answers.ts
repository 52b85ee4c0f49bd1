import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendJson } from './answer-batch.js'
import type { StreamRefusal } from './event-streams.js'

const RETRY_AFTER_SECONDS = '1'

/** Answer 503: the client is to come again shortly. */
export function notReady(response: ServerResponse, hint: string): undefined {
  response.setHeader('Retry-After', RETRY_AFTER_SECONDS)
  return refuse(response, 503, 'not_ready', hint)
}

/** Answer with a document that anybody may read; 404 where there is none. */
export function publish(
  { method }: IncomingMessage,
  response: ServerResponse,
  document: string | undefined,
): undefined {
  if (document === undefined) return end(response, 404)
  return method === 'GET' ? sendJson(response, 200, document) : wrongMethod(response, 'GET')
}

/** Answer 405. */
export function wrongMethod(response: ServerResponse, allowed: string): undefined {
  response.setHeader('Allow', allowed)
  return end(response, 405)
}

/** Say why no event stream was opened. */
export function refuseStream(response: ServerResponse, refusal: StreamRefusal): undefined {
  if (refusal.kind === 'limit') {
    const { scope, limit } = refusal
    return sendJson(response, 429, JSON.stringify({ error: 'sse_session_limit', scope, limit }))
  }
  const error = 'sse_session_owner_mismatch'
  const detail = 'another caller has a stream open under this session id; choose another id'
  return sendJson(response, 403, JSON.stringify({ error, detail }))
}

/** Refuse a request, with a hint on how to do better. */
export function refuse(
  response: ServerResponse,
  status: number,
  error: string,
  hint: string,
): undefined {
  return sendJson(response, status, JSON.stringify({ error, hint }))
}

/** Answer without a body. */
export function end(response: ServerResponse, status: number): undefined {
  response.writeHead(status, status === 204 ? {} : { 'Content-Length': 0 })
  response.end()
  return undefined
}
