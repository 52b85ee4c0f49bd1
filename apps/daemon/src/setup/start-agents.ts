import { join } from 'node:path'
import type { SurfaceMode } from 'crux-mcp'
import { CruxError } from 'crux-types'
import { environmentForDaemon } from '../agents/spawn-environment.js'
import { type Transport, tokenOf } from '../clients/connection.js'
import { type FoundClient, findClients } from '../clients/find-clients.js'
import type { ProcessLike } from '../corecruxd.js'
import type { DaemonErrorCode } from '../errors.js'
import { spawnDaemon } from '../stdio/spawn-daemon.js'
import { type DefaultsEdit, writeDefaults } from './daemon-defaults.js'
import { probeMcp } from './probe.js'
import { type AgentPlan, type AgentSetup, applyPlan, planAgent } from './set-up-agent.js'
import type { SetupTarget } from './setup-target.js'
import { type FirstFact, storeFirstFact, waitForToken } from './verify-connection.js'

// A command may wait for longer than a client that starts a relay does.
const START_WAIT_MS = 60_000

/** What {@link startAgents} is asked to do. */
export interface StartOptions {
  /** Ids of clients. */
  readonly clients: readonly string[]
  /** Name of the agent, for one client only. */
  readonly name?: string | undefined
  readonly transport?: Transport | undefined
  /** How many tools they are to see. */
  readonly surface?: SurfaceMode | undefined
}

/** What setting up came to. */
export interface StartReport {
  readonly target: SetupTarget
  readonly agents: readonly (AgentSetup & { readonly fact: FirstFact })[]
  readonly daemon: 'was running' | 'started'
  readonly defaults: DefaultsEdit | undefined
}

/** What setting up would do. */
export interface StartPlan {
  readonly agents: readonly AgentPlan[]
  readonly defaults: DefaultsEdit | undefined
}

/**
 * Set clients up: tokens, their configurations, sensible settings, a running daemon, and a first
 * fact over each connection.
 *
 * @param now - Epoch milliseconds.
 * @throws {CruxError} Of {@link planAgent} and {@link applyPlan}, `DAEMON_UNREACHABLE`, `SETUP_FAILED`.
 */
export async function startAgents(
  proc: ProcessLike,
  target: SetupTarget,
  options: StartOptions,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<StartReport> {
  // All are worked out before anything is changed, so that a refusal leaves nothing half done.
  const plans = await planAll(target, options)
  const defaults = target.isLocal ? await writeDefaults(proc, now, false) : undefined
  const setups: AgentSetup[] = []
  for (const plan of plans) setups.push(await applyPlan(target, plan, now))
  const daemon = await ensureDaemon(proc, target, signal)
  const agents: StartReport['agents'][number][] = []
  for (const setup of setups) {
    await requireAccepted(target, setup, signal)
    agents.push({ ...setup, fact: await storeFirstFact(setup.connection, setup.agent, now) })
  }
  return { target, agents, daemon, defaults }
}

/** Work out what {@link startAgents} would do; nothing is changed. */
export async function planStart(
  proc: ProcessLike,
  target: SetupTarget,
  options: StartOptions,
  now: number,
): Promise<StartPlan> {
  return {
    agents: await planAll(target, options),
    defaults: target.isLocal ? await writeDefaults(proc, now, true) : undefined,
  }
}

/** Clients that know the daemon and present no token to it. */
export async function findAnonymous(target: SetupTarget): Promise<readonly FoundClient[]> {
  return (await findClients(target.machine)).filter(({ configured }) => {
    const connection = configured?.connection
    return connection !== undefined && tokenOf(connection) === undefined
  })
}

async function planAll(target: SetupTarget, options: StartOptions): Promise<AgentPlan[]> {
  const { clients: ids, name, transport, surface } = options
  if (name !== undefined && ids.length > 1) {
    throw new CruxError<DaemonErrorCode>(
      'CONFIG_INVALID',
      '--name names one agent; set the clients up one by one',
    )
  }
  const found = await findClients(target.machine)
  const chosen = found.filter(({ definition }) => ids.includes(definition.id))
  return Promise.all(
    chosen.map((client) => planAgent(target, client, { agent: name, transport, surface })),
  )
}

async function ensureDaemon(
  proc: ProcessLike,
  target: SetupTarget,
  signal: AbortSignal,
): Promise<StartReport['daemon']> {
  const { mcpUrl, config, isLocal } = target
  const probe = await probeMcp(mcpUrl)
  if (probe.kind === 'other') throw somebodyElse(mcpUrl, probe.what)
  if (probe.kind === 'crux') return 'was running'
  if (!isLocal && probe.kind === 'nothing') {
    throw unreachable(`no daemon answers at ${mcpUrl} (${probe.why}); start it on its machine`)
  }
  const plan = {
    command: target.node,
    args: [target.daemonScript],
    env: await environmentForDaemon(proc.env, config.dataDir),
    logFile: join(config.dataDir, 'daemon.log'),
    waitMs: START_WAIT_MS,
  }
  const problem = await spawnDaemon(mcpUrl, plan, signal)
  if (problem !== undefined) throw unreachable(problem)
  return probe.kind === 'nothing' ? 'started' : 'was running'
}

async function requireAccepted(
  { mcpUrl, config }: SetupTarget,
  { agent, token }: AgentSetup,
  signal: AbortSignal,
): Promise<void> {
  const state = await waitForToken(mcpUrl, token, signal)
  if (state === 'known') return
  if (state !== 'unknown' && state.kind === 'other') throw somebodyElse(mcpUrl, state.what)
  throw new CruxError<DaemonErrorCode>(
    'SETUP_FAILED',
    `the daemon at ${mcpUrl} does not know the token of ${agent}; it is older than this program or keeps another data directory than ${config.dataDir}: restart it, or set CORECRUXD_DATA_DIR to its directory`,
    { data: { agent } },
  )
}

function somebodyElse(mcpUrl: string, what: string): CruxError<DaemonErrorCode> {
  return unreachable(
    `something else than Crux answers at ${mcpUrl} (${what}); set CORECRUXD_MCP_PORT to another port and run this again`,
  )
}

function unreachable(sentence: string): CruxError<DaemonErrorCode> {
  return new CruxError('DAEMON_UNREACHABLE', sentence)
}
