import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Daemon } from '../sandbox.js'

const PROBE = fileURLToPath(new URL('../../fixtures/report-memory.mjs', import.meta.url))
const report = z.object({ memory: z.object({ heapUsed: z.number(), external: z.number() }) })

/** Setting of a daemon whose memory is to be read. */
export const MEMORY_PROBE = { NODE_OPTIONS: `--import=${PROBE}` } as const

/** Bytes that a daemon holds after a collection: its heap, and buffers outside of it. */
export async function heldBytes(daemon: Daemon): Promise<number> {
  const before = reports(daemon).length
  daemon.process.kill('SIGUSR2')
  let last: string | undefined
  while (last === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (daemon.process.exitCode !== null) throw new Error('the daemon has ended')
    last = reports(daemon)[before]
  }
  const { memory } = report.parse(JSON.parse(last))
  return memory.heapUsed + memory.external
}

function reports(daemon: Daemon): string[] {
  return daemon.stderr().match(/^\{"memory":.*\}$/gm) ?? []
}
