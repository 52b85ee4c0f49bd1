import {
  type AgentCredential,
  bindGuard,
  isLoopbackHost,
  parseAgentTenants,
  parseAgentTokens,
} from 'crux-mcp'
import { CruxError } from 'crux-types'
import type { Config } from '../config/load.js'
import type { DaemonErrorCode } from '../errors.js'

/**
 * Read the agents, and refuse addresses that would serve strangers.
 *
 * @throws {CruxError} `INSECURE_BIND`, and crux-mcp's `AGENT_TOKENS_INVALID`, `AGENT_TENANTS_INVALID`, `BIND_REFUSED`.
 */
export function checkPosture(config: Config): readonly AgentCredential[] {
  const agents = parseAgentTokens(
    config.agentToken,
    config.agentTokens,
    parseAgentTenants(config.agentTenants.join(',')),
  )
  if (config.mcpEnabled) {
    bindGuard(config.mcpHost, {
      hasTokens: agents.length > 0,
      allowInsecure: config.allowInsecureDevAuthBind,
    })
  }
  if (
    config.authMode !== 'jwt_hs256' &&
    !config.allowInsecureDevAuthBind &&
    !isLoopbackHost(config.httpHost)
  ) {
    throw new CruxError<DaemonErrorCode>(
      'INSECURE_BIND',
      `HTTP on ${config.httpHost} with CORECRUXD_AUTH_MODE=${config.authMode} would serve other machines without authentication; ` +
        'use jwt_hs256, listen on 127.0.0.1, or set CORECRUXD_ALLOW_INSECURE_DEV_AUTH_BIND=1 on a closed network',
      { data: { variable: 'CORECRUXD_HTTP_HOST' } },
    )
  }
  return agents
}
