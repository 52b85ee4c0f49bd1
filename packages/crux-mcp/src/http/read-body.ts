import type { IncomingMessage } from 'node:http'

/** Why a body could not be read: over the limit, or the client went away. */
export type BodyRefusal = 'too_large' | 'aborted'

/**
 * Read a request's body into one buffer, which the caller owns.
 *
 * @param maxBytes - A body that is known to be larger is given up at once. What is still sent of it
 *   is dropped unread, because most clients hear an answer only after they have sent everything;
 *   the server's request timeout bounds that.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Uint8Array | BodyRefusal> {
  // What closed before this is not heard of again.
  if (request.destroyed) return Promise.resolve('aborted')
  // A declared length that is no number makes Node refuse the request before this.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    request.resume()
    return Promise.resolve('too_large')
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        chunks.length = 0
        resolve('too_large')
        return
      }
      chunks.push(chunk)
    })
    request.on('end', () => {
      const [first] = chunks
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks))
    })
    request.on('error', () => resolve('aborted'))
    request.on('close', () => resolve('aborted'))
  })
}
