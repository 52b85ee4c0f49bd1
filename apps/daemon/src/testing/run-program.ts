import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
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
    /** Text for its standard input; empty unless given. */
    input?: string
    /** When it resolves, the program gets SIGINT. */
    interrupt?: Promise<void>
  } = {},
): Promise<ProgramRun> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const textOfStdout = collect(stdout)
  const textOfStderr = collect(stderr)
  const code = await program({
    argv: [process.execPath, 'program', ...args],
    execPath: process.execPath,
    env: options.env ?? {},
    stdin: new PassThrough().end(options.input ?? ''),
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
  return { code, stdout: await textOfStdout(), stderr: await textOfStderr() }
}

/** Read a stream as it is written, so that a program that waits for its output goes on. */
function collect(stream: PassThrough): () => Promise<string> {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return async () => {
    stream.end()
    await finished(stream)
    return Buffer.concat(chunks).toString()
  }
}
