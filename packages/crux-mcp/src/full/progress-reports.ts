import type { ServerContext } from '@modelcontextprotocol/server'
import type { WorkWatch } from 'crux-types'

const HEARTBEAT_MS = 1000

/** Tells a client how far its call got. */
export interface ProgressReporter {
  /** For the work; undefined when the client did not ask to be told. */
  readonly onProgress: WorkWatch['onProgress']
  stop(): void
}

/**
 * Tell a client that asked for progress how far its call got: steps of steps, where the tool counts
 * them; else, once a second, the seconds that went by.
 *
 * What is told only grows, as the protocol demands: steps that are fewer than the seconds before
 * them are left out.
 *
 * @param everyMs - Least time between two reports of steps, also before the first, so that a quick
 *   call has a plain answer.
 */
export function reportProgress({ mcpReq }: ServerContext, everyMs: number): ProgressReporter {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return { onProgress: undefined, stop: () => undefined }
  let told = 0
  let toldAt = performance.now()
  let countsSteps = false
  let isOver = false
  const tell = (progress: number, more: { total: number } | { message: string }): void => {
    told = progress
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, ...more } })
      // The client went away; the call finds out by itself.
      .catch(() => clearInterval(timer))
  }
  const timer = setInterval(() => {
    if (!countsSteps) tell(told + HEARTBEAT_MS / 1000, { message: 'still at work' })
  }, HEARTBEAT_MS)
  timer.unref()
  return {
    onProgress(done, total) {
      countsSteps = true
      const now = performance.now()
      // Work that is given up goes on to its next pause.
      if (isOver || done <= told || now - toldAt < everyMs) return
      toldAt = now
      tell(done, { total })
    },
    stop() {
      isOver = true
      clearInterval(timer)
    },
  }
}
