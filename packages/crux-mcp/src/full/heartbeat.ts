import type { ServerContext } from '@modelcontextprotocol/server'

const EVERY_MS = 1000

/**
 * Tell a client that asked for progress, once a second, that its call goes on. No tool knows
 * how much is left, so the number is the seconds that went by.
 *
 * @returns Ends it.
 */
export function beatHeart({ mcpReq }: ServerContext): () => void {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let seconds = 0
  const timer = setInterval(() => {
    seconds += EVERY_MS / 1000
    mcpReq
      .notify({
        method: 'notifications/progress',
        params: { progressToken, progress: seconds, message: 'still at work' },
      })
      // The client went away; the call finds out by itself.
      .catch(() => clearInterval(timer))
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
