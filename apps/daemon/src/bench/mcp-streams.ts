import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MeasuredDaemon, startDaemon, stop } from './mcp-daemon.js'
import type { HeldMemory } from './mcp-memory.js'

/** What idle event streams cost. */
export interface StreamsBenchResult {
  /** Streams that were open. */
  readonly streams: number
  /** Resident memory that the daemon took for them, after a collection. */
  readonly rss_bytes: number
  /** The same of its heap and of buffers outside of it. */
  readonly held_bytes: number
}

const STREAMS = 1024
// Opened at a time, so that the queue of connections to accept never overflows.
const AT_A_TIME = 64

/**
 * Measure the memory of idle event streams, with no limit for one owner.
 *
 * Streams are opened and closed once before, so that code is compiled and pools have grown.
 */
export async function runStreamsBench(signal?: AbortSignal): Promise<StreamsBenchResult> {
  const dir = await mkdtemp(join(tmpdir(), 'crux-bench-streams-'))
  const children: ChildProcess[] = []
  const agent = new Agent({ maxSockets: STREAMS })
  try {
    const settings = { CRUX_MCP_SSE_MAX_SESSIONS_PER_OWNER: '0' }
    const daemon = await startDaemon(dir, settings, children)
    const warm = await openStreams(daemon.url, AT_A_TIME, agent, signal)
    for (const stream of warm) stream.destroy()
    const before = await askMemory(daemon)
    const open = await openStreams(daemon.url, STREAMS, agent, signal)
    const after = await askMemory(daemon)
    for (const stream of open) stream.destroy()
    return {
      streams: open.length,
      rss_bytes: after.rss - before.rss,
      held_bytes: after.held - before.held,
    }
  } finally {
    agent.destroy()
    await Promise.all(children.map(stop))
    await rm(dir, { recursive: true, force: true })
  }
}

async function openStreams(
  url: string,
  count: number,
  agent: Agent,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage[]> {
  const streams: IncomingMessage[] = []
  while (streams.length < count) {
    signal?.throwIfAborted()
    const size = Math.min(AT_A_TIME, count - streams.length)
    streams.push(...(await Promise.all(Array.from({ length: size }, () => openStream(url, agent)))))
  }
  return streams
}

function openStream(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { accept: 'text/event-stream' } }, (response) => {
      // Ended with the bench, by this side.
      response.on('error', () => undefined).resume()
      if (response.statusCode === 200) resolve(response)
      else reject(new Error(`a stream was answered ${response.statusCode}`))
    })
    request.on('error', reject)
  })
}

async function askMemory({ process: child }: MeasuredDaemon): Promise<HeldMemory> {
  const answered = once(child, 'message')
  child.send('memory')
  const [memory] = await answered
  // Sent by mcp-memory.ts and by nothing else.
  return memory as HeldMemory
}
