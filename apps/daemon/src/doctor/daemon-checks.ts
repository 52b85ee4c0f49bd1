import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from 'crux-types'
import { z } from 'zod'
import { createDaemonClient } from '../cli/client.js'
import { readStatus } from '../cli/status.js'
import { type Probe, probeHttp, probeMcp } from '../setup/probe.js'
import type { SetupTarget } from '../setup/setup-target.js'
import { type Finding, type Report, reportOn } from './finding.js'
import { checkOtherClock } from './machine-checks.js'

/** What was found of the daemon, and whether the others can ask it. */
export interface DaemonFindings {
  readonly findings: readonly Finding[]
  readonly isRunning: boolean
}

const LOG_END_BYTES = 4096

const holderSchema = z.looseObject({ pid: z.int(), httpPort: z.int().optional() })

/**
 * Whether the daemon runs, is what it should be, and is well.
 *
 * @param own.version - Of this program.
 * @param own.token - For the HTTP API.
 */
export async function checkDaemon(
  target: SetupTarget,
  own: { readonly version: string; readonly token: string | undefined },
  now: number,
  signal: AbortSignal,
): Promise<DaemonFindings> {
  const { mcpUrl, httpUrl } = target
  const [mcp, http] = await Promise.all([probeMcp(mcpUrl), probeHttp(httpUrl)])
  const report = reportOn('daemon')
  if (mcp.kind === 'nothing' && http.kind === 'nothing') {
    return { findings: [await notRunning(target, mcp.why, report)], isRunning: false }
  }
  const findings = [
    ...checkListener(mcp, mcpUrl, 'CORECRUXD_MCP_PORT', report),
    ...checkListener(http, httpUrl, 'CORECRUXD_HTTP_PORT', report),
  ]
  if (http.kind === 'crux') {
    findings.push(...(await checkHealth(httpUrl, own.token, signal)))
    findings.push(checkVersion(http.version, own.version))
    const skew = http.date === undefined ? undefined : checkOtherClock(http.date, now)
    if (skew !== undefined) findings.push(skew)
  }
  if (findings.every(({ level }) => level === 'ok'))
    findings.unshift(report.ok(`answers at ${mcpUrl}`))
  return { findings, isRunning: mcp.kind === 'crux' }
}

async function notRunning(target: SetupTarget, why: string, report: Report): Promise<Finding> {
  const { mcpUrl, config, isLocal } = target
  if (!isLocal) {
    return report.problem(
      `nothing answers at ${mcpUrl} (${why})`,
      'start the daemon on its machine, or set CRUX_MCP_URL',
    )
  }
  const holder = await readHolder(config.dataDir)
  if (holder !== undefined && isAlive(holder.pid)) {
    return report.problem(
      `nothing answers at ${mcpUrl} (${why}), but process ${holder.pid} owns ${config.dataDir}${holder.httpPort === undefined ? '' : ` and serves HTTP on port ${holder.httpPort}`}`,
      'set CORECRUXD_MCP_PORT and CORECRUXD_HTTP_PORT to the ports of that daemon, or stop it and start one with `npm start`',
    )
  }
  return report.problem(
    `no daemon answers at ${mcpUrl} (${why})`,
    `start one with \`npm start\`; clients that were set up with \`corecruxctl start\` start it themselves${await logHint(config.dataDir)}`,
  )
}

function checkListener(probe: Probe, url: string, variable: string, report: Report): Finding[] {
  switch (probe.kind) {
    case 'crux':
      return []
    case 'starting':
      return [report.warning(`the daemon at ${url} is still starting`, 'ask again in a moment')]
    case 'other':
      return [
        report.problem(
          `something else than Crux uses ${url} (${probe.what})`,
          `stop it, or set ${variable} to another port and run \`corecruxctl start --agent\` again for each client`,
        ),
      ]
    default:
      return [
        report.problem(
          `nothing answers at ${url} (${probe.why}), although the daemon's other listener does`,
          `set ${variable} to the port that the daemon has, or restart the daemon`,
        ),
      ]
  }
}

/** What the daemon itself says: failed checks and warnings of `/readyz`, indexes included. */
async function checkHealth(
  url: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Finding[]> {
  const report = reportOn('health')
  let status: Awaited<ReturnType<typeof readStatus>>
  try {
    status = await readStatus(createDaemonClient({ url, token, signal }))
  } catch (error) {
    return [report.problem(messageOf(error), 'see the log of the daemon')]
  }
  return [
    ...status.checks
      .filter(({ ok }) => !ok)
      .map(({ name, error }) =>
        report.problem(`${name}: ${error ?? 'failed'}`, `see the daemon's log, then restart it`),
      ),
    ...status.warnings.map((warning) =>
      report.warning(
        warning,
        /index|companion/i.test(warning)
          ? '`corecruxctl ccxi verify` says which; `corecruxctl ccxi rebuild` builds them again'
          : 'the sentence says it; `corecruxctl status` shows whether it is gone',
      ),
    ),
  ]
}

function checkVersion(daemon: string | undefined, own: string): Finding {
  const report = reportOn('version')
  if (daemon === own) return report.ok(own)
  return report.warning(
    `the daemon has version ${daemon ?? 'unknown'}, this program ${own}`,
    'restart the daemon from the newer one, and run `corecruxctl start --agent` of that one for each client',
  )
}

async function readHolder(dir: string): Promise<z.output<typeof holderSchema> | undefined> {
  try {
    return holderSchema.parse(JSON.parse(await readFile(join(dir, 'LOCK'), 'utf8')))
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The last line of the log of a daemon that a client started, when it says why that one ended. */
async function logHint(dir: string): Promise<string> {
  const file = join(dir, 'daemon.log')
  const last = (await endOf(file)).trimEnd().split('\n').at(-1)?.slice(0, 300) ?? ''
  return last.startsWith('corecruxd: ') ? `; the last one ended with "${last}" (${file})` : ''
}

/** The end of a text file that may be large; empty when it cannot be read. */
async function endOf(file: string): Promise<string> {
  try {
    const handle = await open(file)
    try {
      const { size } = await handle.stat()
      const start = Math.max(0, size - LOG_END_BYTES)
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, null, start)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch {
    return ''
  }
}
