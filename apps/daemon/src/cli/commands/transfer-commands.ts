import type { CommandContext, CommandParser } from '../context.js'
import type { ImportSummary } from '../import/import-files.js'

// Literal, so that the parser knows the names.
const FORMATS = ['auto', 'crux', 'mcp-memory', 'basic-memory', 'mem0', 'csv'] as const

/** Add `export` and `import`. */
export function addTransfer(parser: CommandParser, context: CommandContext): CommandParser {
  const { proc, signal } = context
  return parser
    .command(
      'export',
      'Write facts as lines of JSON: what the token sees, or with --all everything as it is',
      (command) =>
        command
          .option('all', {
            type: 'boolean',
            default: false,
            describe: 'Every version, private and deleted ones too; needs admin:read',
          })
          .option('out', { type: 'string', describe: 'File to write; standard output without it' })
          .option('force', { type: 'boolean', default: false, describe: 'Replace the file' }),
      async (argv) => {
        const { exportFacts } = await import('../export-facts.js')
        const { all, out: file, force } = argv
        const options = { all, file, force }
        const facts = await exportFacts(options, context.client(argv), proc.stdout, signal)
        if (file === undefined) return
        if (argv.json) context.printJson({ file, facts })
        else context.print(`saved ${facts} facts in ${file}\n`)
      },
    )
    .command(
      'import <path>',
      'Put facts in from an export, another memory tool or a table',
      (command) =>
        command
          .positional('path', {
            type: 'string',
            demandOption: true,
            describe: 'A file, or a folder of Markdown notes',
          })
          .option('format', {
            choices: FORMATS,
            default: 'auto' as const,
            describe: `What is in it: ${FORMATS.slice(1).join(', ')}`,
          })
          .option('all', {
            type: 'boolean',
            default: false,
            describe: 'Put an export with --all back as it was; needs admin:write',
          })
          .option('dry-run', {
            type: 'boolean',
            default: false,
            describe: 'Check and count, store nothing',
          }),
      async (argv) => {
        const { importFiles } = await import('../import/import-files.js')
        const { path, format, all, dryRun } = argv
        const progress = await context.progress(argv)
        const summary = await importFiles(
          { path, format, all, dryRun },
          context.client(argv),
          progress,
          signal,
        ).finally(() => progress.end())
        for (const { where, note } of summary.notes) proc.stderr.write(`note ${where}: ${note}\n`)
        for (const { where, reason } of summary.problems) {
          proc.stderr.write(`skipped ${where}: ${reason}\n`)
        }
        if (summary.problems_left_out > 0) {
          proc.stderr.write(`and ${summary.problems_left_out} more\n`)
        }
        if (argv.json) context.printJson(summary)
        else context.print(summaryText(summary))
        if (summary.skipped > 0) context.fail()
      },
    )
}

function summaryText(summary: ImportSummary): string {
  const { format, files, added, new_versions, unchanged, skipped, dry_run } = summary
  return (
    `${format}, ${files} ${files === 1 ? 'file' : 'files'}: ${added} facts ${dry_run ? 'would be added' : 'added'} ` +
    `(${new_versions} of them new versions), ${unchanged} there already, ${skipped} skipped\n`
  )
}
