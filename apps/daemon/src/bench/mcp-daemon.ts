import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'

/** The built daemon in a process of its own, which the bench can ask for its memory by message. */
export interface MeasuredDaemon {
  /** `http://HOST:PORT/mcp` */
  readonly url: string
  readonly process: ChildProcess
}

/**
 * Start the daemon on a fresh data directory.
 *
 * @param settings - Environment beside the defaults, which are what the bench measures.
 * @param children - Gets the process, which the caller ends.
 */
export async function startDaemon(
  dir: string,
  settings: Readonly<Record<string, string>>,
  children: ChildProcess[],
): Promise<MeasuredDaemon> {
  const program = fileURLToPath(new URL('../../bin/corecruxd.js', import.meta.url))
  const probe = new URL('./mcp-memory.js', import.meta.url).href
  // Nothing of the operator's own settings.
  const child = spawn(process.execPath, ['--expose-gc', '--import', probe, program], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      CORECRUXD_DATA_DIR: join(dir, 'data'),
      CORECRUXD_HTTP_PORT: '0',
      CORECRUXD_MCP_PORT: '0',
      XDG_CONFIG_HOME: dir,
      ...settings,
    },
  })
  children.push(child)
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000)
  })
  if (child.stdout !== null) {
    for await (const line of createInterface({ input: child.stdout })) {
      const url = / mcp=(\S+)/.exec(line)?.[1]
      if (url !== undefined) return { url, process: child }
    }
  }
  throw new Error(`the daemon did not start: ${said.trim() || 'build it first (npm run build)'}`)
}

/** POST one body. @returns The answer's body. @throws {Error} When it is none of success. */
export async function post(url: string, body: string): Promise<string> {
  const response = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const text = await response.body.text()
  if (response.statusCode !== 200 || text.includes('"error":{"code"')) {
    throw new Error(`${url} answered ${response.statusCode} ${text.slice(0, 300)}`)
  }
  return text
}

/** End a process, at the latest after five seconds. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await gone
  clearTimeout(timer)
}

/** Body of a call. */
export function toolCall(name: string, args: object): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  })
}
