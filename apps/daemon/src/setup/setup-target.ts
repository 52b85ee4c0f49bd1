import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AgentCredential, isLoopbackHost, parseAgentTokens } from 'crux-mcp'
import { CruxError } from 'crux-types'
import type { Connection, Transport } from '../clients/connection.js'
import { type Machine, machineOf } from '../clients/machine.js'
import { isSet, mcpUrlOf, originOf } from '../config/addresses.js'
import { type Config, loadConfig } from '../config/load.js'
import { VARIABLES } from '../config/variables.js'
import { configSources, type ProcessLike } from '../corecruxd.js'
import type { DaemonErrorCode } from '../errors.js'

/** The daemon that clients are set up for, and how they are to reach it. */
export interface SetupTarget {
  readonly machine: Machine
  readonly config: Config
  /** `http://HOST:PORT/mcp` */
  readonly mcpUrl: string
  readonly httpUrl: string
  /** Whether the daemon is on this machine, so that it can be started and given agents. */
  readonly isLocal: boolean
  /** Path of Node.js. */
  readonly node: string
  /** Path of `corecruxd.js`. */
  readonly daemonScript: string
  /** Agents that the environment of the command line names. */
  readonly configured: readonly AgentCredential[]
}

/**
 * Work out which daemon is meant: where `CRUX_MCP_URL` says, else where the configuration lets it
 * listen.
 *
 * @param url - Where the command line looks for the HTTP API; its default gives way to the configuration.
 * @throws {CruxError} `CONFIG_INVALID`.
 */
export async function findSetupTarget(proc: ProcessLike, url: string): Promise<SetupTarget> {
  const { config } = await loadConfig(configSources(proc))
  const isGiven = isSet(proc.env.CRUX_MCP_URL)
  if (!isGiven && !config.mcpEnabled) refuse('CORECRUXD_MCP_ENABLED is off; switch it on')
  if (!isGiven && config.mcpPort === 0) {
    refuse(
      'CORECRUXD_MCP_PORT is 0, so that the port is another one at each start; set it to a fixed port, such as 14801',
    )
  }
  const mcpUrl = mcpUrlOf(config, proc.env)
  if (!URL.canParse(mcpUrl)) {
    refuse(
      `CRUX_MCP_URL: ${JSON.stringify(mcpUrl)} is no address such as http://127.0.0.1:14801/mcp`,
    )
  }
  return {
    machine: machineOf(proc),
    config,
    mcpUrl,
    httpUrl: url === VARIABLES.httpUrl.fallback ? originOf(config.httpHost, config.httpPort) : url,
    isLocal: isLoopbackHost(new URL(mcpUrl).hostname),
    node: proc.execPath,
    daemonScript: daemonScript(),
    configured: parseAgentTokens(config.agentToken, config.agentTokens),
  }
}

/** Path of `corecruxd.js` beside this program, from `src/` and from `dist/` alike. */
export function daemonScript(): string {
  return fileURLToPath(new URL('../../bin/corecruxd.js', import.meta.url))
}

/** How a client reaches the daemon with a token. */
export function connectionTo(target: SetupTarget, transport: Transport, token: string): Connection {
  if (transport === 'http') {
    return {
      kind: 'http',
      url: target.mcpUrl,
      headers: { Authorization: `Bearer ${token}` },
    }
  }
  return {
    kind: 'stdio',
    command: target.node,
    args: [target.daemonScript, 'mcp-stdio', ...(target.isLocal ? ['--spawn'] : [])],
    env: { CRUX_AGENT_TOKEN: token, ...carriedSettings(target) },
  }
}

/**
 * Settings that a relay needs to find the daemon, and to start the same one: clients that are
 * started from a desktop do not have the environment of the shell.
 */
function carriedSettings({ machine, config, mcpUrl }: SetupTarget): Record<string, string> {
  const { env } = machine
  const carried: Record<string, string> = {}
  if (mcpUrl !== VARIABLES.mcpUrl.fallback) carried.CRUX_MCP_URL = mcpUrl
  if (isSet(env.CORECRUXD_DATA_DIR) || isSet(env.XDG_DATA_HOME)) {
    carried.CORECRUXD_DATA_DIR = config.dataDir
  }
  if (env.CORECRUXD_CONFIG_PATH !== undefined) {
    carried.CORECRUXD_CONFIG_PATH = env.CORECRUXD_CONFIG_PATH
  } else if (isSet(env.XDG_CONFIG_HOME)) {
    carried.CORECRUXD_CONFIG_PATH = join(env.XDG_CONFIG_HOME, 'crux', 'config.yaml')
  }
  if (isSet(env.CORECRUXD_HTTP_PORT)) carried.CORECRUXD_HTTP_PORT = env.CORECRUXD_HTTP_PORT
  return carried
}

function refuse(problem: string): never {
  throw new CruxError<DaemonErrorCode>('CONFIG_INVALID', problem, { data: { problems: [problem] } })
}
