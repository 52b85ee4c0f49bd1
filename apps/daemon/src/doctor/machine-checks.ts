import { constants } from 'node:fs'
import { access, readdir, readFile, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DATA_FORMAT, systemCode } from 'crux-storage'
import { messageOf } from 'crux-types'
import { agentFilePath, readAgentFile } from '../agents/agent-file.js'
import { isSameVersionOrNewer } from '../version.js'
import { type Finding, reportOn } from './finding.js'

/** The oldest Node.js that this program runs on. */
export const OLDEST_NODE = '20.19.0'

const FULL_BYTES = 1024 * 1024
const SCARCE_BYTES = 200 * 1024 * 1024
/** File systems round times, and machines of one network differ a little. */
const CLOCK_TOLERANCE_MS = 5 * 60_000

/** Whether Node.js is new enough; `version` without a `v`. */
export function checkNode(version: string): Finding {
  const report = reportOn('node')
  if (isSameVersionOrNewer(version, OLDEST_NODE)) return report.ok(`Node.js ${version}`)
  return report.problem(
    `Node.js ${version} is older than ${OLDEST_NODE}`,
    `install Node.js ${OLDEST_NODE} or newer, then run \`corecruxctl start --agent\` again, so that clients start that one`,
  )
}

/** Whether the data directory can be used, and by nobody else. */
export async function checkDataDirectory(dir: string): Promise<Finding[]> {
  const report = reportOn('data directory')
  let facts: Awaited<ReturnType<typeof stat>>
  try {
    facts = await stat(dir)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [report.note(`${dir} is made by the first start`)]
    return [report.problem(messageOf(error), elsewhere(`make ${dirname(dir)} accessible`))]
  }
  if (!facts.isDirectory()) {
    return [report.problem(`${dir} is not a directory`, elsewhere('move it away'))]
  }
  try {
    await access(dir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return [
      report.problem(
        `${dir} cannot be read and written by this user`,
        elsewhere(`\`chown -R "$USER" ${dir} && chmod -R u+rwX ${dir}\``),
      ),
    ]
  }
  const findings: Finding[] = [...(await checkFormat(dir)), ...(await checkAgentFile(dir))]
  if (isOpenToOthers(facts.mode)) {
    findings.push(report.warning(`other users can look into ${dir}`, `\`chmod 700 ${dir}\``))
  }
  return findings.length === 0 ? [report.ok(dir)] : findings
}

/** Whether there is room for what the daemon writes. */
export async function checkDisk(dir: string): Promise<Finding> {
  const report = reportOn('disk')
  const { bsize, bavail } = await statfs(await nearestExisting(dir))
  const free = bsize * bavail
  const says = `${Math.floor(free / FULL_BYTES)} MiB free where ${dir} is`
  if (free < FULL_BYTES) return report.problem(says, 'make room; until then nothing can be stored')
  if (free < SCARCE_BYTES) return report.warning(says, 'make room before it is used up')
  return report.ok(says)
}

/** Whether the clock stands behind what was written already. */
export async function checkClock(dir: string, now: number): Promise<Finding> {
  const report = reportOn('clock')
  const newest = await newestChange(dir)
  if (newest === undefined || newest <= now + CLOCK_TOLERANCE_MS) {
    return report.ok(new Date(now).toISOString())
  }
  return report.problem(
    `it is ${new Date(now).toISOString()}, and files of ${dir} were written at ${new Date(newest).toISOString()}`,
    'set the clock of this machine, for example by switching network time on; until then new facts seem older than they are',
  )
}

/** How far another clock is off, when it matters. */
export function checkOtherClock(other: number, now: number): Finding | undefined {
  if (Math.abs(other - now) <= CLOCK_TOLERANCE_MS) return undefined
  return reportOn('clock').problem(
    `the daemon's clock says ${new Date(other).toISOString()}, this one ${new Date(now).toISOString()}`,
    'set the one that is wrong, for example by switching network time on',
  )
}

/** Whether permissions let anybody but the owner read or write. */
export function isOpenToOthers(mode: number | bigint): boolean {
  // Windows knows no such permissions and shows them all.
  return process.platform !== 'win32' && (Number(mode) & 0o077) !== 0
}

async function checkFormat(dir: string): Promise<Finding[]> {
  const text = await readFile(join(dir, 'FORMAT'), 'utf8').catch(() => undefined)
  const format = Number(text?.trim())
  if (text === undefined || !(format > DATA_FORMAT)) return []
  return [
    reportOn('data directory').problem(
      `${dir} was written by a newer version (format ${format}; this one knows ${DATA_FORMAT})`,
      'update Crux, or set CORECRUXD_DATA_DIR to another directory',
    ),
  ]
}

async function checkAgentFile(dir: string): Promise<Finding[]> {
  const report = reportOn('agents')
  const path = agentFilePath(dir)
  try {
    await readAgentFile(dir)
    const { mode } = await stat(path)
    if (!isOpenToOthers(mode)) return []
    return [report.warning(`other users can read or change ${path}`, `\`chmod 600 ${path}\``)]
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    return [
      report.problem(messageOf(error), `mend ${path}, or move it away and set agents up again`),
    ]
  }
}

async function newestChange(dir: string): Promise<number | undefined> {
  const names = await readdir(dir).catch(() => [])
  const times = await Promise.all(
    names.map(async (name) => {
      try {
        return (await stat(join(dir, name))).mtimeMs
      } catch {
        return 0
      }
    }),
  )
  return times.length === 0 ? undefined : Math.max(...times)
}

async function nearestExisting(path: string): Promise<string> {
  try {
    await access(path)
    return path
  } catch {
    return dirname(path) === path ? path : nearestExisting(dirname(path))
  }
}

function elsewhere(first: string): string {
  return `${first}, or set CORECRUXD_DATA_DIR to a directory of yours`
}
