import { CruxError } from 'crux-types'
import { loadConfig } from '../../config/load.js'
import { configSources } from '../../corecruxd.js'
import type { DaemonErrorCode } from '../../errors.js'
import type { CommandContext, CommandParser } from '../context.js'

/** Add `agents list` and `agents revoke`. */
export function addAgentCommands(parser: CommandParser, context: CommandContext): CommandParser {
  return parser.command(
    'agents',
    'See and revoke the agents that `start` gave a token',
    (command) =>
      command
        .command(
          'list',
          'Print the agents of the data directory',
          (inner) => inner,
          async (argv) => {
            const { readAgentFile } = await import('../../agents/agent-file.js')
            const agents = await readAgentFile(await dataDirOf(context))
            if (argv.json) {
              return context.printJson({
                agents: agents.map(({ name, createdAt }) => ({ name, created_at: createdAt })),
              })
            }
            const lines = agents.map(({ name, createdAt }) => `${name} since ${createdAt}\n`)
            context.print(
              lines.join('') || 'no agents; `corecruxctl start --agent NAME` adds one\n',
            )
          },
        )
        .command(
          'revoke <name>',
          'Take the token of an agent back; what it stored stays',
          (inner) => inner.positional('name', { type: 'string', demandOption: true }),
          async (argv) => {
            const { changeAgentFile } = await import('../../agents/agent-file.js')
            const dataDir = await dataDirOf(context)
            let left = 0
            await changeAgentFile(dataDir, (agents) => {
              const others = agents.filter(({ name }) => name !== argv.name)
              if (others.length === agents.length) throw unknownAgent(argv.name, agents)
              left = others.length
              return others
            })
            if (argv.json) return context.printJson({ revoked: argv.name, left })
            context.print(`revoked ${argv.name}; a running daemon refuses it within a second\n`)
            if (left > 0) return
            context.print(
              'no agent of the list is left: unless CRUX_AGENT_TOKENS names some, whoever reaches MCP on this machine is served\n',
            )
          },
        )
        .demandCommand(1, 'agents: name what to do: list or revoke'),
  )
}

async function dataDirOf({ proc }: CommandContext): Promise<string> {
  return (await loadConfig(configSources(proc))).config.dataDir
}

function unknownAgent(
  name: string,
  agents: readonly { readonly name: string }[],
): CruxError<DaemonErrorCode> {
  const known = agents.map((one) => one.name).join(', ') || 'none'
  return new CruxError('AGENT_UNKNOWN', `no agent is called ${name}; there are: ${known}`, {
    data: { name },
  })
}
