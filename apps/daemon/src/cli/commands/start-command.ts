import { SURFACE_MODES } from 'crux-mcp/protocol'
import { CLIENTS } from '../../clients/client-definitions.js'
import type { CommandContext, CommandParser } from '../context.js'

const IDS = CLIENTS.map(({ id }) => id)

/** Add `start`. */
export function addStart(parser: CommandParser, context: CommandContext): CommandParser {
  return parser.command(
    'start',
    'Connect the agents of this machine: token, configuration, daemon, first fact',
    (command) =>
      command
        .option('agent', {
          type: 'string',
          array: true,
          choices: [...IDS, 'all'],
          describe: 'Clients to set up, or all that are here; absent: say what is here',
        })
        .option('name', { type: 'string', describe: 'Name of the agent; default: the client' })
        .option('transport', {
          choices: ['stdio', 'http'] as const,
          describe: 'How the client connects; default: as it does, else stdio',
        })
        .option('surface', {
          choices: SURFACE_MODES,
          describe: 'How many tools the client sees; default: what leaves it room for others',
        })
        .option('dry-run', {
          type: 'boolean',
          default: false,
          describe: 'Show what would change, and change nothing',
        })
        .option('yes', {
          type: 'boolean',
          default: false,
          describe: 'Set up clients without a token as well, without asking',
        }),
    async (argv) => {
      const { runStart } = await import('../start.js')
      await runStart(context, argv)
    },
  )
}
