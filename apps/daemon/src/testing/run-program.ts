import { PassThrough } from 'node:stream'
import type { ProcessLike } from '../corecruxd.js'

/** What a program did. */
export interface ProgramRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Run one of the programs inside the test's own process. */
export async function runProgram(
  program: (proc: ProcessLike) => Promise<number>,
  args: readonly string[],
  options: {
    env?: Readonly<Record<string, string>>
    /** When it resolves, the program gets SIGINT. */
    interrupt?: Promise<void>
  } = {},
): Promise<ProgramRun> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const code = await program({
    argv: [process.execPath, 'program', ...args],
    execPath: process.execPath,
    env: options.env ?? {},
    stdin: new PassThrough().end(),
    stdout,
    stderr,
    pid: process.pid,
    cwd: () => process.cwd(),
    on: (signal, listener) => {
      if (signal === 'SIGINT') void options.interrupt?.then(listener)
    },
    off: () => undefined,
    exit: (status) => {
      throw new Error(`the program called exit(${status})`)
    },
    kill: () => undefined,
  })
  const textOf = (stream: PassThrough): string => String(stream.read() ?? '')
  return { code, stdout: textOf(stdout), stderr: textOf(stderr) }
}
