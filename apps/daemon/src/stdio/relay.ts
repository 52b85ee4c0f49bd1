import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { PARSE_ERROR, type SurfaceChoice, UPSTREAM_ERROR } from 'crux-mcp'
import { messageOf } from 'crux-types'
import { type InputLine, readLines } from './lines.js'
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
// Larger than any body that the daemon takes.
const MAX_LINE_BYTES = 64 * 1024 * 1024

interface Message {
  readonly bytes: Uint8Array
  /** JSON text of the id; undefined for notifications. */
  readonly id: string | undefined
  readonly method: string | undefined
}

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
    connections: MAX_IN_FLIGHT,
  })
  const output = lineWriter(options.output)
  const inFlight = new Set<Promise<void>>()
  let sessionId: string | undefined
  let starting: Promise<string | undefined> | undefined

  const startDaemon = async (plan: SpawnPlan): Promise<void> => {
    starting ??= spawnDaemon(options.url, plan, signal)
    const problem = await starting
    starting = undefined
    if (problem !== undefined) say(problem)
  }

  const deliver = async (message: Message): Promise<UpstreamReply> => {
    const reply = await upstream.post(message.bytes, sessionId)
    if (reply.kind !== 'refused' || options.spawn === undefined) return reply
    await startDaemon(options.spawn)
    return upstream.post(message.bytes, sessionId)
  }

  const relay = async (message: Message): Promise<void> => {
    const reply = await deliver(message)
    if (signal.aborted) return
    if (reply.kind === 'answer') {
      if (message.method === 'initialize') {
        sessionId = reply.sessionId ?? sessionId
        warnOfOtherVersion(reply.text, options.version, say)
      }
      await output(reply.text)
      return
    }
    if (reply.kind === 'accepted' && message.id === undefined) return
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
    // What follows the handshake needs its session id, and may rely on its outcome.
    if (message.method === 'initialize') await Promise.all(inFlight)
    const done = relay(message).finally(() => inFlight.delete(done))
    inFlight.add(done)
    if (message.method === 'initialize') await done
    if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight)
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
    await Promise.all(inFlight)
    return 0
  } catch (error) {
    if (signal.aborted || isClosedPipe(error)) return 0
    say(`cannot go on: ${messageOf(error)}`)
    return 1
  } finally {
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

function readMessage(bytes: Uint8Array): Message {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const id = 'id' in value ? value.id : undefined
      const method =
        'method' in value && typeof value.method === 'string' ? value.method : undefined
      return { bytes, id: id === undefined || id === null ? undefined : JSON.stringify(id), method }
    }
  } catch {
    // The daemon says what is wrong with it.
  }
  // Neither a request nor a notification: whatever the failure, it has to be answered.
  return { bytes, id: 'null', method: undefined }
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
