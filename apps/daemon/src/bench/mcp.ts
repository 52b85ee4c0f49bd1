import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { post, startDaemon, stop, toolCall } from './mcp-daemon.js'
import type { LoadOrder, LoadReport } from './mcp-load.js'

/** What the MCP bench is asked to do. */
export interface McpBenchOptions {
  readonly signal?: AbortSignal
  /** Told how many of all measurements are done. */
  readonly onProgress?: (done: number, of: number) => void
}

/** One line of the MCP bench. */
export interface McpBenchResult {
  readonly tool: string
  /** Of the tools that take one. */
  readonly top_k?: number
  /** Calls answered a second, over 64 connections that are kept. */
  readonly per_s: number
  /** The same of a hono server that returns as many bytes and does nothing else. */
  readonly echo_per_s: number
  /** `per_s / echo_per_s`, median of five pairs. */
  readonly ratio: number
  /** Time within which 99 % of the calls were answered, in milliseconds. */
  readonly p99_ms: number
}

const FACTS = 1_000
const CONNECTIONS = 64
const PAIRS = 5
const WARM_UP_MS = 1_000
const MEASURE_MS = 2_000
// Held by every tenth fact, so that there is something to rank and something to leave out.
const QUERY = 'status'
const CALLS: readonly {
  readonly tool: string
  readonly args: { top_k?: number; query?: string }
}[] = [
  { tool: 'get_agent_identity', args: {} },
  { tool: 'query_facts', args: { query: QUERY, top_k: 1 } },
  { tool: 'query_facts', args: { query: QUERY, top_k: 10 } },
]

/**
 * Measure tool calls over MCP against an echo, on this machine.
 *
 * The daemon is the built one, in a process of its own on a fresh data directory; so are the echo
 * and the client. Daemon and echo take turns, so that what else the machine does meets both.
 *
 * @returns One line per kind of call; figures are medians of five pairs.
 * @throws the signal's reason; an error when the daemon does not start.
 */
export async function runMcpBench(
  options: McpBenchOptions = {},
): Promise<readonly McpBenchResult[]> {
  const { signal } = options
  const dir = await mkdtemp(join(tmpdir(), 'crux-bench-mcp-'))
  const children: ChildProcess[] = []
  try {
    const { url } = await startDaemon(dir, {}, children)
    await storeFacts(url, signal)
    const client = startClient(children)
    const results: McpBenchResult[] = []
    let done = 0
    for (const { tool, args } of CALLS) {
      const body = toolCall(tool, args)
      const answer = await post(url, body)
      const echoUrl = await startEcho(answer, children)
      for (const target of [url, echoUrl]) await measure(client, target, body, WARM_UP_MS)
      const pairs: { readonly ours: LoadReport; readonly echo: LoadReport }[] = []
      for (let pair = 0; pair < PAIRS; pair++) {
        signal?.throwIfAborted()
        const ours = await measure(client, url, body, MEASURE_MS)
        const echo = await measure(client, echoUrl, body, MEASURE_MS)
        pairs.push({ ours, echo })
        options.onProgress?.(++done, CALLS.length * PAIRS)
      }
      results.push({
        tool,
        ...(args.top_k === undefined ? {} : { top_k: args.top_k }),
        per_s: Math.round(median(pairs.map(({ ours }) => ours.perSecond))),
        echo_per_s: Math.round(median(pairs.map(({ echo }) => echo.perSecond))),
        ratio: round2(median(pairs.map(({ ours, echo }) => ours.perSecond / echo.perSecond))),
        p99_ms: round2(median(pairs.map(({ ours }) => ours.p99Ms))),
      })
    }
    return results
  } finally {
    await Promise.all(children.map(stop))
    await rm(dir, { recursive: true, force: true })
  }
}

async function storeFacts(url: string, signal: AbortSignal | undefined): Promise<void> {
  const batch = 50
  for (let start = 0; start < FACTS; start += batch) {
    signal?.throwIfAborted()
    const indices = Array.from({ length: batch }, (_, offset) => start + offset)
    await Promise.all(
      indices.map((i) =>
        post(
          url,
          toolCall('store_fact', {
            entity: `service:${i % 200}`,
            key: i % 10 === 0 ? 'status' : `setting-${Math.floor(i / 200)}`,
            value: `value ${i} as it was seen by the agent that looked after service ${i % 200}`,
          }),
        ),
      ),
    )
  }
}

function startEcho(answer: string, children: ChildProcess[]): Promise<string> {
  const child = startScript('./mcp-echo.js', children)
  return new Promise((resolve, reject) => {
    child.once('message', (url) => resolve(String(url)))
    child.once('exit', () => reject(new Error('the echo server ended')))
    child.send({ answer })
  })
}

function startClient(children: ChildProcess[]): ChildProcess {
  return startScript('./mcp-load.js', children)
}

function startScript(path: string, children: ChildProcess[]): ChildProcess {
  const child = fork(fileURLToPath(new URL(path, import.meta.url)), { env: {} })
  children.push(child)
  return child
}

function measure(
  client: ChildProcess,
  url: string,
  body: string,
  durationMs: number,
): Promise<LoadReport> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the client process ended'))
    client.once('exit', ended)
    client.once('message', (message) => {
      client.off('exit', ended)
      // Sent by mcp-load.ts and by nothing else.
      const report = message as LoadReport | { readonly failed: string }
      if ('failed' in report) reject(new Error(`${url}: ${report.failed}`))
      else resolve(report)
    })
    const order: LoadOrder = { url, body, durationMs, connections: CONNECTIONS }
    client.send(order)
  })
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
