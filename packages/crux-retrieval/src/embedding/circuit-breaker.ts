import { type Clock, CruxError, hasCode } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'

/** Keeps calls away from a service that keeps failing. */
export interface CircuitBreaker {
  /**
   * Run a call, unless the circuit is open.
   *
   * @throws {CruxError} `EMBED_CIRCUIT_OPEN` without running it; else what the call throws.
   */
  run<T>(call: () => Promise<T>): Promise<T>
}

/**
 * A breaker that opens after some failed calls in a row. When its time is over one call is let
 * through as a probe: it closes the circuit, or opens it for the same time again.
 *
 * @param options.name - What is called, for the message.
 * @param options.failures - Failed calls in a row that open it.
 * @param options.openMs - How long it stays open.
 * @param options.counts - Which errors are failures of the service; the others leave the count alone.
 */
export function createCircuitBreaker(options: {
  name: string
  failures: number
  openMs: number
  clock: Clock
  counts: (error: unknown) => boolean
}): CircuitBreaker {
  const { name, failures, openMs, clock, counts } = options
  let failed = 0
  let lastReason = ''
  let openUntil: number | undefined
  let isProbing = false

  const refuse = (retryInMs: number): never => {
    throw new CruxError<RetrievalErrorCode>(
      'EMBED_CIRCUIT_OPEN',
      `${name} failed ${failed} times in a row and is left alone for ${Math.ceil(retryInMs / 1000)} s; the last reason: ${lastReason}`,
      { data: { failures: failed, retryInMs } },
    )
  }
  return {
    async run(call) {
      const isProbe = openUntil !== undefined
      if (openUntil !== undefined) {
        const leftMs = openUntil - clock.now()
        if (leftMs > 0 || isProbing) refuse(Math.max(leftMs, 0))
        isProbing = true
      }
      try {
        const result = await call()
        failed = 0
        openUntil = undefined
        return result
      } catch (error) {
        if (counts(error)) {
          failed++
          lastReason = error instanceof CruxError ? error.code : 'an unexpected error'
          if (failed >= failures) openUntil = clock.now() + openMs
        }
        throw error
      } finally {
        if (isProbe) isProbing = false
      }
    },
  }
}

/**
 * Whether an error says that the service does not work. One that embeds with another model, or
 * refuses a text, works.
 */
export function isServiceFailure(error: unknown): boolean {
  if (hasCode<RetrievalErrorCode>(error, 'EMBED_PROFILE_MISMATCH')) return false
  return error instanceof CruxError && !isTextRefused(error)
}

/** Whether an embedder's error is about the texts it got and not about the embedder. */
export function isTextRefused(error: unknown): boolean {
  if (hasCode<RetrievalErrorCode>(error, 'EMBED_TEXT_TOO_LARGE')) return true
  return hasCode<RetrievalErrorCode>(error, 'EMBED_REFUSED') && TEXT_STATUSES.has(error.data.status)
}

// Bad request, content too large, unprocessable content.
const TEXT_STATUSES: ReadonlySet<unknown> = new Set([400, 413, 422])
