import type { Caller } from 'crux-types'
import type { TokenStamp } from '../listing/tool-capability.js'
import { answer, type ToolResult } from '../result/tool-result.js'

/** Why a capability token does not cover a call. */
export interface CapabilityDenial {
  readonly message: string
  /** Reason, token, stamp and receipt of the refusal, as the caller gets them. */
  readonly data: Readonly<Record<string, unknown>>
}

/** A caller's capability token, as far as lists show it. */
export interface CapabilityToken {
  readonly stamp: TokenStamp
  /** Fingerprint of the passport that it was issued to. */
  readonly passport: string
}

/** Decides by capability tokens which tools a caller may see and call. */
export interface CapabilityGate {
  /** @returns Undefined for callers without a token, who see every tool. */
  tokenOf(caller: Caller): CapabilityToken | undefined
  /** @returns Undefined when the call may go on. */
  deny(tool: string, caller: Caller): CapabilityDenial | undefined
}

/** Knows which passports were revoked. */
export interface RevokedPassports {
  /** @returns The reason, empty when none was recorded; undefined when the caller's passport stands. */
  reasonFor(caller: Caller): string | undefined
}

// What the holder of a revoked passport may still ask: why, and who it is.
const OPEN_WHEN_REVOKED: ReadonlySet<string> = new Set(['get_passport', 'get_agent_identity'])

/** What a call answers when the caller's passport was revoked; undefined when it may go on. */
export function revokedAnswer(
  tool: string,
  caller: Caller,
  revoked: RevokedPassports,
): ToolResult | undefined {
  if (OPEN_WHEN_REVOKED.has(tool)) return undefined
  const reason = revoked.reasonFor(caller)
  if (reason === undefined) return undefined
  const given = reason === '' ? '(no reason recorded)' : reason
  return answer(
    `passport revoked — '${tool}' refused (reason: ${given}). Call get_passport for your revocation status.`,
    { isError: true },
  )
}
