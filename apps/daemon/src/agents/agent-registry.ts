import { stat } from 'node:fs/promises'
import {
  type AgentCredential,
  parseAgentTenants,
  parseAgentTokens,
  type TenantBinding,
} from 'crux-mcp'
import { systemCode } from 'crux-storage'
import { agentCaller, CruxError, messageOf } from 'crux-types'
import type { Config } from '../config/load.js'
import type { DaemonErrorCode } from '../errors.js'
import type { Log } from '../log.js'
import { type AgentRecord, agentFilePath, isAbsent, readAgentFile } from './agent-file.js'

/** Who may call MCP now: agents of the configuration, and those that the command line added. */
export interface AgentRegistry {
  /** The same array until something changes. */
  current(): readonly AgentCredential[]
  /** Be told when there are others; one listener, the last. */
  onChange(listener: () => void): void
  /** What is wrong with the file; empty when nothing is. */
  warnings(): readonly string[]
  /** Stop looking for changes; safe to call twice. */
  stop(): void
}

/** A change of the file is in force after this time at most. */
const POLL_MS = 500

/**
 * Read the agents, and follow changes of the file.
 *
 * A file that becomes unusable leaves the agents as they were, with a warning. An agent of the file
 * whose name the configuration has as well is refused: at the start the whole start, later only
 * that agent.
 *
 * @throws {CruxError} `AGENT_FILE_INVALID`, `AGENT_NAME_TAKEN`, and crux-mcp's `AGENT_TOKENS_INVALID`,
 *   `AGENT_TENANTS_INVALID`.
 */
export async function openAgentRegistry(
  config: Pick<Config, 'agentToken' | 'agentTokens' | 'agentTenants' | 'dataDir'>,
  log: Pick<Log, 'info' | 'warn'>,
  pollMs = POLL_MS,
): Promise<AgentRegistry> {
  const path = agentFilePath(config.dataDir)
  const bindings = parseAgentTenants(config.agentTenants.join(','))
  const inConfiguration = parseAgentTokens(config.agentToken, config.agentTokens, bindings)
  let signature = await signatureOf(path)
  const atStart = await readAgentFile(config.dataDir)
  const [clash] = clashes(atStart, inConfiguration)
  if (clash !== undefined) {
    throw new CruxError<DaemonErrorCode>('AGENT_NAME_TAKEN', clashSentence(clash, path), {
      data: { name: clash },
    })
  }
  // A relay that starts a daemon passes its own token on in the environment. That agent is known by
  // its name, and must not come back under another one when it is revoked.
  const hashes = new Set(atStart.map(({ tokenHash }) => tokenHash))
  const configured = inConfiguration.filter(({ tokenHash }) => !hashes.has(tokenHash))
  let agents: readonly AgentCredential[] = [...configured, ...credentials(atStart, bindings)]
  let warnings: readonly string[] = []
  let tellOfChange = (): void => undefined

  const warn = (sentences: readonly string[]): void => {
    for (const sentence of sentences.filter((one) => !warnings.includes(one))) log.warn(sentence)
    warnings = sentences
  }
  const reload = async (): Promise<void> => {
    const now = await signatureOf(path)
    if (now === signature) return
    signature = now
    const records = await readAgentFile(config.dataDir)
    const taken = clashes(records, configured)
    const added = records.filter(({ name }) => !taken.includes(name))
    agents = [...configured, ...credentials(added, bindings)]
    warn(taken.map((name) => clashSentence(name, path)))
    log.info({ agents: agents.map(({ name }) => name) }, 'the agents were read anew')
    tellOfChange()
  }
  let isReloading = false
  const timer = setInterval(() => {
    if (isReloading) return
    isReloading = true
    reload()
      .catch((error: unknown) => warn([`${messageOf(error)}; the agents stay as they were`]))
      .finally(() => {
        isReloading = false
      })
  }, pollMs)
  timer.unref()

  return {
    current: () => agents,
    onChange(listener) {
      tellOfChange = listener
    },
    warnings: () => warnings,
    stop: () => clearInterval(timer),
  }
}

function credentials(
  records: readonly AgentRecord[],
  bindings: ReadonlyMap<string, TenantBinding>,
): AgentCredential[] {
  return records.map(({ name, tokenHash }) => ({
    name,
    tokenHash,
    caller: agentCaller(name, bindings.get(name)),
  }))
}

function clashes(
  records: readonly AgentRecord[],
  configured: readonly AgentCredential[],
): readonly string[] {
  return records
    .filter((record) =>
      configured.some(
        ({ name, tokenHash }) => name === record.name && tokenHash !== record.tokenHash,
      ),
    )
    .map(({ name }) => name)
}

function clashSentence(name: string, path: string): string {
  return `the agent ${name} has one token in CRUX_AGENT_TOKENS or CRUX_AGENT_TOKEN and another in ${path}; take it out of the variable, or run \`corecruxctl agents revoke ${name}\``
}

/** Tells versions of a file apart, also of one that cannot be looked at; `none` when there is no file. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true })
    return `${ino}:${size}:${mtimeNs}`
  } catch (error) {
    return isAbsent(error) ? 'none' : `not readable: ${systemCode(error)}`
  }
}
