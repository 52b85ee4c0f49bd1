import { z } from 'zod'
import { saveBackup } from '../backup.js'
import type { CommandContext, CommandParser } from '../context.js'
import { readStatus, statusText } from '../status.js'

const rebuiltSchema = z.object({ rebuilt: z.int(), segments: z.int() })

/** Add `status`, `backup` and `ccxi rebuild`. */
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
          (inner) => inner,
          async (argv) => {
            const result = await context
              .client(argv)
              .json({ method: 'POST', path: '/v1/admin/companions/rebuild' }, rebuiltSchema)
            if (argv.json) context.printJson(result)
            else context.print(`${result.rebuilt} of ${result.segments} segments got a new index\n`)
          },
        )
        .demandCommand(1, 'ccxi: name what to do: rebuild'),
    )
}
