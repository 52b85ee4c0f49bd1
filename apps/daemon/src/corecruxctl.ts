import { CruxError } from 'crux-types'
import yargs from 'yargs'
import { saveBackup } from './cli/backup.js'
import { createDaemonClient, type DaemonClient } from './cli/client.js'
import { type IngestSummary, ingest } from './cli/ingest.js'
import { createProgress } from './cli/output.js'
import { readStatus, statusText } from './cli/status.js'
import { loadClientSettings } from './config/load.js'
import type { ProcessLike } from './corecruxd.js'
import { EXIT_USAGE } from './errors.js'
import { readBuildInfo } from './version.js'

const EXIT_INTERRUPTED = 130

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
    const what = error instanceof CruxError ? error.message : stackOf(error)
    proc.stderr.write(`corecruxctl: ${what}\n`)
    return 1
  } finally {
    proc.off('SIGINT', onSignal)
    proc.off('SIGTERM', onSignal)
  }
}

class UsageError extends Error {}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

async function run(proc: ProcessLike, signal: AbortSignal): Promise<number> {
  let exitCode = 0
  const settings = loadClientSettings(proc.env)
  const clientOf = (argv: { url: string; token: string | undefined }): DaemonClient =>
    createDaemonClient({ url: argv.url, token: argv.token, signal })
  const print = (text: string): void => void proc.stdout.write(text)
  const printJson = (value: unknown): void => print(`${JSON.stringify(value)}\n`)

  const parser = yargs(proc.argv.slice(2))
    .scriptName('corecruxctl')
    .usage('$0 <command>\n\nTalks to the Crux daemon, or measures its parts.')
    .version(readBuildInfo().version)
    .option('url', {
      type: 'string',
      default: settings.httpUrl,
      defaultDescription: 'CORECRUXD_HTTP_URL, else http://127.0.0.1:14800',
      describe: 'Where the daemon answers',
    })
    .option('token', {
      type: 'string',
      default: settings.httpToken,
      defaultDescription: 'CORECRUXD_TOKEN',
      describe: 'Bearer token',
    })
    .option('json', { type: 'boolean', default: false, describe: 'Print one line of JSON' })
    .command(
      'ingest <path..>',
      'Put Markdown and text files, or folders of them, into a corpus',
      (command) =>
        command
          .positional('path', { type: 'string', array: true, demandOption: true })
          .option('tenant', { type: 'string', demandOption: true, describe: 'Whose documents' })
          .option('corpus', { type: 'string', default: 'docs', describe: 'Which collection' })
          .option('prune', {
            type: 'boolean',
            default: false,
            describe: 'Take out documents of the corpus whose files are gone',
          })
          .option('dry-run', {
            type: 'boolean',
            default: false,
            describe: 'Read everything, send nothing',
          }),
      async (argv) => {
        const progress = createProgress(proc, argv.json)
        const summary = await ingest(
          {
            paths: argv.path,
            tenant: argv.tenant,
            corpus: argv.corpus,
            prune: argv.prune,
            dryRun: argv.dryRun,
          },
          clientOf(argv),
          progress,
          signal,
        ).finally(() => progress.end())
        for (const { path, reason } of summary.skipped) {
          proc.stderr.write(`skipped ${path}: ${reason}\n`)
        }
        for (const warning of summary.warnings) proc.stderr.write(`warning: ${warning}\n`)
        if (argv.json) printJson(summary)
        else print(ingestText(summary, argv.dryRun))
        if (summary.skipped.length > 0) exitCode = 1
      },
    )
    .command(
      'status',
      'Say how the daemon does',
      (command) => command,
      async (argv) => {
        const status = await readStatus(clientOf(argv))
        if (argv.json) printJson(status)
        else print(statusText(status, argv.url))
        if (!status.ok) exitCode = 1
      },
    )
    .command(
      'backup <file>',
      'Save a consistent copy of everything as a tar archive',
      (command) =>
        command
          .positional('file', { type: 'string', demandOption: true })
          .option('force', { type: 'boolean', default: false, describe: 'Replace the file' }),
      async (argv) => {
        const bytes = await saveBackup(argv.file, { force: argv.force }, clientOf(argv), signal)
        if (argv.json) printJson({ file: argv.file, bytes })
        else print(`saved ${argv.file} (${bytes} bytes); unpacked, it is a data directory\n`)
      },
    )
    .command('ccxi', 'Index files of documents', (command) =>
      command
        .command(
          'rebuild',
          'Build missing index files again',
          (inner) => inner,
          async (argv) => {
            const response = await clientOf(argv).send({
              method: 'POST',
              path: '/v1/admin/companions/rebuild',
            })
            const result: unknown = await response.json()
            if (argv.json) printJson(result)
            else print(`rebuilt: ${JSON.stringify(result)}\n`)
          },
        )
        .demandCommand(1, 'name what to do: rebuild'),
    )
    .completion('completion', 'Print a completion script for bash or zsh')
    .demandCommand(1, 'name a command')
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message)
    })
    .wrap(96)
  await parser.parseAsync()
  return exitCode
}

function ingestText(summary: IngestSummary, dryRun: boolean): string {
  const { files, documents, unchanged, removed, chunks, skipped } = summary
  if (dryRun) return `would send ${documents} of ${files} files in ${chunks} chunks\n`
  return (
    `${files} files: ${documents} documents new or changed (${chunks} chunks), ${unchanged} unchanged, ` +
    `${removed} removed, ${skipped.length} skipped\n`
  )
}
