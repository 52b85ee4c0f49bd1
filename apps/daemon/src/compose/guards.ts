import { bindGuard, isLoopbackHost } from 'crux-mcp'
import { CruxError } from 'crux-types'
import type { Config } from '../config/load.js'
import type { DaemonErrorCode } from '../errors.js'

/**
 * Refuse addresses that would serve strangers.
 *
 * @param hasAgents - Whether MCP asks for a token.
 * @throws {CruxError} `INSECURE_BIND`, and crux-mcp's `BIND_REFUSED`.
 */
export function checkPosture(config: Config, hasAgents: boolean): void {
  if (config.mcpEnabled) {
    bindGuard(config.mcpHost, {
      hasTokens: hasAgents,
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
}
