import { randomUUID } from 'node:crypto'
import { createCorsRules, createIngressGuard, parseJsonBytes } from 'crux-mcp'
import { type Context, Hono } from 'hono'
import { createAuthenticate, requireAnyScope } from './auth.js'
import { readBody, requireContentType, streamBody } from './body.js'
import { anyTenantCaller, readingCaller, TENANT_HEADER, writingCaller } from './caller.js'
import type { HttpDependencies } from './dependencies.js'
import { createAddressReader, createInflightGate, createRateLimit } from './ingress.js'
import { ProblemError, problemOf, problemResponse } from './problem.js'
import type { Reply, RequestContext, Route } from './route.js'
import { allRoutes } from './routes/all-routes.js'

/** What the node server passes along with a request. */
export interface Connection {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string | undefined } }
}

/** The HTTP API as a function of requests. */
export interface HttpApp {
  fetch(request: Request, connection?: Connection): Promise<Response>
}

const TIME_LIMIT_MS = 30_000
const BULK_BODY_BYTES = 64 * 1024 * 1024
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/

/** Build the HTTP API. @throws {CruxError} `CONFIG_INVALID` when the authentication mode lacks something. */
export function createHttpApp(dependencies: HttpDependencies): HttpApp {
  const { config, metrics, log, clock } = dependencies
  const authenticate = createAuthenticate(config)
  const guard = createIngressGuard({
    boundHost: config.httpHost,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
  })
  const cors = createCorsRules({
    allowedOrigins: config.allowedOrigins,
    methods: ['GET', 'PUT', 'POST', 'DELETE'],
    exposed: ['X-Request-Id', 'Retry-After', 'X-CueCrux-Session-Id', 'X-CueCrux-Plan-Hash'],
  })
  const inflight = createInflightGate(config.maxInflight)
  const addressOf = createAddressReader(config)
  const takeToken = createRateLimit(config, clock, () => metrics.rateLimited())
  const routes = allRoutes(dependencies, inflight)
  const hono = new Hono()
  for (const route of routes) {
    hono.on(route.method, route.path.replace(/\{(\w+)\}/g, ':$1'), (c) => answer(route, c))
  }
  hono.notFound((c) => problemResponse(unrouted(routes, c.req.method, c.req.path).problem))
  hono.onError((error) => {
    throw error
  })

  async function answer(route: Route, c: Context): Promise<Response> {
    if (!dependencies.isReady() && route.isEarly !== true) {
      throw new ProblemError('service-unavailable', 'the daemon is starting; try again', {
        headers: { 'retry-after': '1' },
      })
    }
    const request = c.req.raw
    const header = (name: string): string | undefined => request.headers.get(name) ?? undefined
    const signal =
      route.isLong === true
        ? request.signal
        : AbortSignal.any([request.signal, AbortSignal.timeout(TIME_LIMIT_MS)])
    const principal =
      route.access === 'public'
        ? { scopes: [], tenants: [], passport: null }
        : await authenticate(header)
    if (route.access !== 'public') requireAnyScope(principal, route.access)
    const selected = header(TENANT_HEADER)
    const context: RequestContext = {
      principal,
      reader: () => readingCaller(principal, selected),
      anyTenant: () => anyTenantCaller(principal),
      writer: () =>
        writingCaller(principal, selected, config.tenantWriteStamp, (outcome) =>
          log.info({ outcome }, 'the tenant write stamp would differ'),
        ),
      header,
      bodyStream: () => streamBody(request, signal),
      signal,
    }
    if (route.streamedBody !== undefined) {
      requireContentType(header('content-type'), route.streamedBody.contentType)
    }
    const body = route.bodySchema === undefined ? undefined : await readJson(route, request, signal)
    const call = route.call({ params: c.req.param(), query: c.req.query(), body }, context)
    return toResponse(await (route.isLong === true ? call : withinTime(call, signal)))
  }

  async function readJson(route: Route, request: Request, signal: AbortSignal): Promise<unknown> {
    const refusal = guard.checkContentType(request.headers.get('content-type') ?? undefined)
    if (refusal !== undefined) {
      throw new ProblemError('unsupported-media-type', refusal.hint, {
        extensions: { code: refusal.error },
      })
    }
    const limit =
      route.bodyClass === 'bulk'
        ? Math.max(BULK_BODY_BYTES, config.maxRequestBodyBytes)
        : config.maxRequestBodyBytes
    return parseJsonBytes(await readBody(request, limit, signal))
  }

  return {
    async fetch(request, connection) {
      const started = performance.now()
      const given = request.headers.get('x-request-id') ?? ''
      const requestId = REQUEST_ID.test(given) ? given : randomUUID()
      const path = new URL(request.url).pathname
      let response: Response
      let hasEntered = false
      try {
        inflight.enter()
        hasEntered = true
        takeToken(
          addressOf(
            connection?.incoming?.socket?.remoteAddress,
            request.headers.get('x-forwarded-for') ?? undefined,
          ),
        )
        const refusal = guard.checkSource({
          host: request.headers.get('host') ?? new URL(request.url).host,
          origin: request.headers.get('origin') ?? undefined,
        })
        if (refusal !== undefined) {
          throw new ProblemError('forbidden', refusal.hint, { extensions: { code: refusal.error } })
        }
        const asked = cors?.preflight(
          request.method,
          (name) => request.headers.get(name) ?? undefined,
        )
        response =
          asked === undefined
            ? await hono.fetch(request, connection)
            : new Response(null, { status: 204, headers: asked })
      } catch (error) {
        const { problem, isOurs } = problemOf(error)
        // A client that went away mid-way is no fault of ours.
        if (isOurs && !request.signal.aborted)
          log.error({ requestId, path, err: error }, 'request failed')
        response = problemResponse(problem)
      } finally {
        if (hasEntered) inflight.leave()
      }
      const granted = cors?.grant(request.headers.get('origin') ?? undefined) ?? {}
      for (const [name, value] of Object.entries(granted)) response.headers.set(name, value)
      response.headers.set('x-request-id', requestId)
      const traceparent = request.headers.get('traceparent')
      if (traceparent !== null) response.headers.set('traceparent', traceparent)
      const seconds = (performance.now() - started) / 1000
      const route = routes.find(
        (candidate) => candidate.method === request.method && matches(candidate, path),
      )
      metrics.httpRequest(request.method, route?.path ?? 'none', response.status, seconds)
      log.debug({ requestId, method: request.method, path, status: response.status }, 'answered')
      return response
    },
  }
}

