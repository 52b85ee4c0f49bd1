import { z } from 'zod'
import { saveBackup } from '../backup.js'
import type { CommandContext, CommandParser } from '../context.js'
import { readStatus, statusText } from '../status.js'

const rebuiltSchema = z.object({ rebuilt: z.int(), segments: z.int() })
const embeddedSchema = z.object({ embedded: z.int(), segments: z.int() })
const mergedSchema = z.object({ merged: z.int(), segments: z.int() })
const verifiedSchema = z.object({
  segments: z.int(),
  checked: z.int(),
  problems: z.array(
    z.object({
      segment: z.string(),
      file: z.string(),
      offset: z.int().optional(),
      reason: z.string(),
    }),
  ),
})

/** Add `status`, `backup` and the commands of `ccxi`. */
export function addDaemonCommands(parser: CommandParser, context: CommandContext): CommandParser {
  return parser
    .command(
      'status',
      'Say how the daemon does',
      (command) => command,
      async (argv) => {
        const status = await readStatus(context.client(argv))
        if (argv.json) context.printJson(status)
        else context.print(statusText(status, argv.url))
        if (!status.ok) context.fail()
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
        const { file, force } = argv
        const bytes = await saveBackup(file, { force }, context.client(argv), context.signal)
        if (argv.json) context.printJson({ file, bytes })
        else context.print(`saved ${file} (${bytes} bytes); unpacked, it is a data directory\n`)
      },
    )
    .command('ccxi', 'Index files of documents', (command) =>
      command
        .command(
          'rebuild',
          'Build missing index files again',
          (inner) =>
            inner.option('all', {
              type: 'boolean',
              default: false,
              describe: 'Build usable ones again too, as by a newer analyser',
            }),
          async (argv) => {
            const path = `/v1/admin/companions/rebuild${argv.all ? '?all=true' : ''}`
            const result = await context.client(argv).json({ method: 'POST', path }, rebuiltSchema)
            if (argv.json) context.printJson(result)
            else context.print(`${result.rebuilt} of ${result.segments} segments got a new index\n`)
          },
        )
        .command(
          'verify',
          'Check index files and what else stands beside segments',
          (inner) => inner,
          async (argv) => {
            const request = { method: 'POST', path: '/v1/admin/companions/verify' } as const
            const result = await context.client(argv).json(request, verifiedSchema)
            if (argv.json) context.printJson(result)
            else context.print(verifiedText(result))
            if (result.problems.length > 0) context.fail()
          },
        )
        .command(
          'embed',
          'Embed stored text that has no vectors, with the configured embedder',
          (inner) =>
            inner.option('all', {
              type: 'boolean',
              default: false,
              describe: 'Also text whose vectors are of another embedder',
            }),
          async (argv) => {
            const path = `/v1/admin/companions/embed${argv.all ? '?all=true' : ''}`
            const result = await context.client(argv).json({ method: 'POST', path }, embeddedSchema)
            if (argv.json) return context.printJson(result)
            context.print(`${result.embedded} chunks of ${result.segments} segments got vectors\n`)
          },
        )
        .command(
          'merge',
          'Merge segments and drop what is no longer current',
          (inner) => inner,
          async (argv) => {
            const request = { method: 'POST', path: '/v1/admin/segments/merge' } as const
            const result = await context.client(argv).json(request, mergedSchema)
            if (argv.json) return context.printJson(result)
            context.print(`${result.merged} segments were merged; there are ${result.segments}\n`)
          },
        )
        .demandCommand(1, 'ccxi: name what to do: rebuild, verify, embed or merge'),
    )
}

/** One line a problem, then a summary. */
function verifiedText({ segments, checked, problems }: z.output<typeof verifiedSchema>): string {
  const lines = problems.map(({ file, offset, reason }) => {
    const where = offset === undefined ? '' : `, byte ${offset}`
    return `${file}${where}: ${reason}\n`
  })
  const found = problems.length === 0 ? 'nothing wrong' : `${problems.length} problems`
  return `${lines.join('')}${checked} files of ${segments} segments checked: ${found}\n`
}
