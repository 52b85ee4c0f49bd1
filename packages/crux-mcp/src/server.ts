import { createServer, type Server } from 'node:http'
import { CruxError } from 'crux-types'
import type { McpErrorCode } from './errors.js'
import { createRequestHandler } from './http/request-handler.js'
import { createServerDrain } from './http/server-drain.js'
import type { McpServer, McpServerOptions } from './server-options.js'

const MAX_HEADER_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 120_000
// Longer than clients keep idle connections, so that they, and not we, close them.
const KEEP_ALIVE_TIMEOUT_MS = 75_000

/**
 * Serve the Model Context Protocol on a listener of its own.
 *
 * Before `options.isReady()` it answers 503, so it may be started first.
 *
 * @throws {CruxError} `LISTEN_FAILED`.
 */
export async function startMcpServer(options: McpServerOptions): Promise<McpServer> {
  // Loaded on demand: the protocol library takes longer to load than the daemon to start.
  const createFull =
    options.full === undefined
      ? undefined
      : (await import('./full/full-profile.js')).createFullProfile(options.full)
  const handler = createRequestHandler(options, createFull)
  // The plain server of Node, not a framework's: one path with two methods needs no router, and
  // answers of one turn can be written together.
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      noDelay: true,
    },
    handler.handle,
  )
  const drain = createServerDrain(server)
  const port = await listen(server, options.host, options.port)

  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}/mcp`,
    port,
    notifyToolsChanged: (sessionId) => handler.notifyToolsChanged(sessionId),
    agentsChanged: () => handler.agentsChanged(),
    close: () => {
      handler.stop()
      return drain.close()
    },
    closeNow: () => drain.closeNow(),
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code ?? 'UNKNOWN'
      reject(
        new CruxError<McpErrorCode>(
          'LISTEN_FAILED',
          `MCP cannot listen on ${host}:${port} (${reason}); ` +
            (reason === 'EADDRINUSE'
              ? 'stop what uses the port or set CORECRUXD_MCP_PORT to another'
              : 'set CORECRUXD_MCP_HOST and CORECRUXD_MCP_PORT to an address of this machine'),
          { cause: error, data: { host, port, reason } },
        ),
      )
    })
    server.listen({ host, port }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}
