import type { IncomingMessage, ServerResponse } from 'node:http'
import { createObservability } from 'crux-observe'
import { type Caller, hasCode, uuidHex } from 'crux-types'
import type { McpErrorCode } from '../errors.js'
import type { CreateFullProfile } from '../full/full-profile.js'
import { createAuthenticator, createStillAdmitted } from '../gates/authenticate.js'
import { type CorsHeaders, createCorsRules } from '../gates/cors.js'
import { createIngressGuard } from '../gates/ingress-guard.js'
import { INVALID_SESSION_ID_BODY, readSessionId } from '../gates/session-id.js'
import {
  INVALID_SURFACE_BODY,
  readSurfaceChoice,
  type SurfaceChoice,
} from '../gates/surface-choice.js'
import { type ParsedJson, parseJson } from '../json/parse-json.js'
import { createOAuthCallers } from '../oauth/oauth-callers.js'
import { protectedResource } from '../oauth/protected-resource.js'
import { PARSE_ERROR } from '../protocol/codes.js'
import { createDispatch } from '../protocol/dispatch.js'
import { discovery } from '../protocol/handshake.js'
import { declaresIntent } from '../protocol/intent-declaration.js'
import { errorResponse, readRequest } from '../protocol/json-rpc.js'
import type { McpServerOptions } from '../server-options.js'
import { IDENTITY_FIX } from '../tools/refusals.js'
import { tools } from '../tools/registry.js'
import { AnswerBatch, sendJson } from './answer-batch.js'
import { DEFAULT_STREAM_LIMITS, EventStreams, ownerKey } from './event-streams.js'
import { end, notReady, publish, refuse, refuseStream, wrongMethod } from './gate-answers.js'
import { readBody } from './read-body.js'
import { RequestBatch } from './request-batch.js'
import { createWellKnown } from './well-known.js'

const DEFAULT_KEEP_ALIVE_MS = 15_000
const SESSION_HEADER = 'Mcp-Session-Id'

/** What serves requests, apart from the socket. */
export interface RequestHandler {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Tell streams that the tool list changed: one session's, or all. */
  notifyToolsChanged(sessionId?: string): void
  /** End streams of those who are not let in any more. */
  agentsChanged(): void
  /** End streams and ask clients to close their connections after the next answer. */
  stop(): void
}

/** What the gates found out about a request. */
interface Admitted {
  readonly caller: Caller
  readonly sessionId: string | undefined
  /** The part of the tools that the client wants to see. */
  readonly surface: SurfaceChoice | undefined
}

/**
 * Gates in their order, then dispatch; a gate's answer ends the request.
 *
 * @param createFull - Builds the full profile, which answers in place of dispatch where it wants to.
 */
