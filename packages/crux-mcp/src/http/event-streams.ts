import type { ServerResponse } from 'node:http'
import type { Caller } from 'crux-types'
import type { StreamLimits } from '../server-options.js'

/** Limits that hold where nobody sets others. */
export const DEFAULT_STREAM_LIMITS: StreamLimits = Object.freeze({ total: 1024, perOwner: 64 })

const LIST_CHANGED = `data: ${JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
})}\n\n`
const KEEP_ALIVE = ': keep-alive\n\n'

// What a client may leave unread; comments alone take days to come to that.
const MAX_UNREAD_BYTES = 64 * 1024
// Writes of one turn, some ten microseconds each, so that requests are answered in between.
const WRITES_PER_TURN = 100

/** Whose stream it is: an agent by name, else an address, else nobody in particular. */
export function ownerKey(caller: Caller, address: string | undefined): string {
  if (caller.agent !== null) return `agent:${caller.agent}`
  return address === undefined || address === '' ? 'anonymous' : `ip:${address}`
}

/** Why a stream was not opened. */
export type StreamRefusal =
  | { readonly kind: 'owner_mismatch' }
  | { readonly kind: 'limit'; readonly scope: 'global' | 'owner'; readonly limit: number }

/** Who has a stream. */
export interface StreamHolder {
  readonly owner: string
  /** Whether the owner would still be let in. */
  readonly isAdmitted: () => boolean
}

interface Stream {
  readonly holder: StreamHolder
  readonly response: ServerResponse
}

/**
 * The open event streams, one per session id. They carry one message only: the list of tools has
 * changed.
 */
export class EventStreams {
  private readonly streams = new Map<string, Stream>()
  private readonly countByOwner = new Map<string, number>()
  private readonly timer: NodeJS.Timeout

  /**
   * @param limits - Asked for whenever a stream is to be opened.
   * @param keepAliveMs - Time between comments that keep connections from being cut as idle.
   */
  constructor(
    private readonly limits: () => StreamLimits,
    keepAliveMs: number,
  ) {
    this.timer = setInterval(() => this.sendToAll(KEEP_ALIVE), keepAliveMs)
    this.timer.unref()
  }

  /**
   * Turn a response into the stream of a session; a stream that the same owner had there ends.
   *
   * @returns Why nothing was written; undefined when the stream is open, or its client gone.
   */
  open(
    sessionId: string,
    holder: StreamHolder,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): StreamRefusal | undefined {
    // A client that went away meanwhile: its response has closed already and would stay here.
    if (response.destroyed) return undefined
    const { owner } = holder
    const present = this.streams.get(sessionId)
    const refusal = this.refusalFor(owner, present)
    if (refusal !== undefined) return refusal
    if (present !== undefined) {
      this.remove(sessionId, present)
      present.response.end()
    }
    const stream: Stream = { holder, response }
    this.streams.set(sessionId, stream)
    this.countByOwner.set(owner, this.countOf(owner) + 1)
    response.on('close', () => this.remove(sessionId, stream))
    response.writeHead(200, {
      ...headers,
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      // Proxies that buffer would hold messages back.
      'X-Accel-Buffering': 'no',
    })
    response.write(': open\n\n')
    return undefined
  }

  /** Tell one session's stream, or all, that the list of tools changed; no stream is no error. */
  notifyToolsChanged(sessionId?: string): void {
    if (sessionId === undefined) {
      this.sendToAll(LIST_CHANGED)
      return
    }
    const stream = this.streams.get(sessionId)
    if (stream !== undefined) send(stream, LIST_CHANGED)
  }

  /** Send a JSON-RPC message on the stream that this owner has under a session; no stream is no error. */
  send(sessionId: string, owner: string, message: string): void {
    const stream = this.streams.get(sessionId)
    if (stream?.holder.owner === owner) send(stream, `data: ${message}\n\n`)
  }

  /** End the streams of those who would not be let in any more. */
  endRefused(): void {
    for (const [sessionId, stream] of [...this.streams]) {
      if (stream.holder.isAdmitted()) continue
      this.remove(sessionId, stream)
      stream.response.end()
    }
  }

  /** End all streams. */
  close(): void {
    clearInterval(this.timer)
    const open = [...this.streams.values()]
    this.streams.clear()
    this.countByOwner.clear()
    for (const { response } of open) response.end()
  }

  private refusalFor(owner: string, present: Stream | undefined): StreamRefusal | undefined {
    if (present !== undefined && present.holder.owner !== owner) return { kind: 'owner_mismatch' }
    const { total, perOwner } = this.limits()
    if (total > 0 && present === undefined && this.streams.size >= total) {
      return { kind: 'limit', scope: 'global', limit: total }
    }
    const others = this.countOf(owner) - (present === undefined ? 0 : 1)
    if (perOwner > 0 && others >= perOwner) {
      return { kind: 'limit', scope: 'owner', limit: perOwner }
    }
    return undefined
  }

  private countOf(owner: string): number {
    return this.countByOwner.get(owner) ?? 0
  }

  /** Forget a stream, unless a newer one has taken its place. */
  private remove(sessionId: string, stream: Stream): void {
    if (this.streams.get(sessionId) !== stream) return
    this.streams.delete(sessionId)
    const { owner } = stream.holder
    const left = this.countOf(owner) - 1
    if (left > 0) this.countByOwner.set(owner, left)
    else this.countByOwner.delete(owner)
  }

  /** Write to all streams, some in each turn. */
  private sendToAll(text: string): void {
    const streams = [...this.streams.values()]
    const sendFrom = (start: number): void => {
      const end = start + WRITES_PER_TURN
      for (const stream of streams.slice(start, end)) send(stream, text)
      if (end < streams.length) setImmediate(sendFrom, end)
    }
    sendFrom(0)
  }
}

function send({ response }: Stream, text: string): void {
  if (response.writableEnded || response.destroyed) return
  // Whoever reads nothing would have us keep it all.
  if (response.writableLength > MAX_UNREAD_BYTES) response.destroy()
  else response.write(text)
}
