import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { CruxError, systemClock } from 'crux-types'
import { homeOf } from './clients/machine.js'
import { mcpUrlOf } from './config/addresses.js'
import { type ConfigSources, loadConfig } from './config/load.js'
import { VARIABLES } from './config/variables.js'
import { EXIT_REFUSED, EXIT_USAGE } from './errors.js'
import type { SpawnPlan } from './stdio/spawn-daemon.js'
import { readBuildInfo } from './version.js'

/** The parts of a node process that the programs use. */
export interface ProcessLike {
  readonly argv: readonly string[]
  readonly execPath: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable & { readonly isTTY?: boolean }
  readonly pid: number
  cwd(): string
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
  exit(code: number): never
  kill(pid: number, signal: 'SIGKILL'): unknown
}

const HELP = `corecruxd - memory and retrieval for agents, on this machine

Usage:
  corecruxd                      run the daemon until SIGTERM or SIGINT
  corecruxd mcp-stdio [--spawn]  speak MCP on standard input and output, for clients that start a
                                 command; --spawn starts a daemon when none runs
  corecruxd --version            print the version
  corecruxd --help               print this

Settings are environment variables and a YAML file; see docs/configuration.md. The ones used most:
  CORECRUXD_DATA_DIR    where everything is kept (default ~/.local/share/crux)
  CORECRUXD_HTTP_PORT   HTTP API (default 14800)
  CORECRUXD_MCP_PORT    MCP (default 14801)
  CRUX_AGENT_TOKENS     who may call MCP, as name:token,name:token
`

/**
 * The program `corecruxd`.
 *
 * @returns Its exit status: 0 after a clean stop, 64 for a command line that makes no sense, 78 for a
 *   refused start.
 */
export async function corecruxd(proc: ProcessLike): Promise<number> {
  const [first, ...rest] = proc.argv.slice(2)
  switch (first) {
    case undefined:
      return runDaemon(proc)
    case '--version':
    case '-V':
    case 'version': {
      const { version, commit } = readBuildInfo()
      proc.stdout.write(`corecruxd ${version} (${commit})\n`)
      return 0
    }
    case '--help':
    case '-h':
    case 'help':
      proc.stdout.write(HELP)
      return 0
    case 'mcp-stdio':
      return runRelay(proc, rest)
    default:
      proc.stderr.write(`corecruxd: unknown argument ${JSON.stringify(first)}\n\n${HELP}`)
      return EXIT_USAGE
  }
}

async function runDaemon(proc: ProcessLike): Promise<number> {
  let signals = 0
  let onSignal = (): void => undefined
  const signalled = new Promise<void>((resolve) => {
    onSignal = () => {
      signals += 1
      if (signals > 1) proc.exit(130)
      resolve()
    }
  })
  proc.on('SIGTERM', onSignal)
  proc.on('SIGINT', onSignal)
  // Whoever read the log may be gone; that is no reason to stop.
  proc.stdout.on('error', () => undefined)
  proc.stderr.on('error', () => undefined)
  try {
    // What runs is loaded when it is known what runs: a relay needs nothing of a daemon.
    const [{ createLog }, { startDaemon }] = await Promise.all([
      import('./log.js'),
      import('./daemon.js'),
    ])
    const { config, warnings, notices } = await loadConfig(configSources(proc))
    const log = createLog(config, proc.stderr)
    const daemon = await startDaemon(config, {
      log,
      warnings,
      notices,
      clock: systemClock,
      pid: proc.pid,
      crash: () => proc.kill(proc.pid, 'SIGKILL'),
    })
    proc.stdout.write(`${daemon.readyLine}\n`)
    await signalled
    log.info('stopping: requests in flight may finish')
    await daemon.stop()
    return 0
  } catch (error) {
    return refuse(proc, error)
  } finally {
    proc.off('SIGTERM', onSignal)
    proc.off('SIGINT', onSignal)
  }
}

async function runRelay(proc: ProcessLike, args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== '--spawn')
  if (unknown !== undefined) {
    proc.stderr.write(`corecruxd mcp-stdio: unknown argument ${JSON.stringify(unknown)}\n\n${HELP}`)
    return EXIT_USAGE
  }
  try {
    const { config } = await loadConfig(configSources(proc))
    const { runStdioRelay } = await import('./stdio/relay.js')
    return await runStdioRelay({
      url: mcpUrlOf(config, proc.env),
      token: config.agentToken,
      surface: config.relaySurface,
      input: proc.stdin,
      output: proc.stdout,
      errorOutput: proc.stderr,
      version: readBuildInfo().version,
      ...(args.includes('--spawn') ? { spawn: await spawnPlan(proc, config.dataDir) } : {}),
    })
  } catch (error) {
    return refuse(proc, error)
  }
}

async function spawnPlan(proc: ProcessLike, dataDir: string): Promise<SpawnPlan> {
  const { environmentForDaemon } = await import('./agents/spawn-environment.js')
  return {
    command: proc.execPath,
    args: proc.argv.slice(1, 2),
    env: await environmentForDaemon(proc.env, dataDir),
    logFile: join(dataDir, 'daemon.log'),
  }
}

/** Where the settings of a process come from. */
export function configSources(proc: Pick<ProcessLike, 'env' | 'cwd'>): ConfigSources {
  return {
    env: proc.env,
    homeDir: homeOf(proc.env),
    workDir: proc.cwd(),
    readFile: async (path) => {
      try {
        return await readFile(path, 'utf8')
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
        throw error
      }
    },
  }
}

function refuse(proc: ProcessLike, error: unknown): number {
  if (error instanceof CruxError) {
    proc.stderr.write(`corecruxd: ${error.message}\n`)
    return EXIT_REFUSED
  }
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  proc.stderr.write(
    `corecruxd: unexpected failure, please report it with ${VARIABLES.logLevel.name}=debug: ${what}\n`,
  )
  return 1
}
