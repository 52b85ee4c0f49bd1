import { setTimeout as wait } from 'node:timers/promises'
import { CruxError, hasCode } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'

/** How often and how long something is tried. */
export interface AttemptLimits {
  /** Attempts altogether; integer >= 1. */
  readonly attempts: number
  /** Pause before the second attempt; doubled before each further one. */
  readonly backoffMs: number
  /** Longest time of one attempt. */
  readonly timeoutMs: number
  /** Longest time of all attempts and the pauses between them. */
  readonly totalMs: number
}

/**
 * Run until it succeeds, while trying again makes sense and time is left.
 *
 * Tried again: no answer, no connection, and the statuses 408, 429 and 5xx (501 apart). A service
 * that says when to come back (`data.retryAfterMs`) is asked again no sooner, and not at all when
 * that is after the total time.
 *
 * @param run - Gets the time that this attempt may take, in milliseconds.
 * @throws What the last attempt threw; the signal's reason when it was aborted, also in a pause.
 */
export async function withAttempts<T>(
  run: (timeoutMs: number) => Promise<T>,
  limits: AttemptLimits,
  signal?: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + limits.totalMs
  for (let attempt = 1; ; attempt++) {
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()))
    try {
      return await run(Math.min(limits.timeoutMs, leftMs))
    } catch (error) {
      signal?.throwIfAborted()
      const askedMs = error instanceof CruxError ? error.data.retryAfterMs : undefined
      const pauseMs = Math.max(
        limits.backoffMs * 2 ** (attempt - 1),
        typeof askedMs === 'number' ? askedMs : 0,
      )
      const isLast = attempt >= limits.attempts || performance.now() + pauseMs >= deadline
      if (isLast || !isPassing(error)) throw error
      await wait(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(
        (stopped: unknown) => {
          signal?.throwIfAborted()
          throw stopped
        },
      )
    }
  }
}

/** Whether the same request may succeed later. */
function isPassing(error: unknown): boolean {
  if (hasCode<RetrievalErrorCode>(error, 'EMBED_TIMEOUT', 'EMBED_UNREACHABLE')) return true
  if (!hasCode<RetrievalErrorCode>(error, 'EMBED_REFUSED')) return false
  const { status } = error.data
  return (
    status === 408 ||
    status === 429 ||
    (typeof status === 'number' && status >= 500 && status !== 501)
  )
}
