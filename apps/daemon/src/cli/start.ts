import { createInterface } from 'node:readline/promises'
import { systemClock } from 'crux-types'
import { type FoundClient, findClients } from '../clients/find-clients.js'
import { findSetupTarget, type SetupTarget } from '../setup/setup-target.js'
import { findAnonymous, planStart, type StartOptions, startAgents } from '../setup/start-agents.js'
import type { CommandContext, CommonOptions } from './context.js'
import { anonymousText, clientsText, planText, reportJson, reportText } from './start-text.js'

/** What `start` was asked to do. */
export interface StartArguments extends Pick<CommonOptions, 'url' | 'json'> {
  /** Clients, or `all`; absent or empty: say what is here. */
  readonly agent?: readonly string[] | undefined
  readonly name?: string | undefined
  readonly transport?: StartOptions['transport']
  readonly surface?: StartOptions['surface']
  readonly dryRun: boolean
  readonly yes: boolean
}

/** Connect agents of this machine, or say which are here. */
export async function runStart(context: CommandContext, args: StartArguments): Promise<void> {
  const target = await findSetupTarget(context.proc, args.url)
  const found = await findClients(target.machine)
  if (args.agent === undefined || args.agent.length === 0) return list(context, found, args.json)
  const clients = args.agent.includes('all')
    ? found.filter(({ isHere }) => isHere).map(({ definition }) => definition.id)
    : args.agent
  const { name, transport, surface } = args
  const options = { clients, name, transport, surface }
  if (args.dryRun) return dryRun(context, target, options)
  await start(context, target, options, args.json)
  await lookForAnonymous(context, target, { isJson: args.json, yes: args.yes })
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
