import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  PARSE_ERROR,
  PROTOCOL_VERSION,
  type SurfaceChoice,
  UPSTREAM_ERROR,
} from 'crux-mcp/protocol'
import { messageOf } from 'crux-types'
import { type InputLine, readLines } from './lines.js'
import { agreedVersion, headersOf, type Message, readMessage } from './message.js'
import { type SpawnPlan, spawnDaemon } from './spawn-daemon.js'
import { openUpstream, type UpstreamReply } from './upstream.js'

export interface StdioRelayOptions {
  /** The daemon's endpoint, such as `http://127.0.0.1:14801/mcp`. */
  readonly url: string
  /** Agent token, sent as bearer. */
  readonly token?: string | undefined
  /** The part of the tools that the client is shown; undefined leaves it to the daemon. */
  readonly surface?: SurfaceChoice | undefined
  /** One JSON-RPC message a line. */
  readonly input: Readable
  /** Gets JSON-RPC lines and nothing else. */
  readonly output: Writable
  /** Gets sentences for people. */
  readonly errorOutput: Writable
  /** With it, a daemon is started when the endpoint is on this machine and refuses. */
  readonly spawn?: SpawnPlan | undefined
  /** Version of this program; another one of the daemon is reported. */
  readonly version?: string | undefined
  /** Ends the relay at once. */
  readonly signal?: AbortSignal | undefined
}

// Messages under way at once; beyond that, reading waits, so that memory stays bounded.
const MAX_IN_FLIGHT = 16
// More than messages, for streams of changes and questions that wait for the client.
const MAX_CONNECTIONS = 128
// Larger than any body that the daemon takes.
const MAX_LINE_BYTES = 64 * 1024 * 1024
const LISTEN = 'subscriptions/listen'
const LISTEN_AGAIN_MS = 1000

/**
 * Relay MCP between standard input and output and the daemon's HTTP endpoint.
 *
 * Messages are sent as they come, several at once; answers are whole lines, in the order in which
 * they arrive. The session id of the handshake goes with every later message. A message that could
 * not be delivered is answered with error -32000; a notification is never answered.
 *
 * @returns The exit code: 0 at the end of the input, with everything answered, or when ended by
 *   `signal`; 1 when the input cannot be read.
 */
