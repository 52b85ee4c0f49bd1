import type { SurfaceChoice, SurfaceMode } from 'crux-mcp'
import { CruxError } from 'crux-types'
import {
  AGENT_NAME,
  type AgentRecord,
  agentRecord,
  changeAgentFile,
  createToken,
  readAgentFile,
} from '../agents/agent-file.js'
import { withEntry } from '../clients/client-config.js'
import type { ClientDefinition } from '../clients/client-definitions.js'
import { surfaceIn, surfaceOf, withSurface } from '../clients/client-surface.js'
import { type Connection, type Transport, tokenOf } from '../clients/connection.js'
import { editConfigFile, readConfigFile } from '../clients/edit-config-file.js'
import type { FoundClient } from '../clients/find-clients.js'
import type { DaemonErrorCode } from '../errors.js'
import { connectionTo, type SetupTarget } from './setup-target.js'

/** What is to be done for one client. */
export interface AgentPlan {
  readonly client: FoundClient
  /** Name under which the daemon knows it. */
  readonly agent: string
  readonly token: string
  /** `kept`: the configuration has a token that is known; `replaced`: the agent has one, and it is not there. */
  readonly tokenState: 'kept' | 'minted' | 'replaced'
  readonly connection: Connection
  /** The configuration before and after. */
  readonly before: string
  readonly after: string
}

/** What was done for one client. */
export interface AgentSetup extends AgentPlan {
  readonly file: string
  readonly backup: string | undefined
}

/**
 * Work out what a client needs; nothing is changed.
 *
 * @param options.agent - Name for the agent; default: the one that its token has, else the client's.
 * @param options.transport - Default: what its configuration has, else a command that starts the
 *   daemon when none runs, else HTTP.
 * @param options.surface - How many tools it is to see; default: what its configuration has, else what
 *   leaves it room for others.
 * @throws {CruxError} `CLIENT_CONFIG_INVALID`, `AGENT_FILE_INVALID`, `AGENT_NAME_TAKEN`, `CONFIG_INVALID`.
 */
export async function planAgent(
  target: SetupTarget,
  client: FoundClient,
  options: {
    readonly agent?: string | undefined
    readonly transport?: Transport | undefined
    readonly surface?: SurfaceMode | undefined
  } = {},
): Promise<AgentPlan> {
  const { definition, file } = client
  if (client.problem !== undefined) {
    throw new CruxError<DaemonErrorCode>('CLIENT_CONFIG_INVALID', client.problem, {
      data: { path: file },
    })
  }
  const records = await readAgentFile(target.config.dataDir)
  const present = client.configured?.connection
  const presentToken = present === undefined ? undefined : tokenOf(present)
  const known = presentToken === undefined ? undefined : ownerOf(presentToken, target, records)
  const agent = options.agent ?? known ?? definition.id
  requireName(agent)
  const isKept = presentToken !== undefined && known === agent
  if (!isKept && target.configured.some(({ name }) => name === agent)) throw nameTaken(agent)
  const token = isKept ? presentToken : createToken()
  const transport = options.transport ?? present?.kind ?? (target.isLocal ? 'stdio' : 'http')
  const connection = withSurface(
    connectionTo(target, requireTransport(definition, transport), token),
    // Whoever was set up before has its surface, also when its user took it out.
    isKept && options.surface === undefined
      ? present && surfaceIn(present)
      : surfaceFrom(options.surface, definition, present),
  )
  const before = (await readConfigFile(file)) ?? ''
  const hasRecord = records.some(({ name }) => name === agent)
  return {
    client,
    agent,
    token,
    tokenState: isKept ? 'kept' : hasRecord ? 'replaced' : 'minted',
    connection,
    before,
    after: withEntry(definition, before, file, connection),
  }
}

/**
 * Do what was planned: first the token, so that the client never holds one that is unknown, then the
 * configuration. When that fails, the token is taken back.
 *
 * @param now - Epoch milliseconds.
 * @throws {CruxError} `CLIENT_CONFIG_INVALID`, `AGENT_FILE_INVALID`, `AGENT_FILE_BUSY`.
 */
export async function applyPlan(
  target: SetupTarget,
  plan: AgentPlan,
  now: number,
): Promise<AgentSetup> {
  const { client, agent, token, connection, tokenState } = plan
  const { dataDir } = target.config
  let former: AgentRecord | undefined
  if (tokenState !== 'kept') {
    await changeAgentFile(dataDir, (agents) => {
      former = agents.find(({ name }) => name === agent)
      return withAgent(agents, agent, agentRecord(agent, token, now))
    })
  }
  try {
    const edit = (text: string): string =>
      withEntry(client.definition, text, client.file, connection)
    const { file, backup, before, after } = await editConfigFile(client.file, edit, now)
    return { ...plan, file, backup, before, after }
  } catch (error) {
    if (tokenState !== 'kept') {
      await changeAgentFile(dataDir, (agents) => withAgent(agents, agent, former))
    }
    throw error
  }
}

/** The agents with this record in place of the one of that name. */
function withAgent(
  agents: readonly AgentRecord[],
  name: string,
  record: AgentRecord | undefined,
): readonly AgentRecord[] {
  const others = agents.filter((one) => one.name !== name)
  return record === undefined ? others : [...others, record]
}

function ownerOf(
  token: string,
  { configured }: SetupTarget,
  records: readonly AgentRecord[],
): string | undefined {
  const { tokenHash } = agentRecord('any', token, 0)
  return [...records, ...configured].find((one) => one.tokenHash === tokenHash)?.name
}

function surfaceFrom(
  asked: SurfaceMode | undefined,
  definition: ClientDefinition,
  present: Connection | undefined,
): SurfaceChoice | undefined {
  if (asked !== undefined) return asked === 'full' ? undefined : asked
  return (present && surfaceIn(present)) ?? surfaceOf(definition)
}

function requireName(agent: string): void {
  if (AGENT_NAME.test(agent)) return
  throw new CruxError<DaemonErrorCode>(
    'CONFIG_INVALID',
    `${JSON.stringify(agent)} is no name for an agent; use 1 to 64 letters, digits, or . _ - after the first`,
  )
}

function requireTransport(definition: ClientDefinition, transport: Transport): Transport {
  if (definition.shape.transports.includes(transport)) return transport
  throw new CruxError<DaemonErrorCode>(
    'CONFIG_INVALID',
    `${definition.title} cannot connect over ${transport}; leave --transport out, or name ${definition.shape.transports.join(' or ')}`,
  )
}

function nameTaken(agent: string): CruxError<DaemonErrorCode> {
  return new CruxError(
    'AGENT_NAME_TAKEN',
    `CRUX_AGENT_TOKENS or CRUX_AGENT_TOKEN has an agent ${agent} already; put its token into the client's configuration, or choose another name with --name`,
    { data: { name: agent } },
  )
}
