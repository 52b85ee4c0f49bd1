import { type Caller, CruxError } from 'crux-types'
import type { McpErrorCode } from '../errors.js'

/** How an agent gets a name: part of every refusal for want of one. */
export const IDENTITY_FIX =
  'run `corecruxctl start --agent <client>` on the machine of the daemon: it makes a token and writes it into the configuration of that client'

/** An error that answers -32030: the caller may not do this, or the operator switched it off. */
export function capabilityDenied(message: string): CruxError<McpErrorCode> {
  return new CruxError('CAPABILITY_DENIED', message)
}

/** An error that answers -32601, for a tool that is switched off as if it were not there. */
export function toolDisabled(message: string): CruxError<McpErrorCode> {
  return new CruxError('TOOL_DISABLED', message)
}

/** An error that answers -32602, and says how an agent gets a name. */
export function identityRequired(message: string): CruxError<McpErrorCode> {
  return new CruxError('IDENTITY_REQUIRED', message)
}

/**
 * Let only callers with an identity through.
 *
 * @throws {CruxError} `PASSPORT_REQUIRED`.
 */
export function requirePassport(caller: Caller, tool: string): void {
  if (caller.identity !== null) return
  throw new CruxError<McpErrorCode>(
    'PASSPORT_REQUIRED',
    `${tool} requires an authenticated passport (anonymous calls rejected)`,
  )
}
