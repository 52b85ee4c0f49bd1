import type { ServerResponse } from 'node:http'
import { uuidHex } from 'crux-types'
import { sendJson } from '../http/answer-batch.js'
import type { StreamHolder } from '../http/event-streams.js'
import type { Answer } from './answer.js'

/** Characters of past events that one stream keeps for a client that comes back; the newest event always stays. */
const MAX_KEPT_CHARS = 1024 * 1024
/** How long a client is asked to wait before it comes back, in milliseconds. */
const RETRY_MS = 500
const EVENT_ID = /^([0-9a-f]{32})_(\d{1,9})$/

export interface AnswerStreamOptions {
  /** Whose answer it is: nobody else can come back to it. */
  readonly holder: StreamHolder
  /** The client takes event streams. */
  readonly canStream: boolean
  /** The client takes an event without data; it then learns at once where it can come back to. */
  readonly hasOpeningEvent: boolean
  /** Time between comments that keep the connection open, in milliseconds. */
  readonly keepAliveMs: number
}

/**
 * The answer to one request: plain JSON, or an event stream as soon as something comes before it.
 *
 * Events are numbered, so that a client that lost its connection gets the rest on another one.
 */
export class AnswerStream implements Answer {
  readonly id = uuidHex()
  /** Whether there is something to come back to. */
  isStreamed = false
  private isFinished = false
  private readonly kept: { readonly number: number; readonly text: string }[] = []
  private keptChars = 0
  private lastNumber = -1
  private response: ServerResponse | undefined
  private keepAlive: NodeJS.Timeout | undefined

  constructor(
    response: ServerResponse,
    private readonly options: AnswerStreamOptions,
  ) {
    this.attach(response)
  }

  get holder(): StreamHolder {
    return this.options.holder
  }

  get canStream(): boolean {
    return this.options.canStream
  }

  /** Send a message before the answer; it is left out when the client takes no stream. */
  push(message: string): void {
    if (!this.canStream || this.isFinished) return
    this.open()
    this.write(message)
  }

  /** Send the answer and end. */
  finish(message: string): void {
    if (this.isFinished) return
    if (this.isStreamed) {
      this.write(message)
      this.end()
    } else {
      this.isFinished = true
      if (this.response !== undefined) sendJson(this.response, 200, message)
    }
  }

  /** End without an answer, which nobody waits for any more. */
  abandon(): void {
    if (this.isFinished) return
    if (!this.isStreamed && this.response !== undefined && !this.response.headersSent) {
      this.response.writeHead(202, { 'Content-Length': 0 })
    }
    this.end()
  }

  /** End this connection only; the client comes back for the rest. */
  detach(): void {
    if (!this.canStream || this.isFinished) return
    this.open()
    const { response } = this
    this.release()
    response?.end()
  }

  /** Go on, on another connection, after the event of that number. False when that is too long ago. */
  resume(response: ServerResponse, after: number): boolean {
    const missed = this.kept.filter(({ number }) => number > after)
    if (after > this.lastNumber || (missed[0]?.number ?? after + 1) !== after + 1) return false
    const previous = this.response
    this.release()
    previous?.end()
    writeStreamHead(response)
    for (const { text } of missed) response.write(text)
    if (this.isFinished) response.end()
    else {
      this.attach(response)
      this.keepOpen()
    }
    return true
  }

  private open(): void {
    if (this.isStreamed) return
    this.isStreamed = true
    if (this.response !== undefined) writeStreamHead(this.response)
    this.keepOpen()
    if (this.options.hasOpeningEvent) this.write('', `retry: ${RETRY_MS}\n`)
  }

  private write(data: string, more = ''): void {
    this.lastNumber += 1
    const text = `id: ${this.id}_${this.lastNumber}\n${more}data: ${data}\n\n`
    this.kept.push({ number: this.lastNumber, text })
    this.keptChars += text.length
    while (this.keptChars > MAX_KEPT_CHARS && this.kept.length > 1) {
      this.keptChars -= this.kept.shift()?.text.length ?? 0
    }
    this.response?.write(text)
  }

  private end(): void {
    this.isFinished = true
    const { response } = this
    this.release()
    response?.end()
  }

  private attach(response: ServerResponse): void {
    this.response = response
    // A lost connection cancels nothing: the client may come back.
    response.on('close', () => {
      if (this.response === response) this.release()
    })
  }

  private keepOpen(): void {
    this.keepAlive = setInterval(
      () => this.response?.write(': keep-alive\n\n'),
      this.options.keepAliveMs,
    )
    this.keepAlive.unref()
  }

  private release(): void {
    clearInterval(this.keepAlive)
    this.response = undefined
  }
}

/** The stream and the event that a `Last-Event-ID` names; undefined when it is none of ours. */
export function readEventId(header: unknown): { stream: string; number: number } | undefined {
  const [, stream, number] = (typeof header === 'string' && EVENT_ID.exec(header)) || []
  return stream === undefined ? undefined : { stream, number: Number(number) }
}

function writeStreamHead(response: ServerResponse): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    // Proxies that buffer would hold messages back.
    'X-Accel-Buffering': 'no',
  })
}
