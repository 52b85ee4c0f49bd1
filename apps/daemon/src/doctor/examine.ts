import { messageOf } from 'crux-types'
import { loadConfig } from '../config/load.js'
import { configSources, type ProcessLike } from '../corecruxd.js'
import { findSetupTarget, type SetupTarget } from '../setup/setup-target.js'
import { readBuildInfo } from '../version.js'
import { checkClients } from './client-checks.js'
import { checkDaemon } from './daemon-checks.js'
import { type Finding, reportOn } from './finding.js'
import { checkClock, checkDataDirectory, checkDisk, checkNode } from './machine-checks.js'

/** What {@link examine} is told. */
export interface Examination {
  readonly nodeVersion: string
  /** Where the command line looks for the HTTP API. */
  readonly url: string
  /** For the HTTP API. */
  readonly token: string | undefined
  /** Epoch milliseconds. */
  readonly now: number
  readonly signal: AbortSignal
}

/**
 * Look at everything that keeps agents from using the daemon: this machine, the configuration, the
 * data directory, the daemon, the clients. Nothing is changed.
 *
 * @returns What was found, in the order in which it is best mended. It does not throw for what it is
 *   there to find.
 */
export async function examine(proc: ProcessLike, options: Examination): Promise<Finding[]> {
  const { nodeVersion, token, now, signal } = options
  const findings = [checkNode(nodeVersion)]
  const target = await checkConfiguration(proc, options.url, findings)
  if (target === undefined) return findings
  const { dataDir } = target.config
  findings.push(...(await checkDataDirectory(dataDir)))
  findings.push(await checkDisk(dataDir), await checkClock(dataDir, now))
  const { version } = readBuildInfo()
  const daemon = await checkDaemon(target, { version, token }, now, signal)
  findings.push(...daemon.findings)
  findings.push(...(await checkClients(target, daemon, version)))
  return findings
}

async function checkConfiguration(
  proc: ProcessLike,
  url: string,
  findings: Finding[],
): Promise<SetupTarget | undefined> {
  const report = reportOn('configuration')
  try {
    const { warnings } = await loadConfig(configSources(proc))
    const target = await findSetupTarget(proc, url)
    for (const warning of warnings) {
      findings.push(report.warning(warning, 'correct or remove it; see docs/configuration.md'))
    }
    if (warnings.length === 0) findings.push(report.ok(`MCP at ${target.mcpUrl}`))
    return target
  } catch (error) {
    findings.push(
      report.problem(messageOf(error), 'correct it; until then the daemon refuses to start'),
    )
    return undefined
  }
}
