import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, type ChildOptions, type Finished, runNode, startNode } from './child.js'
import { CTL_BINARY, DAEMON_BINARY } from './paths.js'

/** Environment variables for a child. */
export type Environment = Readonly<Record<string, string>>

/** A running daemon that has said it is ready. */
export interface Daemon extends Child {
  /** Such as `http://127.0.0.1:40123`. */
  readonly httpUrl: string
  /** Such as `http://127.0.0.1:40124/mcp`. */
  readonly mcpUrl: string
  readonly dataDir: string
  /** Milliseconds from start to the ready line. */
  readonly readyMs: number
}

/** A temporary folder with everything that was started in it. */
export interface Sandbox {
  readonly dir: string
  /** Default data directory of this sandbox's daemons. */
  readonly dataDir: string
  /** Environment of every child: free ports, the data directory, no configuration file. */
  environment(extra?: Environment): Environment
  /** Start the daemon without waiting for it. */
  spawnDaemon(env?: Environment): Promise<Child>
  /** Start the daemon and wait for its ready line. @throws {Error} with its log when it ends first. */
  startDaemon(env?: Environment): Promise<Daemon>
  /** Run the daemon's binary to its end. */
  runDaemon(args: readonly string[], options?: ChildOptions): Promise<Finished>
  /** Run the command line to its end. */
  ctl(args: readonly string[], options?: ChildOptions): Promise<Finished>
  /** End whatever still runs and remove the folder; safe to call twice. */
  close(): Promise<void>
}

const READY = /^corecruxd ready http=(\S+) mcp=(\S+) data=(.+) pid=(\d+)$/m

// Longest a start may take before a test gives up on it; no statement about speed.
const START_LIMIT_MS = 120_000

/** Make a sandbox below the system's folder for temporary files, or below `parent`. */
export async function createSandbox(parent = tmpdir()): Promise<Sandbox> {
  const dir = await mkdtemp(join(parent, 'crux-e2e-'))
  const dataDir = join(dir, 'data')
  await mkdir(join(dir, 'home'))
  const started: Child[] = []
  const environment = (extra: Environment = {}): Environment => ({
    HOME: join(dir, 'home'),
    CORECRUXD_CONFIG_PATH: '',
    CORECRUXD_DATA_DIR: dataDir,
    CORECRUXD_HTTP_PORT: '0',
    CORECRUXD_MCP_PORT: '0',
    ...extra,
  })
  const run = (binary: string, args: readonly string[], options: ChildOptions) =>
    runNode(binary, args, { cwd: dir, ...options, env: environment(options.env) })
  const spawnDaemon = async (env?: Environment): Promise<Child> => {
    const child = await startNode(DAEMON_BINARY, [], { cwd: dir, env: environment(env) })
    started.push(child)
    return child
  }
  return {
    dir,
    dataDir,
    environment,
    spawnDaemon,
    startDaemon: async (env) => waitUntilReady(await spawnDaemon(env)),
    runDaemon: (args, options = {}) => run(DAEMON_BINARY, args, options),
    ctl: (args, options = {}) => run(CTL_BINARY, args, options),
    close: async () => {
      await Promise.all(started.map((child) => child.kill('SIGKILL')))
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Wait for the ready line of a daemon. @throws {Error} with its log when it ends first. */
export async function waitUntilReady(child: Child): Promise<Daemon> {
  const startedAt = performance.now()
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      child.process.stdout?.off('data', look)
    }
    const look = (): void => {
      const found = READY.exec(child.stdout())
      if (found === null) return
      stop()
      resolve(found)
    }
    const timer = setTimeout(() => {
      stop()
      reject(new Error(`the daemon was not ready in ${START_LIMIT_MS} ms:\n${child.stderr()}`))
    }, START_LIMIT_MS)
    child.process.stdout?.on('data', look)
    look()
    void child.exited.then(({ code, signal }) => {
      stop()
      reject(new Error(`the daemon ended with ${code ?? signal}:\n${child.stderr()}`))
    })
  })
  const [, httpUrl = '', mcpUrl = '', dataDir = ''] = match
  return { ...child, httpUrl, mcpUrl, dataDir, readyMs: performance.now() - startedAt }
}
