import { blake3 } from '@noble/hashes/blake3.js'
import { agentCaller, CruxError, isTenant } from 'crux-types'
import type { McpErrorCode } from '../errors.js'
import type { AgentCredential } from '../server-options.js'

/** Name of the agent that `CRUX_AGENT_TOKEN` registers. */
export const SINGLE_AGENT_NAME = 'default'

const LIST_TOKEN = /^[A-Za-z0-9._~-]{32,256}$/
// What can stand in an Authorization header: visible ASCII.
const SINGLE_TOKEN = /^[\x21-\x7e]{1,256}$/
// The name becomes part of stored entities and of log lines.
const AGENT_NAME = /^[^\p{C}\s:,]{1,64}$/u

/** Where an agent's facts live and what else it may read. */
export interface TenantBinding {
  readonly tenant: string
  readonly tenants: readonly string[] | '*'
}

/**
 * Read the agent tokens of a configuration.
 *
 * @param single - `CRUX_AGENT_TOKEN`: one agent named `default`; used when `list` is blank. Blank is none.
 * @param list - `CRUX_AGENT_TOKENS`: `name:token,name:token`, each token 32..256 of `[A-Za-z0-9._~-]`.
 * @param bindings - Tenants of agents by name; agents without one have home `default` and read all.
 * @returns One credential per agent, with the token's hash only; empty when no token is set.
 * @throws {CruxError} `AGENT_TOKENS_INVALID`, naming the item but never its token.
 */
export function parseAgentTokens(
  single: string | undefined,
  list: string | undefined,
  bindings: ReadonlyMap<string, TenantBinding> = new Map(),
): AgentCredential[] {
  const credential = (name: string, token: string): AgentCredential => ({
    name,
    tokenHash: hashToken(token).toString('hex'),
    caller: agentCaller(name, bindings.get(name)),
  })
  if (!isBlank(list)) return parseList(list.trim(), credential)
  if (isBlank(single)) return []
  const token = single.trim()
  if (!SINGLE_TOKEN.test(token)) {
    throw invalidToken('CRUX_AGENT_TOKEN', 1, 'at most 256 visible ASCII characters')
  }
  return [credential(SINGLE_AGENT_NAME, token)]
}

/**
 * Read which tenants agents are bound to.
 *
 * @param text - `name:home` or `name:home|also|also`, separated by commas; `*` after the home means all.
 * @throws {CruxError} `AGENT_TENANTS_INVALID`.
 */
export function parseAgentTenants(text: string | undefined): Map<string, TenantBinding> {
  const bindings = new Map<string, TenantBinding>()
  if (isBlank(text)) return bindings
  for (const [index, item] of text.split(',').entries()) {
    const colon = item.indexOf(':')
    const name = item.slice(0, Math.max(colon, 0)).trim()
    const [home = '', ...also] = item
      .slice(colon + 1)
      .split('|')
      .map((part) => part.trim())
    const isValid =
      AGENT_NAME.test(name) &&
      isTenant(home) &&
      also.every((tenant) => tenant === '*' || isTenant(tenant)) &&
      !bindings.has(name)
    if (!isValid) {
      throw new CruxError<McpErrorCode>(
        'AGENT_TENANTS_INVALID',
        `CORECRUXD_AGENT_TENANTS item ${index + 1} (${JSON.stringify(item.slice(0, 80))}) is malformed; ` +
          'write name:home or name:home|also with one item per agent',
        { data: { item: index + 1 } },
      )
    }
    bindings.set(name, { tenant: home, tenants: also.includes('*') ? '*' : also })
  }
  return bindings
}

/** BLAKE3-256 of a token, which is all that is kept of it. */
export function hashToken(token: string): Buffer {
  return Buffer.from(blake3(Buffer.from(token)))
}

function parseList(
  list: string,
  credential: (name: string, token: string) => AgentCredential,
): AgentCredential[] {
  const credentials: AgentCredential[] = []
  for (const [index, item] of list.split(',').entries()) {
    const colon = item.indexOf(':')
    const name = item.slice(0, Math.max(colon, 0)).trim()
    const token = item.slice(colon + 1).trim()
    if (!AGENT_NAME.test(name) || !LIST_TOKEN.test(token)) {
      throw invalidToken(
        'CRUX_AGENT_TOKENS',
        index + 1,
        'name:token with 32 to 256 characters of A-Z a-z 0-9 . _ ~ - in the token',
      )
    }
    if (credentials.some((other) => other.name === name)) {
      throw invalidToken('CRUX_AGENT_TOKENS', index + 1, 'each agent name once')
    }
    credentials.push(credential(name, token))
  }
  return credentials
}

function invalidToken(variable: string, item: number, expected: string): CruxError<McpErrorCode> {
  return new CruxError(
    'AGENT_TOKENS_INVALID',
    `${variable} item ${item} is malformed; expected ${expected}`,
    { data: { item } },
  )
}

function isBlank(text: string | undefined): text is undefined | '' {
  return text === undefined || text.trim() === ''
}
