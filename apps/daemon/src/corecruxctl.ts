import { CruxError } from 'crux-types'
import yargs from 'yargs'
import { addAgentCommands } from './cli/commands/agent-commands.js'
import { addBenches } from './cli/commands/bench-commands.js'
import { addConsolidationCommands } from './cli/commands/consolidation-commands.js'
import { addDaemonCommands } from './cli/commands/daemon-commands.js'
import { addDoctor } from './cli/commands/doctor-command.js'
import { addForgetCommands } from './cli/commands/forget-commands.js'
import { addIngest } from './cli/commands/ingest-command.js'
import { addLegalHoldCommands } from './cli/commands/legal-hold-commands.js'
import { addMemoryCommands } from './cli/commands/memory-commands.js'
import { addStart } from './cli/commands/start-command.js'
import { addTransfer } from './cli/commands/transfer-commands.js'
import { createContext } from './cli/context.js'
import { loadClientSettings } from './config/load.js'
import type { ProcessLike } from './corecruxd.js'
import { EXIT_USAGE } from './errors.js'
import { readBuildInfo } from './version.js'

const EXIT_INTERRUPTED = 130

/** A command line that makes no sense. */
class UsageError extends Error {}

/**
 * The program `corecruxctl`.
 *
 * @returns Its exit status: 0, 1 after a failure, 64 for a command line that makes no sense, 130 when
 *   interrupted.
 */
export async function corecruxctl(proc: ProcessLike): Promise<number> {
  const abort = new AbortController()
  const onSignal = (): void => {
    if (abort.signal.aborted) proc.exit(EXIT_INTERRUPTED)
    abort.abort()
  }
  proc.on('SIGINT', onSignal)
  proc.on('SIGTERM', onSignal)
  try {
    return await run(proc, abort.signal)
  } catch (error) {
    if (abort.signal.aborted) {
      proc.stderr.write('corecruxctl: stopped; what was committed stays, run it again to go on\n')
      return EXIT_INTERRUPTED
    }
    if (error instanceof UsageError) {
      proc.stderr.write(`corecruxctl: ${error.message}\nsee corecruxctl --help\n`)
      return EXIT_USAGE
    }
    const isTold = error instanceof CruxError || isAboutFiles(error)
    proc.stderr.write(`corecruxctl: ${isTold ? error.message : stackOf(error)}\n`)
    return 1
  } finally {
    proc.off('SIGINT', onSignal)
    proc.off('SIGTERM', onSignal)
  }
}

async function run(proc: ProcessLike, signal: AbortSignal): Promise<number> {
  let exitCode = 0
  const settings = loadClientSettings(proc.env)
  const context = createContext(proc, signal, () => {
    exitCode = 1
  })
  const parser = yargs(proc.argv.slice(2))
    .scriptName('corecruxctl')
    .usage('$0 <command>\n\nTalks to the Crux daemon, or measures its parts.')
    .version(readBuildInfo().version)
    .option('url', {
      type: 'string',
      default: settings.httpUrl,
      defaultDescription:
        'CORECRUXD_HTTP_URL, else loopback with CORECRUXD_HTTP_PORT, else port 14800',
      describe: 'Where the daemon answers',
    })
    .option('token', {
      type: 'string',
      default: settings.httpToken,
      defaultDescription: 'CORECRUXD_TOKEN',
      describe: 'Bearer token',
    })
    .option('json', { type: 'boolean', default: false, describe: 'Print one line of JSON' })
  const commands = [
    addStart,
    addIngest,
    addMemoryCommands,
    addTransfer,
    addForgetCommands,
    addConsolidationCommands,
    addLegalHoldCommands,
    addDaemonCommands,
    addAgentCommands,
    addDoctor,
    addBenches,
  ]
  await commands
    .reduce((withCommands, add) => add(withCommands, context), parser)
    .completion('completion', 'Print a completion script for bash or zsh')
    .demandCommand(1, 'name a command')
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message)
    })
    .wrap(96)
    .parseAsync()
  return exitCode
}

/** A failure of the file system: its message says all there is, with the path. */
function isAboutFiles(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && 'path' in error
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
