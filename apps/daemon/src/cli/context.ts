import type { Argv } from 'yargs'
import type { ProcessLike } from '../corecruxd.js'
import { createDaemonClient, type DaemonClient } from './client.js'
import type { Progress } from './output.js'

/** Options that every command takes. */
export interface CommonOptions {
  readonly url: string
  readonly token: string | undefined
  readonly json: boolean
}

/** The parser that commands are added to. */
export type CommandParser = Argv<CommonOptions>

/** What commands work with. */
export interface CommandContext {
  readonly proc: ProcessLike
  /** Ends at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  readonly client: (options: CommonOptions) => DaemonClient
  readonly print: (text: string) => void
  readonly printJson: (value: unknown) => void
  /** A progress bar, where somebody looks; end it. */
  readonly progress: (options: Pick<CommonOptions, 'json'>) => Promise<Progress>
  /** Let the program end with status 1 although the command came to its end. */
  fail(): void
}

/** @param onFail - Hears {@link CommandContext.fail}. */
export function createContext(
  proc: ProcessLike,
  signal: AbortSignal,
  onFail: () => void,
): CommandContext {
  const print = (text: string): void => void proc.stdout.write(text)
  return {
    proc,
    signal,
    client: ({ url, token }) => createDaemonClient({ url, token, signal }),
    print,
    printJson: (value) => print(`${JSON.stringify(value)}\n`),
    // Loaded here, so that commands without a bar start without it.
    progress: async ({ json }) => (await import('./output.js')).createProgress(proc, json),
    fail: onFail,
  }
}
