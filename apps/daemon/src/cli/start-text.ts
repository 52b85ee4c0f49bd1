import { redactSecrets } from 'crux-text'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { surfaceIn } from '../clients/client-surface.js'
import { type Connection, tokenOf } from '../clients/connection.js'
import type { FoundClient } from '../clients/find-clients.js'
import type { StartPlan, StartReport } from '../setup/start-agents.js'

/** What a dry run shows: each file as a diff, without secrets. */
export function planText({ agents, defaults }: StartPlan): string {
  const configurations = agents.map(({ client, before, after, token }) =>
    redactSecrets(diffOf(client.file, before, after.replaceAll(token, '<token>'))),
  )
  // The daemon's own file holds no secrets, and words such as token_budget would look like some.
  const settings =
    defaults?.file === undefined ? '' : diffOf(defaults.file, defaults.before, defaults.after)
  const tokens = agents
    .filter(({ tokenState }) => tokenState !== 'kept')
    .map(({ agent, tokenState }) =>
      tokenState === 'replaced'
        ? `${agent} would get a new token; the one it has would no longer work\n`
        : `${agent} would get a token\n`,
    )
  return `${configurations.join('')}${settings}${tokens.join('')}nothing was changed\n`
}

/** What was done, for people. */
export function reportText({ target, agents, daemon, defaults }: StartReport): string {
  const lines = agents.flatMap((one) => [
    `${one.client.definition.title} is connected to Crux as ${one.agent}`,
    `  configuration  ${one.before === one.after ? `${one.file}, as it was` : `${one.file}${one.backup === undefined ? ' (new)' : `, the former one is ${one.backup}`}`}`,
    `  token          ${TOKEN_TEXT[one.tokenState]}`,
    `  connection     ${connectionText(one.connection)}`,
    ...surfaceLine(one.connection),
    `  first fact     ${one.fact.outcome === 'stored' ? 'stored and read back' : 'still there'}: ${one.fact.value}`,
    ...(one.client.configured?.isOff === true
      ? ['  warning        its configuration has Crux switched off; switch it on there']
      : []),
    `  next           ${one.client.definition.restart}`,
  ])
  lines.push(`daemon           ${target.mcpUrl}, ${daemon}`)
  if (defaults !== undefined && defaults.added.length > 0) {
    const when = daemon === 'started' ? '' : '; they count from the next start of the daemon'
    lines.push(`settings         ${defaults.added.join(', ')} added to ${defaults.file}${when}`)
  }
  const isAsBefore =
    daemon === 'was running' &&
    agents.every(({ before, after, tokenState }) => before === after && tokenState === 'kept') &&
    (defaults?.added.length ?? 0) === 0
  if (isAsBefore) lines.push('nothing had to be changed')
  return `${lines.join('\n')}\n`
}

const TOKEN_TEXT = {
  kept: 'as it was',
  minted: 'new; the daemon keeps only its hash',
  replaced: 'new, in place of the former one, which no longer works',
} as const

/** What was done, for programs; no token. */
export function reportJson({ target, agents, daemon, defaults }: StartReport): unknown {
  return {
    agents: agents.map((one) => ({
      client: one.client.definition.id,
      agent: one.agent,
      file: one.file,
      backup: one.backup ?? null,
      changed: one.before !== one.after,
      token: one.tokenState,
      transport: one.connection.kind,
      first_fact: one.fact.outcome,
    })),
    daemon: { mcp_url: target.mcpUrl, state: daemon === 'started' ? 'started' : 'running' },
    settings: { file: defaults?.file ?? null, added: defaults?.added ?? [] },
  }
}

/** What `start` says about each client when it is given none. */
export function clientsText(clients: readonly FoundClient[]): string {
  const here = clients.filter(({ isHere }) => isHere)
  const missing = clients.filter(({ isHere }) => !isHere).map(({ definition }) => definition.id)
  const width = Math.max(0, ...here.map(({ definition }) => definition.id.length))
  const lines = here.map(
    (client) =>
      `${client.definition.id.padEnd(width)}  ${clientState(client)}\n${' '.repeat(width)}  ${client.file}\n`,
  )
  return [
    here.length === 0 ? 'no client that can be set up was found on this machine\n' : '',
    ...lines,
    missing.length === 0 ? '' : `not found: ${missing.join(', ')}\n`,
    'set one up with: corecruxctl start --agent NAME (add --dry-run to see what it would change)\n',
  ].join('')
}

function clientState({ definition, configured, problem }: FoundClient): string {
  const { title } = definition
  if (problem !== undefined) return `${title}: ${problem}`
  if (configured === undefined) return `${title}: not set up`
  if (configured.isOff) return `${title}: set up and switched off`
  if (configured.connection === undefined) return `${title}: has an entry that says no connection`
  const { connection } = configured
  const who = tokenOf(connection) === undefined ? 'anonymous, without a token' : 'with a token'
  return `${title}: set up (${connection.kind}, ${who})`
}

/** Clients that do not say who they are, and what that means from now on. */
export function anonymousText(clients: readonly FoundClient[], isAllowed: boolean): string {
  if (clients.length === 0) return ''
  const names = clients.map(({ definition }) => definition.title).join(', ')
  const ids = clients.map(({ definition }) => definition.id).join(' ')
  const consequence = isAllowed
    ? 'served as anonymous, without private facts'
    : 'refused from now on, since agents have tokens; CORECRUXD_MCP_ALLOW_ANONYMOUS=1 would serve them as before'
  return `warning: ${names}: no token, so ${consequence}\n  set them up too: corecruxctl start --agent ${ids}\n`
}

function surfaceLine(connection: Connection): string[] {
  const surface = surfaceIn(connection)
  return surface === undefined
    ? []
    : [
        `  tools          ${surface}, which leaves room for those of others; --surface full shows all`,
      ]
}

function connectionText(connection: Connection): string {
  return connection.kind === 'http'
    ? `HTTP, ${connection.url}`
    : `starts ${connection.args[0]} mcp-stdio${connection.args.includes('--spawn') ? ', which starts a daemon when none runs' : ''}`
}

function diffOf(file: string, before: string, after: string): string {
  if (before === after) return `${file}: nothing to change\n`
  const options = { context: 2, headerOptions: FILE_HEADERS_ONLY }
  return createTwoFilesPatch(file, file, before, after, undefined, undefined, options)
}
