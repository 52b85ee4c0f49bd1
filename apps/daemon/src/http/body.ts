import { ProblemError } from './problem.js'

/**
 * All bytes of a request's body.
 *
 * @param limit - Most bytes; a body that announces more is refused before it is read.
 * @param signal - Aborts the reading.
 * @throws {ProblemError} 413 naming the setting that bounds it; 408 when `signal` ends first.
 */
export async function readBody(
  request: Request,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) throw tooLarge(limit)
  if (request.body === null) return new Uint8Array(0)
  const reader = request.body.getReader()
  const cancel = (): void => {
    reader.cancel().catch(() => undefined)
  }
  signal.addEventListener('abort', cancel, { once: true })
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (signal.aborted)
        throw new ProblemError('request-timeout', 'the body did not arrive in time')
      if (done) break
      size += value.byteLength
      if (size > limit) {
        cancel()
        throw tooLarge(limit)
      }
      chunks.push(value)
    }
  } finally {
    signal.removeEventListener('abort', cancel)
  }
  return Buffer.concat(chunks, size)
}

/**
 * A body as it comes, for routes that take any length piece by piece.
 *
 * @throws {ProblemError} 408 when `signal` ends first.
 */
export async function* streamBody(
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (request.body === null) return
  const reader = request.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (signal.aborted) throw new ProblemError('request-timeout', 'the body did not arrive')
      if (done) return
      yield value
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

/** @throws {ProblemError} 415 unless the body is of that type. */
export function requireContentType(given: string | undefined, wanted: string): void {
  if (given?.split(';', 1)[0]?.trim().toLowerCase() === wanted) return
  throw new ProblemError('unsupported-media-type', `send the body as ${wanted}`, {
    extensions: { code: 'unsupported_media_type' },
  })
}

function tooLarge(limit: number): ProblemError {
  return new ProblemError(
    'payload-too-large',
    `the body is over ${limit} bytes; send less at a time, or raise CORECRUXD_MAX_REQUEST_BODY_BYTES`,
  )
}
