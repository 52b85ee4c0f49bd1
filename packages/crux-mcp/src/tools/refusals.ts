import { type Caller, CruxError } from 'crux-types'
import type { McpErrorCode } from '../errors.js'

/** An error that answers -32030: the caller may not do this, or the operator switched it off. */
export function capabilityDenied(message: string): CruxError<McpErrorCode> {
  return new CruxError('CAPABILITY_DENIED', message)
}

/** An error that answers -32601, for a tool that is switched off as if it were not there. */
export function toolDisabled(message: string): CruxError<McpErrorCode> {
  return new CruxError('TOOL_DISABLED', message)
}

/**
 * Let only callers with an identity through.
 *
 * @throws {CruxError} `CAPABILITY_DENIED`.
 */
export function requirePassport(caller: Caller, tool: string): void {
  if (caller.identity !== null) return
  throw capabilityDenied(`${tool} requires an authenticated passport (anonymous calls rejected)`)
}
