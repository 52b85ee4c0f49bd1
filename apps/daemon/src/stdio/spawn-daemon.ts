import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLoopbackHost } from 'crux-mcp/protocol'
import { fetch } from 'undici'

/** How to start a daemon when none runs. */
export interface SpawnPlan {
  /** Program and its arguments, such as the path of Node and of `corecruxd.js`. */
  readonly command: string
  readonly args: readonly string[]
  /** Environment of the daemon; the port of the endpoint is added to it. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where its output goes: `<data>/daemon.log`. Created with its folder, appended to. */
  readonly logFile: string
  /** How long to wait for it, in milliseconds; default 15,000. */
  readonly waitMs?: number
}

const DEFAULT_WAIT_MS = 15_000
const POLL_MS = 50

/**
 * Make sure that a daemon answers at a loopback endpoint: start one, detached, if nothing listens.
 *
 * When two bridges do so at once, one daemon wins the data directory and the other one exits; both
 * bridges wait for the winner. The daemon outlives the bridge.
 *
 * @returns Undefined when the endpoint answers, else a sentence on why it does not.
 */
export async function spawnDaemon(
  url: string,
  plan: SpawnPlan,
  signal: AbortSignal,
): Promise<string | undefined> {
  const endpoint = new URL(url)
  if (!isLoopbackHost(endpoint.hostname)) {
    return `${url} is not on this machine; a daemon is only started for a loopback address`
  }
  if (await answers(url)) return undefined
  const child = start(plan, endpoint)
  let ended: string | undefined
  child.on('error', (error) => {
    ended = `it could not be started: ${error.message}`
  })
  child.on('exit', (code, killedBy) => {
    ended = `it ended with ${killedBy ?? `code ${code}`}`
  })
  const deadline = performance.now() + (plan.waitMs ?? DEFAULT_WAIT_MS)
  // The end of our own daemon is no reason to stop waiting: another one may be about to answer.
  while (performance.now() < deadline && !signal.aborted) {
    if (await answers(url)) return undefined
    await sleep(POLL_MS)
  }
  return `no daemon answers at ${url} (${ended ?? 'it is still starting'}); see ${plan.logFile}`
}

function start(plan: SpawnPlan, endpoint: URL): ChildProcess {
  mkdirSync(dirname(plan.logFile), { recursive: true, mode: 0o700 })
  const log = openSync(plan.logFile, 'a', 0o600)
  const child = spawn(plan.command, [...plan.args], {
    detached: true,
    stdio: ['ignore', log, log],
    // It has to listen where the bridge looks for it.
    env: { ...plan.env, ...(endpoint.port === '' ? {} : { CORECRUXD_MCP_PORT: endpoint.port }) },
  })
  closeSync(log)
  child.unref()
  return child
}

/** True when something at the address answers and is not just starting. */
async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) })
    await response.body?.cancel()
    return response.status !== 503
  } catch {
    return false
  }
}
