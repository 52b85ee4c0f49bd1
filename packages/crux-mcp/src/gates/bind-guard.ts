import { CruxError } from 'crux-types'
import type { McpErrorCode } from '../errors.js'
import { isLoopbackHost } from './loopback.js'

/**
 * Refuse to serve other machines without knowing who asks.
 *
 * @param host - Address to listen on.
 * @param posture.hasTokens - Whether any agent token is registered.
 * @param posture.allowInsecure - Whether the operator asked for an open listener in so many words.
 * @throws {CruxError} `BIND_REFUSED`.
 */
export function bindGuard(
  host: string,
  posture: { readonly hasTokens: boolean; readonly allowInsecure: boolean },
): void {
  if (isLoopbackHost(host) || posture.hasTokens || posture.allowInsecure) return
  throw new CruxError<McpErrorCode>(
    'BIND_REFUSED',
    `MCP on ${host} would serve other machines without a token; make one with \`corecruxctl start --agent <client>\`, ` +
      'set CRUX_AGENT_TOKENS or CRUX_AGENT_TOKEN, listen on 127.0.0.1, ' +
      'or set CORECRUXD_ALLOW_INSECURE_DEV_AUTH_BIND=1 on a closed network',
    { data: { host } },
  )
}
