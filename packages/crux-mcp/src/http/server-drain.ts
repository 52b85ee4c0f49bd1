import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Ends a server without cutting off who is being answered. */
export interface ServerDrain {
  /**
   * Stop listening and let requests in flight finish; connections that carry none are ended.
   * Resolves when the last connection is gone; safe to call twice.
   */
  close(): Promise<void>
  /** End every connection, whatever it carries. */
  closeNow(): void
}

const SWEEP_MS = 20
// For a request that is on its way while the server closes: some 250 ms. Counted in sweeps, between which
// sockets are read, so that a process that was held up does not take time for silence.
const GRACE_SWEEPS = 12

/**
 * Watch a server's connections from its start, so that it can be closed in order.
 *
 * `server.close()` waits for connections that never sent a request, and `closeIdleConnections()`
 * leaves them alone: Node calls a connection idle only after its first answer. Clients do hold such
 * connections (undici opens one anew whenever a stream is aborted) for as long as the keep-alive time
 * that earlier answers promised, which would be the length of every stop.
 */
export function createServerDrain(server: Server): ServerDrain {
  const requests = new Map<Socket, number>()
  server.on('connection', (socket) => {
    requests.set(socket, 0)
    socket.once('close', () => requests.delete(socket))
  })
  const count = (socket: Socket, change: 1 | -1): void => {
    const before = requests.get(socket)
    if (before !== undefined) requests.set(socket, before + change)
  }
  server.on('request', ({ socket }, response) => {
    count(socket, 1)
    response.once('close', () => count(socket, -1))
  })

  const drain = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    let sweeps = 0
    const sweep = setInterval(() => {
      server.closeIdleConnections()
      if (++sweeps < GRACE_SWEEPS) return
      for (const [socket, inFlight] of requests) if (inFlight === 0) socket.destroy()
    }, SWEEP_MS)
    await closed
    clearInterval(sweep)
  }
  let closing: Promise<void> | undefined
  return {
    close() {
      closing ??= drain()
      return closing
    },
    closeNow: () => server.closeAllConnections(),
  }
}
