import { LOG_LEVEL_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import { type FullRequest, LOG_LEVELS, type LogLevel } from './full-request.js'

/** Sessions whose wish is kept; the one that was set longest ago goes first. */
const MAX_SESSIONS = 1024
const LOGGER = 'crux'

/**
 * How much each client wants to hear. Nobody hears anything unasked: a message turns a plain answer
 * into a stream. A restart forgets the wishes, and nothing else depends on them.
 */
export class LogLevels {
  private readonly wishes = new Map<string, LogLevel>()

  set(request: FullRequest, level: LogLevel): void {
    const key = keyOf(request)
    this.wishes.delete(key)
    this.wishes.set(key, level)
    for (const oldest of this.wishes.keys()) {
      if (this.wishes.size <= MAX_SESSIONS) break
      this.wishes.delete(oldest)
    }
  }

  /** Send a message to the client of a request, if it wants to hear it. */
  async tell(
    request: FullRequest,
    context: ServerContext,
    level: LogLevel,
    data: unknown,
  ): Promise<void> {
    const wish = request.era === 'stateless' ? wishOf(context) : this.wishes.get(keyOf(request))
    if (wish === undefined || LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(wish)) return
    await context.mcpReq
      .notify({ method: 'notifications/message', params: { level, logger: LOGGER, data } })
      // Its client went away or cancelled the call, which has its own way to find out.
      .catch(() => undefined)
  }
}

// The library's type does not name every member of the metadata; their values are checked on arrival.
function wishOf({ mcpReq }: ServerContext): LogLevel | undefined {
  const wish = (mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[
    LOG_LEVEL_META_KEY
  ]
  return LOG_LEVELS.find((level) => level === wish)
}

function keyOf({ owner, sessionId }: FullRequest): string {
  return JSON.stringify([owner, sessionId ?? null])
}