export async function runStdioRelay(options: StdioRelayOptions): Promise<0 | 1> {
  const signal = options.signal ?? new AbortController().signal
  const say = (text: string): void => {
    options.errorOutput.write(`mcp-stdio: ${text}\n`)
  }
  const upstream = openUpstream({
    url: options.url,
    token: options.token,
    surface: options.surface,
    connections: MAX_CONNECTIONS,
  })
  const output = lineWriter(options.output)
  const inFlight = new Set<Promise<void>>()
  // Requests that stand alone, by which a cancellation finds them.
  const alone = new Map<string, AbortController>()
  // What ends only when the client does something: streams of changes, and questions to its user.
  const endless = new Set<AbortController>()
  let isOver = false
  let isListening = false
  let wake = (): void => undefined
  let sessionId: string | undefined
  let agreed: string | undefined
  let starting: Promise<string | undefined> | undefined

  const startDaemon = async (plan: SpawnPlan): Promise<void> => {
    starting ??= spawnDaemon(options.url, plan, signal)
    const problem = await starting
    starting = undefined
    if (problem !== undefined) say(problem)
  }

  const sessionHeader = () => (sessionId === undefined ? {} : { 'mcp-session-id': sessionId })

  const awaitClient = (request: AbortController): void => {
    endless.add(request)
    wake()
  }

  const deliver = async (message: Message): Promise<UpstreamReply> => {
    const cancel = new AbortController()
    if (message.version !== undefined && message.id !== undefined) {
      alone.set(message.id, cancel)
      if (message.method === LISTEN) awaitClient(cancel)
    }
    const given = {
      headers: { ...sessionHeader(), ...headersOf(message, agreed) },
      onMessage: async (text: string): Promise<void> => {
        if (isQuestion(text)) awaitClient(cancel)
        if (isOver && endless.has(cancel)) cancel.abort()
        await output(text)
      },
      signal: cancel.signal,
    }
    try {
      const reply = await upstream.post(message.bytes, given)
      if (cancel.signal.aborted) return { kind: 'accepted' }
      if (reply.kind !== 'refused' || options.spawn === undefined) return reply
      await startDaemon(options.spawn)
      return await upstream.post(message.bytes, given)
    } finally {
      if (message.id !== undefined) {
        alone.delete(message.id)
      }
      endless.delete(cancel)
    }
  }

  /** Pass on what is said to the session apart from answers, for as long as there is one. */
  const listen = async (version: string): Promise<void> => {
    while (!signal.aborted && !isOver) {
      const headers = { ...sessionHeader(), 'mcp-protocol-version': version }
      // The daemon may be away for a while; requests say so, this stream only comes back.
      await upstream.listen(headers, output).catch(() => undefined)
      await sleep(LISTEN_AGAIN_MS, undefined, { ref: false })
    }
  }

  const relay = async (message: Message): Promise<void> => {
    const reply = await deliver(message)
    if (signal.aborted) return
    if (reply.kind === 'answer') {
      if (message.method === 'initialize') {
        sessionId = reply.sessionId ?? sessionId
        agreed = agreedVersion(reply.text)
        warnOfOtherVersion(reply.text, options.version, say)
        if (agreed !== undefined && agreed !== PROTOCOL_VERSION && !isListening) {
          isListening = true
          void listen(agreed)
        }
      }
      await output(reply.text)
      return
    }
    if (reply.kind === 'streamed') return
    if (reply.kind === 'accepted' && (message.id === undefined || mayStayUnanswered(message)))
      return
    const failure =
      reply.kind === 'accepted'
        ? { message: 'upstream MCP endpoint answered HTTP 202 to a request', detail: '' }
        : reply
    say(`${failure.message}${failure.detail === '' ? '' : ` (${failure.detail})`}`)
    if (message.id !== undefined) {
      await output(errorLine(message.id, UPSTREAM_ERROR, failure.message))
    }
  }

  const accept = async (line: InputLine): Promise<void> => {
    if (line === 'too_long') {
      const why = `invalid JSON: a message is longer than ${MAX_LINE_BYTES} bytes`
      await output(errorLine('null', PARSE_ERROR, why))
      return
    }
    const message = readMessage(line)
    const cancelled = message.cancels === undefined ? undefined : alone.get(message.cancels)
    if (cancelled !== undefined) {
      // Over HTTP, closing the connection says it.
      cancelled.abort()
      return
    }
    // What follows the handshake needs its session id, and may rely on its outcome.
    if (message.method === 'initialize') await Promise.all(inFlight)
    const done = relay(message).finally(() => inFlight.delete(done))
    inFlight.add(done)
    if (message.method === 'initialize') await done
    // What waits for the client must not keep its lines from being read.
    while (inFlight.size - endless.size >= MAX_IN_FLIGHT) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve
      })
      await Promise.race([...inFlight, changed])
    }
  }

  const stop = (): void => {
    options.input.destroy()
    void upstream.close()
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (signal.aborted) stop()
    else if (options.spawn !== undefined) await startDaemon(options.spawn)
    for await (const line of readLines(options.input, MAX_LINE_BYTES)) await accept(line)
    isOver = true
    // No answer can come any more.
    for (const request of endless) request.abort()
    await Promise.all(inFlight)
    return 0
  } catch (error) {
    if (signal.aborted || isClosedPipe(error)) return 0
    say(`cannot go on: ${messageOf(error)}`)
    return 1
  } finally {
    isOver = true
    signal.removeEventListener('abort', stop)
    await upstream.close()
  }
}

/** Writes one line at a time and waits for a slow reader. */
function lineWriter(output: Writable): (text: string) => Promise<void> {
  let broken: unknown
  output.on('error', (error) => {
    broken = error
  })
  return async (text) => {
    if (broken !== undefined) throw broken
    if (!output.write(`${text}\n`)) await once(output, 'drain')
  }
}

/** Answers of the client, and requests that it may have cancelled. */
function mayStayUnanswered({ method, version, id }: Message): boolean {
  return (method === undefined && id !== 'null') || version !== undefined
}

/** True for a request of the server among the messages of an answer. */
function isQuestion(text: string): boolean {
  const message = readMessage(Buffer.from(text))
  return message.method !== undefined && message.id !== undefined
}

function errorLine(id: string, code: number, message: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message })}}`
}

function warnOfOtherVersion(
  answer: string,
  own: string | undefined,
  say: (text: string) => void,
): void {
  const found = /"serverInfo":\{"name":"crux","version":"([^"]+)"\}/.exec(answer)?.[1]
  if (own === undefined || found === undefined || found === own) return
  say(`the daemon has version ${found}, this bridge ${own}; restart the one that is older`)
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