function toResponse(reply: Reply): Response {
  const { status } = reply
  if ('json' in reply) {
    return new Response(JSON.stringify(reply.json), {
      status,
      headers: { ...reply.headers, 'content-type': 'application/json' },
    })
  }
  const headers = { 'content-type': reply.contentType }
  if ('stream' in reply) return new Response(reply.stream, { status, headers })
  return new Response(reply.body, { status, headers: { ...reply.headers, ...headers } })
}

/** The result of `work`, or 408 when the signal ends first; the work itself goes on. */
function withinTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cut = (): void =>
      reject(
        new ProblemError(
          'request-timeout',
          `not finished after ${TIME_LIMIT_MS / 1000} seconds; it may still take effect`,
        ),
      )
    signal.addEventListener('abort', cut, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', cut))
  })
}

/** 405 when the path exists with another method, else 404. */
function unrouted(routes: readonly Route[], method: string, path: string): ProblemError {
  const allowed = routes.filter((route) => matches(route, path)).map((route) => route.method)
  if (allowed.length === 0) {
    return new ProblemError(
      'not-found',
      `nothing is served at ${path}; GET /v1/openapi.json lists what is`,
    )
  }
  const allow = [...new Set(allowed)].join(', ')
  return new ProblemError('method-not-allowed', `${path} takes ${allow}, not ${method}`, {
    headers: { allow },
  })
}

function matches(route: Route, path: string): boolean {
  const parts = route.path.split('/')
  const given = path.split('/')
  return (
    parts.length === given.length &&
    parts.every((part, i) => part.startsWith('{') || part === given[i])
  )
}
