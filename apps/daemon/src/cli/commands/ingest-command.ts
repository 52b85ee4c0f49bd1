import type { CommandContext, CommandParser } from '../context.js'
import type { IngestSummary } from '../ingest.js'

/** Add `ingest`. */
export function addIngest(parser: CommandParser, context: CommandContext): CommandParser {
  return parser.command(
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
      const { ingest } = await import('../ingest.js')
      const { proc, signal } = context
      const progress = await context.progress(argv)
      const summary = await ingest(
        {
          paths: argv.path,
          tenant: argv.tenant,
          corpus: argv.corpus,
          prune: argv.prune,
          dryRun: argv.dryRun,
        },
        context.client(argv),
        progress,
        signal,
      ).finally(() => progress.end())
      for (const { path, reason } of summary.skipped) {
        proc.stderr.write(`skipped ${path}: ${reason}\n`)
      }
      for (const warning of summary.warnings) proc.stderr.write(`warning: ${warning}\n`)
      if (argv.json) context.printJson(summary)
      else context.print(summaryText(summary, argv.dryRun))
      if (summary.skipped.length > 0) context.fail()
    },
  )
}

function summaryText(summary: IngestSummary, dryRun: boolean): string {
  const { files, documents, unchanged, removed, chunks, skipped } = summary
  if (dryRun) return `would send ${documents} of ${files} files in ${chunks} chunks\n`
  return (
    `${files} files: ${documents} documents new or changed (${chunks} chunks), ${unchanged} unchanged, ` +
    `${removed} removed, ${skipped.length} skipped\n`
  )
}
