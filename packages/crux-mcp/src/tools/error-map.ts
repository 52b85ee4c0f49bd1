import { CruxError } from 'crux-types'
import {
  CAPABILITY_DENIED,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  LEGAL_HOLD_ACTIVE,
  METHOD_NOT_FOUND,
} from '../protocol/codes.js'
import type { Tool } from './define-tool.js'
import { IDENTITY_FIX } from './refusals.js'

/** What a failed call answers. */
export interface CallFailure {
  readonly code: number
  readonly message: string
  /** The fault is on this side: the caller gets no detail, the log does. */
  readonly isOurs: boolean
  /** More about it, for programs. */
  readonly data?: Readonly<Record<string, unknown>>
}

// The caller has no name; whatever the words, the answer says how an agent gets one.
const WITHOUT_IDENTITY: ReadonlySet<string> = new Set([
  'IDENTITY_REQUIRED',
  'PASSPORT_REQUIRED',
  'PRIVATE_NEEDS_IDENTITY',
  'PIN_NEEDS_IDENTITY',
  'FORGET_NEEDS_IDENTITY',
  'ARTEFACT_NEEDS_IDENTITY',
])

// Codes that report a mistake of the caller, with a message fit for it. Everything else is ours.
const CALLER_MISTAKES: ReadonlySet<string> = new Set([
  'ARGUMENTS_INVALID',
  'IDENTITY_REQUIRED',
  'TENANT_INVALID',
  'TEXT_INVALID',
  'CONFIDENCE_INVALID',
  'ENTITY_RESERVED',
  'FACT_NOT_FOUND',
  'FACT_NOT_EDITABLE',
  'HORIZON_INVALID',
  'PIN_NEEDS_IDENTITY',
  'FORGET_SCOPE_INVALID',
  'FORGET_NEEDS_IDENTITY',
  'FORGET_REASON_MISSING',
  'FORGET_CONFIRM_MISSING',
  'FORGET_CONFIRM_STALE',
  'EXPAND_TOO_LARGE',
  'SESSION_ID_INVALID',
  'SESSION_ID_RESERVED',
  'SESSION_OWNER_INVALID',
  'SESSION_STATE_INVALID',
  'SESSION_TOO_LARGE',
  'SESSION_TTL_INVALID',
  'OBSERVATION_NOT_FOUND',
  'PAYLOAD_TOO_LARGE',
  'ARTEFACT_INVALID',
  'ARTEFACT_TOO_LARGE',
  'ARTEFACT_QUOTA',
  'ARTEFACT_NEEDS_IDENTITY',
  'ENGRAMS_UNAVAILABLE',
])

// What the caller may not do, in words fit for it.
const DENIALS: ReadonlySet<string> = new Set([
  'CAPABILITY_DENIED',
  'PASSPORT_REQUIRED',
  'SESSION_BUDGET_SPENT',
  'FACT_RESERVED',
  'ARTEFACT_FOREIGN',
])

// Mistakes that the catalogue reports as a failed write, here with the reason behind its words.
const FAILED_WRITES: ReadonlySet<string> = new Set([
  'PAYLOAD_INVALID',
  'ENTITY_NOT_FOUND',
  'EDGE_NOT_FOUND',
])

// Reasons of a refused consolidation that are mistakes; the others protect facts.
const SLIPS_OF_REQUEST: ReadonlySet<unknown> = new Set(['invalid_request', 'target_not_found'])

// Mistakes whose wording is fixed by the catalogue.
const FIXED_WORDS: Readonly<Record<string, string>> = {
  PRIVATE_NEEDS_IDENTITY: 'private facts require an authenticated agent identity',
  SUPERSEDES_INVALID: 'one or more supersedes fact_ids do not exist or are not visible to you',
}

// A write that the storage refused: nothing was kept, and trying again may help once it is mended.
const STORAGE_FAILURE = /^(?:JOURNAL|STORAGE|SEGMENT)_/

/**
 * Map what a handler threw to a JSON-RPC error.
 *
 * A fault on this side never reads as bad input, and tells nothing of paths or internals.
 */
export function callFailure(
  error: unknown,
  tool: Pick<Tool, 'name' | 'journalFailure' | 'wording'>,
): CallFailure {
  const failure = failureOf(error, tool)
  if (!(error instanceof CruxError) || !WITHOUT_IDENTITY.has(error.code)) return failure
  return { ...failure, data: { requires_agent_identity: true, fix: IDENTITY_FIX } }
}

function failureOf(
  error: unknown,
  tool: Pick<Tool, 'name' | 'journalFailure' | 'wording'>,
): CallFailure {
  if (!(error instanceof CruxError)) return internal(tool)
  const { code } = error
  const message = tool.wording?.[code]?.(error.data) ?? error.message
  const fixed = FIXED_WORDS[code]
  if (fixed !== undefined) return { code: INVALID_PARAMS, message: fixed, isOurs: false }
  if (CALLER_MISTAKES.has(code)) return { code: INVALID_PARAMS, message, isOurs: false }
  if (code === 'CONSOLIDATION_REFUSED') {
    const isSlip = SLIPS_OF_REQUEST.has(error.data.reason)
    return { code: isSlip ? INVALID_PARAMS : CAPABILITY_DENIED, message, isOurs: false }
  }
  if (FAILED_WRITES.has(code)) {
    const words = tool.journalFailure ?? `${tool.name} failed`
    return { code: INTERNAL_ERROR, message: `${words}: ${message}`, isOurs: false }
  }
  if (DENIALS.has(code)) return { code: CAPABILITY_DENIED, message, isOurs: false }
  if (code === 'FORGET_HELD') return { code: LEGAL_HOLD_ACTIVE, message, isOurs: false }
  if (code === 'TOOL_DISABLED') return { code: METHOD_NOT_FOUND, message, isOurs: false }
  if (code === 'TENANT_FORBIDDEN') {
    return { code: INVALID_PARAMS, message: `tenant_mismatch: ${message}`, isOurs: false }
  }
  if (code === 'READ_ONLY_CALLER') return { ...readOnlyRefusal(tool.name), isOurs: false }
  if (code === 'OBSERVATIONS_UNAVAILABLE') return { code: INTERNAL_ERROR, message, isOurs: true }
  if (code === 'CALL_TIMED_OUT') return { code: INTERNAL_ERROR, message, isOurs: true }
  if (code === 'CALL_CANCELLED') return { code: INTERNAL_ERROR, message, isOurs: false }
  if (STORAGE_FAILURE.test(code) && tool.journalFailure !== undefined) {
    return { code: INTERNAL_ERROR, message: tool.journalFailure, isOurs: true }
  }
  return internal(tool)
}

/** What a caller that may only read hears about a method or tool that it may not use. */
export function readOnlyRefusal(name: string): { readonly code: number; readonly message: string } {
  return {
    code: METHOD_NOT_FOUND,
    message: `'${name}' is not available to read-only OAuth callers (mcp:read scope)`,
  }
}

function internal(tool: Pick<Tool, 'name'>): CallFailure {
  return {
    code: INTERNAL_ERROR,
    message: `${tool.name} failed on the server; its log says why`,
    isOurs: true,
  }
}
