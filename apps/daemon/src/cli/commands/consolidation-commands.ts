import { z } from 'zod'
import type { CommandContext, CommandParser } from '../context.js'

const undone = z.looseObject({
  status: z.enum(['undone', 'already_undone']),
  canonical_fact_id: z.string(),
  restored_fact_ids: z.array(z.string()),
})

/** Add `undo-consolidation`. */
export function addConsolidationCommands(
  parser: CommandParser,
  context: CommandContext,
): CommandParser {
  return parser.command(
    'undo-consolidation <fact>',
    'Delete the canonical fact of a consolidation and put back what it replaced',
    (command) =>
      command.positional('fact', {
        type: 'string',
        demandOption: true,
        describe: 'Id of the canonical fact',
      }),
    async (argv) => {
      const path = `/v1/memory/consolidations/${encodeURIComponent(argv.fact)}/undo`
      const report = await context.client(argv).json({ method: 'POST', path }, undone)
      if (argv.json) return context.printJson(report)
      context.print(
        report.status === 'undone'
          ? `put back ${report.restored_fact_ids.length} facts in place of ${report.canonical_fact_id}\n`
          : `${report.canonical_fact_id} was undone before\n`,
      )
    },
  )
}
