import { isAuditReserved } from 'crux-memory'
import { contentHash } from 'crux-retrieval'
import { callSignature } from './call-signature.js'
import { predictEffect } from './predicted-effect.js'
import type { TracedCall, TraceEntry } from './trace-entry.js'

/** Longest JSON of arguments that is kept as it is, in UTF-16 units; longer ones are abridged. */
const MAX_KEPT_TEXT = 2048
/** Longest abridged signature, and longest entity, key and turn of one, in UTF-16 units. */
const MAX_ABRIDGED = 512
/** Longest name of a tool: any string arrives as one. */
const MAX_TOOL_NAME = 128
/** What an entry costs besides its texts, in UTF-16 units. */
const ENTRY_UNITS = 64

type Shown = Pick<TraceEntry, 'turnId' | 'effects' | 'signature'>

/**
 * One call as the ring keeps it: small, and made in as little time as can be.
 *
 * The text of the arguments exists anyway when a call ends; the signature and the effects are
 * worked out from it when somebody looks.
 */
export interface StoredCall {
  readonly tool: string
  readonly isWrite: boolean
  /** Milliseconds since 1970. */
  readonly at: number
  readonly sequence: number
  readonly outcome: 'ok' | 'error'
  readonly responseTokens: number
  /** JSON of the arguments, or what is shown of long ones. */
  readonly args: string | Shown
  /** Size in memory, in UTF-16 units. */
  readonly units: number
}

/** Keep what is needed of a call, within a bound whatever its arguments are. */
export function storeCall(
  call: TracedCall,
  { at, sequence }: Pick<StoredCall, 'at' | 'sequence'>,
): StoredCall {
  const tool = call.tool.slice(0, MAX_TOOL_NAME)
  const { argsText, isWrite, outcome, responseTokens } = call
  const isShort = argsText !== undefined && argsText.length <= MAX_KEPT_TEXT
  const args = isShort ? argsText : abridge(tool, call)
  const size = typeof args === 'string' ? args.length : MAX_ABRIDGED * 4
  const units = tool.length + size + ENTRY_UNITS
  return { tool, isWrite, at, sequence, outcome, responseTokens, args, units }
}

/**
 * A kept call as it is shown.
 *
 * @param forgottenAt - Sequence of the last forgetting: what was written before may be among it.
 */
export function showCall(call: StoredCall, forgottenAt: number): TraceEntry {
  const { tool, sequence, at, outcome, responseTokens, args } = call
  const { signature, ...shown } = typeof args === 'string' ? show(tool, parse(args)) : args
  const isHidden = call.isWrite && sequence < forgottenAt
  return {
    tool,
    sequence,
    at: at * 1000,
    outcome,
    responseTokens,
    ...shown,
    ...(signature === undefined || isHidden ? {} : { signature }),
  }
}

function show(tool: string, args: Readonly<Record<string, unknown>>): Shown {
  const { turn_id } = args
  const effect = predictEffect(tool, args)
  const isReserved = isAuditReserved(effect.entity)
  return {
    ...(typeof turn_id === 'string' ? { turnId: turn_id } : {}),
    effects: isReserved ? [] : [effect],
    ...(isReserved ? {} : { signature: callSignature(tool, args) }),
  }
}

/** The same for long arguments: everything cut, a hash in place of what was cut from the signature. */
function abridge(tool: string, { args, argsText }: TracedCall): Shown {
  const cut = (text: string): string => text.slice(0, MAX_ABRIDGED)
  // Of what nobody wrote down there is no signature: spelling it out would hold up other calls.
  const { turnId, effects, signature } = show(tool, argsText === undefined ? namesOf(args) : args)
  return {
    ...(turnId === undefined ? {} : { turnId: cut(turnId) }),
    effects: effects.map((effect) => ({
      ...effect,
      entity: cut(effect.entity),
      key: cut(effect.key),
    })),
    ...(signature === undefined || argsText === undefined
      ? {}
      : { signature: `${cut(signature)}…#${contentHash(signature)}` }),
  }
}

function namesOf({ turn_id, entity, key }: Readonly<Record<string, unknown>>) {
  return { turn_id, entity, key }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(text) // written from an object of this shape
}
