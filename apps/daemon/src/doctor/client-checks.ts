import { execFile } from 'node:child_process'
import { access, stat } from 'node:fs/promises'
import { basename, isAbsolute } from 'node:path'
import { promisify } from 'node:util'
import { hashToken } from 'crux-mcp'
import { messageOf } from 'crux-types'
import { type AgentRecord, readAgentFile } from '../agents/agent-file.js'
import { type Connection, tokenOf } from '../clients/connection.js'
import { type FoundClient, findClients } from '../clients/find-clients.js'
import { VARIABLES } from '../config/variables.js'
import { probeMcp } from '../setup/probe.js'
import type { SetupTarget } from '../setup/setup-target.js'
import { type Finding, reportOn } from './finding.js'
import { isOpenToOthers } from './machine-checks.js'

const VERSION_TIMEOUT_MS = 30_000

/** What the clients' configurations are held against. */
interface Surroundings {
  readonly target: SetupTarget
  readonly agents: readonly AgentRecord[]
  readonly isRunning: boolean
  /** Version of this program. */
  readonly version: string
  /** What programs said of themselves, by their command line. */
  readonly relays: Map<string, Promise<RelayAnswer>>
}

/** Whether each client of this machine finds the daemon, and the daemon knows it. */
export async function checkClients(
  target: SetupTarget,
  daemon: { readonly isRunning: boolean },
  version: string,
): Promise<Finding[]> {
  // An unusable list is reported with the data directory.
  const agents = await readAgentFile(target.config.dataDir).catch(() => [])
  const { isRunning } = daemon
  const surroundings = {
    target,
    agents,
    version,
    isRunning,
    relays: new Map<string, Promise<RelayAnswer>>(),
  }
  const clients = await findClients(target.machine)
  const findings = await Promise.all(clients.map((client) => checkClient(client, surroundings)))
  return [...findings.flat(), ...unusedAgents(clients, surroundings)]
}

async function checkClient(client: FoundClient, around: Surroundings): Promise<Finding[]> {
  const { definition, file, configured, problem, isHere } = client
  const report = reportOn(`client ${definition.id}`)
  const again = `\`corecruxctl start --agent ${definition.id}\``
  if (!isHere) return []
  if (problem !== undefined) return [report.problem(problem, `mend ${file}, then ${again}`)]
  if (configured === undefined) {
    return [report.note(`${definition.title} is here and does not know Crux`, again)]
  }
  const { connection, isOff } = configured
  if (connection === undefined) {
    return [report.problem(`${file} has an entry for Crux that says no connection`, again)]
  }
  const found = [
    ...(isOff
      ? [report.warning(`${file} has Crux switched off`, 'switch it on there, or in the client')]
      : []),
    ...(await checkFileMode(client, connection)),
    ...checkAddress(connection, around, definition.id, file),
    ...(await checkProgram(connection, around, definition.id)),
    ...(await checkToken(connection, around, definition.id, file)),
  ]
  return found.length === 0 ? [report.ok(`${definition.title} is set up`)] : found
}

async function checkFileMode(client: FoundClient, connection: Connection): Promise<Finding[]> {
  const { definition, file } = client
  if (tokenOf(connection) === undefined || !isOpenToOthers((await stat(file)).mode)) return []
  return [
    reportOn(`client ${definition.id}`).warning(
      `other users can read ${file}, which holds a token`,
      `\`chmod 600 ${file}\``,
    ),
  ]
}

/** Whether the client is led to this daemon and not to another one. */
function checkAddress(
  connection: Connection,
  { target }: Surroundings,
  id: string,
  file: string,
): Finding[] {
  const report = reportOn(`client ${id}`)
  const again = `\`corecruxctl start --agent ${id}\`, or set CRUX_MCP_URL to the daemon that is meant`
  const url =
    connection.kind === 'http'
      ? connection.url
      : (connection.env.CRUX_MCP_URL ?? VARIABLES.mcpUrl.fallback)
  if (addressOf(url) !== addressOf(target.mcpUrl)) {
    return [report.problem(`${file} leads to ${url}, the daemon is at ${target.mcpUrl}`, again)]
  }
  const dataDir = connection.kind === 'stdio' ? connection.env.CORECRUXD_DATA_DIR : undefined
  if (dataDir === undefined || dataDir === target.config.dataDir) return []
  return [
    report.problem(
      `${file} would start a daemon for ${dataDir}; the data directory is ${target.config.dataDir}`,
      `\`corecruxctl start --agent ${id}\`, or set CORECRUXD_DATA_DIR to the one that is meant`,
    ),
  ]
}

