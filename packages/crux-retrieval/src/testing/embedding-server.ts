import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

/** One request that came in. */
export interface SeenRequest {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** Answers one request; what it throws breaks the connection. */
export type Answer = (request: SeenRequest, response: ServerResponse) => void | Promise<void>

/** A real HTTP server that a test plays an embedding service with. */
export interface EmbeddingServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly seen: readonly SeenRequest[]
}

const bodySchema = z.record(z.string(), z.unknown())

/** Listen on a free port until the test ends. */
export async function startEmbeddingServer(answer: Answer): Promise<EmbeddingServer> {
  const seen: SeenRequest[] = []
  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = {
      path: message.url ?? '',
      authorization: message.headers.authorization,
      body: bodySchema.parse(JSON.parse(await text(message))),
    }
    seen.push(request)
    await answer(request, response)
  }
  const server = createServer((message, response) => {
    serve(message, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  return { url: `http://127.0.0.1:${port}`, seen }
}

/** Send JSON. */
export function sendJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** Texts of a request, whatever the protocol. */
export function textsOf({ body }: SeenRequest): string[] {
  return z.array(z.string()).parse(body.input ?? body.texts)
}

/** A vector that tells its text: its length in UTF-16 code units, then 1, 2, 3, … */
export function vectorFor(given: string, dims = 7): number[] {
  return Array.from({ length: dims }, (_, d) => (d === 0 ? given.length : d))
}
