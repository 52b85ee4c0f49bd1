import { createInterface } from 'node:readline/promises'
import { SURFACE_MODES } from 'crux-mcp'
import { systemClock } from 'crux-types'
import { CLIENTS } from '../../clients/client-definitions.js'
import { type FoundClient, findClients } from '../../clients/find-clients.js'
import { findSetupTarget, type SetupTarget } from '../../setup/setup-target.js'
import {
  findAnonymous,
  planStart,
  type StartOptions,
  startAgents,
} from '../../setup/start-agents.js'
import type { CommandContext, CommandParser } from '../context.js'
import { anonymousText, clientsText, planText, reportJson, reportText } from '../start-text.js'

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
      const target = await findSetupTarget(context.proc, argv.url)
      const found = await findClients(target.machine)
      if (argv.agent === undefined || argv.agent.length === 0)
        return list(context, found, argv.json)
      const clients = argv.agent.includes('all')
        ? found.filter(({ isHere }) => isHere).map(({ definition }) => definition.id)
        : argv.agent
      const { name, transport, surface } = argv
      const options = { clients, name, transport, surface }
      if (argv.dryRun) return dryRun(context, target, options)
      await start(context, target, options, argv.json)
      await lookForAnonymous(context, target, { isJson: argv.json, yes: argv.yes })
    },
  )
}

function list(context: CommandContext, found: readonly FoundClient[], isJson: boolean): void {
  if (!isJson) {
    context.print(clientsText(found))
    return
  }
  context.printJson({
    clients: found.map(({ definition, file, isHere, configured, problem }) => ({
      client: definition.id,
      file,
      found: isHere,
      set_up: configured?.connection !== undefined,
      problem: problem ?? null,
    })),
  })
}

async function dryRun(
  context: CommandContext,
  target: SetupTarget,
  options: StartOptions,
): Promise<void> {
  context.print(planText(await planStart(context.proc, target, options, systemClock.now())))
}

async function start(
  context: CommandContext,
  target: SetupTarget,
  options: StartOptions,
  isJson: boolean,
): Promise<void> {
  const { proc, signal } = context
  const report = await startAgents(proc, target, options, { now: systemClock.now(), signal })
  if (isJson) context.printJson(reportJson(report))
  else context.print(reportText(report))
}

/** Say which other clients have no token, and set them up when asked to. */
async function lookForAnonymous(
  context: CommandContext,
  target: SetupTarget,
  { isJson, yes }: { isJson: boolean; yes: boolean },
): Promise<void> {
  const anonymous = await findAnonymous(target)
  if (anonymous.length === 0) return
  context.proc.stderr.write(anonymousText(anonymous, target.config.mcpAllowAnonymous))
  if (!yes && !(await confirm(context, 'Set them up now? [y/N] '))) return
  const clients = anonymous.map(({ definition }) => definition.id)
  await start(context, target, { clients }, isJson)
}

/** Ask, where somebody can answer. */
async function confirm({ proc, signal }: CommandContext, question: string): Promise<boolean> {
  if (!('isTTY' in proc.stdin) || proc.stdin.isTTY !== true) return false
  const terminal = createInterface({ input: proc.stdin, output: proc.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(question, { signal })).trim())
  } finally {
    terminal.close()
  }
}