/** Whether what the client starts is there, and of this version. */
async function checkProgram(
  connection: Connection,
  { version, relays, target }: Surroundings,
  id: string,
): Promise<Finding[]> {
  if (connection.kind === 'http') return []
  const report = reportOn(`client ${id}`)
  const again = `\`corecruxctl start --agent ${id}\``
  const { command, args } = connection
  const [script] = args
  for (const path of [command, script]) {
    if (path === undefined || !isAbsolute(path) || (await exists(path))) continue
    return [report.problem(`it starts ${path}, which is not there any more`, again)]
  }
  // Nothing else is run here than what the client itself runs at every start.
  if (script === undefined || basename(script) !== 'corecruxd.js') return []
  // One program is often that of all clients; it is asked once.
  const program = `${command} ${script}`
  const asking = relays.get(program) ?? askVersion(command, script, target.machine.env.PATH)
  relays.set(program, asking)
  const relay = await asking
  if (relay.kind === 'version') {
    if (relay.version === version) return []
    return [
      report.warning(`its relay has version ${relay.version}, this program ${version}`, again),
    ]
  }
  if (relay.kind === 'slow') {
    const says = `${program} did not say its version within ${VERSION_TIMEOUT_MS / 1000} s`
    return [report.warning(says, 'ask again when this machine has less to do')]
  }
  return [report.problem(`it starts ${program}, which does not run (${relay.why})`, again)]
}

type RelayAnswer =
  | { readonly kind: 'version'; readonly version: string }
  | { readonly kind: 'slow' }
  | { readonly kind: 'broken'; readonly why: string }

async function askVersion(
  command: string,
  script: string,
  searchPath: string | undefined,
): Promise<RelayAnswer> {
  try {
    const { stdout } = await promisify(execFile)(command, [script, '--version'], {
      timeout: VERSION_TIMEOUT_MS,
      env: { PATH: searchPath },
    })
    const version = /^corecruxd (\S+)/.exec(stdout)?.[1]
    if (version !== undefined) return { kind: 'version', version }
    return { kind: 'broken', why: 'it does not say its version' }
  } catch (error) {
    if (error instanceof Error && 'killed' in error && error.killed === true)
      return { kind: 'slow' }
    const lines = messageOf(error).trim().split('\n')
    const why = lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? ''
    return { kind: 'broken', why: why.slice(0, 200) }
  }
}

/** Whether the daemon knows the token, and what becomes of a client without one. */
async function checkToken(
  connection: Connection,
  { target, agents, isRunning }: Surroundings,
  id: string,
  file: string,
): Promise<Finding[]> {
  const report = reportOn(`client ${id}`)
  const again = `\`corecruxctl start --agent ${id}\``
  const token = tokenOf(connection)
  const hasAgents = agents.length > 0 || target.configured.length > 0
  if (token === undefined) {
    const says = `${file} has no token`
    if (!hasAgents) return [report.note(`${says}: it is served as anonymous`, again)]
    if (target.config.mcpAllowAnonymous) {
      return [report.warning(`${says}: it is served as anonymous beside agents with tokens`, again)]
    }
    return [
      report.problem(
        `${says}, and the daemon refuses callers without one`,
        `${again}, or serve them as before with CORECRUXD_MCP_ALLOW_ANONYMOUS=1`,
      ),
    ]
  }
  const hash = hashToken(token).toString('hex')
  if ([...agents, ...target.configured].some(({ tokenHash }) => tokenHash === hash)) return []
  // The daemon may have agents in its own environment that this program does not see.
  const probe = isRunning && hasAgents ? await probeMcp(target.mcpUrl, token) : undefined
  if (probe?.kind === 'crux' && probe.accepts) return []
  return [report.problem(`the daemon does not know the token in ${file}`, again)]
}

/** Agents whose token no configuration of this machine has. */
function unusedAgents(clients: readonly FoundClient[], { agents }: Surroundings): Finding[] {
  const used = new Set(
    clients.flatMap(({ configured }) => {
      const token =
        configured?.connection === undefined ? undefined : tokenOf(configured.connection)
      return token === undefined ? [] : [hashToken(token).toString('hex')]
    }),
  )
  return agents
    .filter(({ tokenHash }) => !used.has(tokenHash))
    .map(({ name }) =>
      reportOn(`agent ${name}`).warning(
        'no configuration of a client on this machine has its token',
        `\`corecruxctl start --agent ${name}\` writes it anew, \`corecruxctl agents revoke ${name}\` takes it back; leave it if another program uses it`,
      ),
    )
}

/** Host, port and path, with one name for this machine. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { hostname, port, pathname, protocol } = new URL(url)
  const host = ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? 'loopback' : hostname
  return `${protocol}//${host}:${port}${pathname.replace(/\/$/, '')}`
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}
