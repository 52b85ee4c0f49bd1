import { once } from 'node:events'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { createServerDrain } from 'crux-mcp'
import { CruxError, messageOf } from 'crux-types'
import type { DaemonErrorCode } from '../errors.js'
import type { HttpApp } from './app.js'

/** A bound HTTP listener. */
export interface HttpListener {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly port: number
  /** Stop accepting, let requests in flight finish; safe to call twice. */
  close(): Promise<void>
  /** End what is still open. */
  closeNow(): void
}

const HEADERS_TIMEOUT_MS = 30_000
const REQUEST_TIMEOUT_MS = 600_000

/** Bind the HTTP API. @throws {CruxError} `PORT_IN_USE`, `LISTEN_FAILED`. */
export async function listenHttp(
  app: HttpApp,
  address: { host: string; port: number },
): Promise<HttpListener> {
  const { host, port } = address
  // Without HTTP/2 in its options the adaptor makes a plain node server.
  const server = createAdaptorServer({
    fetch: (request, connection) => app.fetch(request, connection),
    overrideGlobalObjects: false,
  }) as Server
  server.headersTimeout = HEADERS_TIMEOUT_MS
  // Bodies have their own, shorter limit; this one ends what is still sent after an answer.
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.keepAliveTimeout = 75_000
  const drain = createServerDrain(server)
  server.listen({ host: host.replace(/^\[(.*)\]$/, '$1'), port })
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw listenError(cause, { host, port, variable: 'CORECRUXD_HTTP_PORT' })
  }
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('a TCP listener has a port')
  return {
    url: `http://${urlHost(host)}:${bound.port}`,
    port: bound.port,
    close: () => drain.close(),
    closeNow: () => drain.closeNow(),
  }
}

/** A failure to bind as one sentence that names the setting to change. */
export function listenError(
  cause: unknown,
  address: { host: string; port: number; variable: string },
): CruxError<DaemonErrorCode> {
  const { host, port, variable } = address
  const reason = systemReason(cause)
  const where = `${urlHost(host)}:${port}`
  if (reason === 'EADDRINUSE') {
    return new CruxError(
      'PORT_IN_USE',
      `another program listens on ${where}; stop it, or set ${variable} to another port (0 picks a free one)`,
      { cause, data: { variable, address: where } },
    )
  }
  return new CruxError(
    'LISTEN_FAILED',
    `cannot listen on ${where} (${reason}); set ${variable} or its host to an address of this machine that you may use`,
    { cause, data: { variable, address: where } },
  )
}

function systemReason(cause: unknown): string {
  if (typeof cause === 'object' && cause !== null) {
    if ('code' in cause && typeof cause.code === 'string' && /^E[A-Z]+$/.test(cause.code)) {
      return cause.code
    }
    if (cause instanceof CruxError && typeof cause.data.reason === 'string') {
      return cause.data.reason
    }
  }
  return messageOf(cause)
}

function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
