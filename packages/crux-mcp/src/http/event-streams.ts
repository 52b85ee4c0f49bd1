import type { ServerResponse } from 'node:http'
import type { Caller } from 'crux-types'

const LIST_CHANGED = `data: ${JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
})}\n\n`

/** Whose stream it is: an agent by name, else an address, else nobody in particular. */
export function ownerKey(caller: Caller, address: string | undefined): string {
  if (caller.agent !== null) return `agent:${caller.agent}`
  return address === undefined || address === '' ? 'anonymous' : `ip:${address}`
}

interface Stream {
  readonly owner: string
  readonly response: ServerResponse
}

/**
 * The open event streams, one per session id. They carry one message only: the list of tools has
 * changed. A limit on their number belongs in `open`.
 */
export class EventStreams {
  private readonly streams = new Map<string, Stream>()
  private readonly timer: NodeJS.Timeout

  /** @param keepAliveMs - Time between comments that keep connections from being cut as idle. */
  constructor(keepAliveMs: number) {
    this.timer = setInterval(() => this.send(': keep-alive\n\n'), keepAliveMs)
    this.timer.unref()
  }

  /**
   * Turn a response into the stream of a session; a stream that the same owner had there ends.
   *
   * @returns False when the session's stream belongs to another owner: nothing was written then.
   */
  open(
    sessionId: string,
    owner: string,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): boolean {
    const present = this.streams.get(sessionId)
    if (present !== undefined && present.owner !== owner) return false
    present?.response.end()
    const stream: Stream = { owner, response }
    this.streams.set(sessionId, stream)
    response.writeHead(200, {
      ...headers,
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      // Proxies that buffer would hold messages back.
      'X-Accel-Buffering': 'no',
    })
    response.write(': open\n\n')
    response.on('close', () => {
      // A newer stream may have taken the place of this one.
      if (this.streams.get(sessionId) === stream) this.streams.delete(sessionId)
    })
    return true
  }

  /** Tell one session's stream, or all, that the list of tools changed; no stream is no error. */
  notifyToolsChanged(sessionId?: string): void {
    if (sessionId === undefined) this.send(LIST_CHANGED)
    else this.streams.get(sessionId)?.response.write(LIST_CHANGED)
  }

  /** End all streams. */
  close(): void {
    clearInterval(this.timer)
    for (const { response } of this.streams.values()) response.end()
    this.streams.clear()
  }

  private send(text: string): void {
    for (const { response } of this.streams.values()) response.write(text)
  }
}
