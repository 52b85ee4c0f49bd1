import type { Argv } from 'yargs'
import type { ProcessLike } from '../corecruxd.js'
import { createDaemonClient, type DaemonClient } from './client.js'

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
    fail: onFail,
  }
}