export function createRequestHandler(
  options: McpServerOptions,
  createFull?: CreateFullProfile,
): RequestHandler {
  const guard = createIngressGuard({
    boundHost: options.host,
    allowedHosts: options.allowedHosts,
    allowedOrigins: options.allowedOrigins,
  })
  const cors = createCorsRules({
    allowedOrigins: options.allowedOrigins,
    methods: ['GET', 'POST'],
    exposed: [SESSION_HEADER, 'WWW-Authenticate', 'Retry-After'],
  })
  const resource = protectedResource(options.oauth)
  const wellKnown = createWellKnown(options, resource, tools)
  const authenticate = createAuthenticator({
    ...options,
    findOAuthCaller:
      options.oauth &&
      createOAuthCallers({
        oauth: options.oauth,
        clock: options.services.clock,
        log: options.log,
        fetch,
      }),
  })
  const stillAdmitted = createStillAdmitted(options)
  const observe = options.observe ?? createObservability({ clock: options.services.clock })
  const dispatch = createDispatch({ ...options, observe, tools })
  const streams = new EventStreams(
    options.streamLimits ?? (() => DEFAULT_STREAM_LIMITS),
    options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
  )
  const discoveryText = JSON.stringify(discovery(options.version))
  const requests = new RequestBatch()
  const answers = new AnswerBatch()
  const full = createFull?.({ options, dispatch, streams, tools, stillAdmitted })
  let isStopping = false

  const serve = (request: IncomingMessage, response: ServerResponse): Promise<void> | undefined => {
    if (isStopping) response.setHeader('Connection', 'close')
    setHeaders(response, cors?.grant(request.headers.origin))
    if (!options.isReady()) {
      return notReady(response, 'the daemon is starting; ask again shortly')
    }
    const { host, origin } = request.headers
    const refusal = guard.checkSource({ host, origin })
    if (refusal !== undefined) {
      return refuse(response, refusal.status, refusal.error, refusal.hint)
    }
    const asked = cors?.preflight(request.method, (name) => headerText(request, name))
    if (asked !== undefined) {
      setHeaders(response, asked)
      return end(response, 204)
    }
    const { path, query } = splitTarget(request)
    if (path !== '/mcp') return publish(request, response, wellKnown(path))
    if (request.method !== 'POST' && request.method !== 'GET') {
      return wrongMethod(response, 'GET, POST')
    }
    const found = authenticate(request)
    return found instanceof Promise
      ? found.then((caller) => admit(request, response, query, caller))
      : admit(request, response, query, found)
  }

  const admit = (
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
    caller: Caller | undefined,
  ): Promise<void> | undefined => {
    if (caller === undefined) {
      if (resource !== undefined) response.setHeader('WWW-Authenticate', resource.challenge)
      return sendJson(response, 401, UNAUTHORIZED_BODY)
    }
    const sessionId = readSessionId(request)
    if (sessionId === null) return sendJson(response, 400, INVALID_SESSION_ID_BODY)
    const surface = readSurfaceChoice(query)
    if (surface === null) return sendJson(response, 400, INVALID_SURFACE_BODY)
    return request.method === 'POST'
      ? post(request, response, { caller, sessionId, surface })
      : get(request, response, { caller, sessionId })
  }

  const get = (
    request: IncomingMessage,
    response: ServerResponse,
    { caller, sessionId }: Omit<Admitted, 'surface'>,
  ): undefined => {
    if (full?.get({ request, response, caller }) === true) return undefined
    if (!(request.headers.accept ?? '').includes('text/event-stream')) {
      return sendJson(response, 200, discoveryText)
    }
    if (isStopping) return notReady(response, 'the daemon is stopping; connect again shortly')
    const id = sessionId ?? uuidHex()
    const holder = {
      owner: ownerKey(caller, request.socket.remoteAddress),
      isAdmitted: () => stillAdmitted(request, caller),
    }
    const refusal = streams.open(id, holder, response, { [SESSION_HEADER]: id })
    return refusal === undefined ? undefined : refuseStream(response, refusal)
  }

  const post = async (
    request: IncomingMessage,
    response: ServerResponse,
    { caller, sessionId, surface }: Admitted,
  ): Promise<void> => {
    if (sessionId !== undefined) response.setHeader(SESSION_HEADER, sessionId)
    const typeRefusal = guard.checkContentType(request.headers['content-type'])
    if (typeRefusal !== undefined) {
      return refuse(response, typeRefusal.status, typeRefusal.error, typeRefusal.hint)
    }
    const body = await readBody(request, options.maxBodyBytes)
    if (body === 'aborted') return
    if (body === 'too_large') {
      const hint = `a request body has at most ${options.maxBodyBytes} bytes; send less, or documents through corecruxctl ingest`
      return refuse(response, 413, 'body_too_large', hint)
    }
    await requests.join()
    // Large bodies are given away to be parsed.
    const sizeBytes = body.length
    let parsed: ParsedJson
    try {
      const parsing = parseJson(body)
      parsed = parsing instanceof Promise ? await parsing : parsing
    } catch (error) {
      if (!hasCode<McpErrorCode>(error, 'JSON_INVALID')) throw error
      return sendJson(response, 200, parseErrorResponse(error.message))
    }
    const { hasLoneSurrogate } = parsed
    const from = { caller, hasLoneSurrogate, surface, sizeBytes }
    if (full?.post({ request, response, sessionId, from }, parsed.value) === true) return
    const rpc = readRequest(parsed.value)
    if (typeof rpc === 'string') return sendJson(response, 200, parseErrorResponse(rpc))
    if (rpc.id === null) return end(response, 202)
    if (rpc.method === 'initialize' && sessionId === undefined) {
      response.setHeader(SESSION_HEADER, uuidHex())
    }
    const answering = dispatch(rpc, from)
    answers.add(response, typeof answering === 'string' ? answering : await answering)
    // What a reader is refused never came to run.
    if (sessionId !== undefined && !caller.readOnly && declaresIntent(rpc)) {
      streams.notifyToolsChanged(sessionId)
    }
  }

  return {
    handle: (request, response) => {
      // A client that goes away while it is answered is no fault.
      response.on('error', () => undefined)
      // An async function, so that what a gate throws at once is caught as well.
      const serving = async (): Promise<void> => serve(request, response)
      serving().catch((error: unknown) => {
        options.log.warn({ err: error }, 'an MCP request failed')
        if (!response.headersSent) refuse(response, 500, 'internal', 'the log says why')
        else response.destroy()
      })
    },
    notifyToolsChanged(sessionId) {
      streams.notifyToolsChanged(sessionId)
      if (sessionId === undefined) full?.toolsChanged()
    },
    agentsChanged() {
      streams.endRefused()
      full?.agentsChanged()
    },
    stop: () => {
      isStopping = true
      full?.close()
      streams.close()
    },
  }
}

const UNAUTHORIZED_BODY = JSON.stringify({
  error: 'unauthorized',
  hint: 'set Authorization: Bearer <CRUX_AGENT_TOKEN>',
  fix: IDENTITY_FIX,
})

function parseErrorResponse(why: string): string {
  return errorResponse(null, PARSE_ERROR, `invalid JSON: ${why}`)
}

function splitTarget({ url = '' }: IncomingMessage): { path: string; query: string } {
  const mark = url.indexOf('?')
  return mark < 0
    ? { path: url, query: '' }
    : { path: url.slice(0, mark), query: url.slice(mark + 1) }
}

function setHeaders(response: ServerResponse, headers: CorsHeaders | undefined): void {
  for (const name in headers) response.setHeader(name, headers[name] ?? '')
}

function headerText({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
