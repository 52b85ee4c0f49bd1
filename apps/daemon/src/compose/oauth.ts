import { isLoopbackHost, type OAuthOptions } from 'crux-mcp'
import { CruxError } from 'crux-types'
import type { Config } from '../config/load.js'
import { VARIABLES } from '../config/variables.js'
import type { DaemonErrorCode } from '../errors.js'

/** What OAuth is to be, and sentences for the log on what is likely a mistake. */
export interface OAuthSetup {
  /** Undefined when nothing of it is configured. */
  readonly oauth: OAuthOptions | undefined
  readonly warnings: readonly string[]
}

/**
 * Read how callers with a token of an authorization server are let in.
 *
 * @param agentNames - Names of the agents that are registered now.
 * @throws {CruxError} `CONFIG_INVALID` when an audience is required and there is none to compare with.
 */
export function oauthSetup(config: Config, agentNames: readonly string[]): OAuthSetup {
  const { mcpResourceUrl: resourceUrl, mcpAuthServer: authorizationServer } = config
  const { mcpIntrospectClientId: clientId, mcpIntrospectClientSecret: clientSecret } = config
  const warnings: string[] = []
  const requireAudience = config.mcpRequireResourceAud
  if (requireAudience && resourceUrl === undefined) {
    const problem = `${VARIABLES.mcpRequireResourceAud.name}=true compares the audience of tokens with ${VARIABLES.mcpResourceUrl.name}, which is not set; set it to the address under which clients know this server`
    throw new CruxError<DaemonErrorCode>('CONFIG_INVALID', problem, {
      data: { problems: [problem] },
    })
  }
  const hasBoth = clientId !== undefined && clientSecret !== undefined
  if (!hasBoth && (clientId ?? clientSecret) !== undefined) {
    const { mcpIntrospectClientId: id, mcpIntrospectClientSecret: secret } = VARIABLES
    warnings.push(
      `${id.name} and ${secret.name} are needed both; tokens of OAuth are not accepted until the other one is set`,
    )
  }
  if (!hasBoth && resourceUrl === undefined) return { oauth: undefined, warnings }

  const tenant = config.mcpOauthTenant
  const url =
    config.mcpIntrospectUrl ?? `${authorizationServer.replace(/\/+$/, '')}/v1/auth/introspect`
  if (hasBoth) warnings.push(...introspectionDoubts(url, tenant, agentNames))
  return {
    oauth: {
      resourceUrl,
      authorizationServer,
      introspection: hasBoth ? { url, clientId, clientSecret } : undefined,
      tenant,
      requireAudience,
    },
    warnings,
  }
}

function introspectionDoubts(
  url: string,
  tenant: string,
  agentNames: readonly string[],
): readonly string[] {
  const doubts: string[] = []
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    doubts.push(
      `tokens are checked over plain http at ${hostname}, where others can read them; use https`,
    )
  }
  if (agentNames.length === 0) {
    doubts.push(
      'tokens of OAuth are checked, but callers without any token are served all the same and may write; register an agent to keep them out',
    )
  }
  if (agentNames.includes(tenant)) {
    doubts.push(
      `the agent '${tenant}' and callers with a token of OAuth go by the same name, so that these read its private facts; rename the agent or set ${VARIABLES.mcpOauthTenant.name}`,
    )
  }
  return doubts
}
