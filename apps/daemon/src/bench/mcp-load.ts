/**
 * The client of the MCP bench, in a process of its own: sends one body over and over through
 * connections that are kept, each of which waits for its answer.
 *
 * A program, started by `runMcpBench`; it takes a {@link LoadOrder} by message and answers a
 * {@link LoadReport}.
 */
import { Pool } from 'undici'

/** What to send where, and for how long. */
export interface LoadOrder {
  readonly url: string
  readonly body: string
  readonly durationMs: number
  readonly connections: number
}

/** What came of it. */
export interface LoadReport {
  readonly perSecond: number
  readonly p99Ms: number
}

process.on('message', (order: LoadOrder) => {
  run(order).then(
    (report) => process.send?.(report),
    (error: unknown) => process.send?.({ failed: String(error) }),
  )
})

async function run({ url, body, durationMs, connections }: LoadOrder): Promise<LoadReport> {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const latencies: number[] = []
  const started = performance.now()
  const until = started + durationMs
  const keepAsking = async (): Promise<void> => {
    while (performance.now() < until) {
      const sent = performance.now()
      const response = await pool.request({
        method: 'POST',
        path: pathname,
        headers: { 'content-type': 'application/json' },
        body,
      })
      const { byteLength } = await response.body.arrayBuffer()
      if (response.statusCode !== 200 || byteLength === 0) {
        throw new Error(`answered ${response.statusCode} with ${byteLength} bytes`)
      }
      latencies.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: connections }, keepAsking))
  const seconds = (performance.now() - started) / 1000
  await pool.close()
  latencies.sort((a, b) => a - b)
  return {
    perSecond: latencies.length / seconds,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  }
}
