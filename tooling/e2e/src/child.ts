import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** How a process ended. */
export interface Exit {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The outcome of a command that ran to its end. */
export type Finished = Exit & { readonly stdout: string; readonly stderr: string }

/** A child process whose output is kept. */
export interface Child {
  readonly process: ChildProcess
  readonly pid: number
  /** Resolves once the process has ended and its output is read to the end; never rejects. */
  readonly exited: Promise<Exit>
  stdout(): string
  stderr(): string
  /** Send a signal, if it still runs, and wait for its end. */
  kill(signal?: NodeJS.Signals): Promise<Exit>
}

/** What a child is started with; `env` is its whole environment besides `PATH`. */
export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Text for its standard input, which is closed after it; closed at once when absent. */
  readonly input?: string
  /** Leave its standard input open, for programs that end with it. */
  readonly keepInputOpen?: boolean
}

/** Run a script of ours with the Node.js that runs the tests. */
export function startNode(
  script: string,
  args: readonly string[] = [],
  options: ChildOptions = {},
): Promise<Child> {
  return startProgram(process.execPath, [script, ...args], options)
}

/** Run any program. */
export async function startProgram(
  command: string,
  args: readonly string[],
  options: ChildOptions = {},
): Promise<Child> {
  const child = spawn(command, args, {
    // Nothing of the developer's own configuration may leak in.
    env: { PATH: process.env.PATH, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: 'pipe',
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  await once(child, 'spawn')
  // A child that refuses to start closes its input before we do.
  child.stdin.on('error', () => {})
  if (options.keepInputOpen !== true) child.stdin.end(options.input ?? '')
  return {
    process: child,
    pid: child.pid ?? 0,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal = 'SIGKILL') => {
      child.kill(signal)
      return exited
    },
  }
}

/** Run a script to its end. */
export function runNode(
  script: string,
  args: readonly string[] = [],
  options: ChildOptions = {},
): Promise<Finished> {
  return runProgram(process.execPath, [script, ...args], options)
}

/** Run any program to its end. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: ChildOptions = {},
): Promise<Finished> {
  const child = await startProgram(command, args, options)
  const exit = await child.exited
  return { ...exit, stdout: child.stdout(), stderr: child.stderr() }
}
