import { dispatchTokens, isObject, passportOf } from 'crux-types'
import { METHOD_NOT_FOUND } from '../protocol/codes.js'
import type { CallOutcome, ToolCall, ToolHost } from './call-tool.js'
import type { Tool } from './define-tool.js'

/** What metrics, log and spans call a tool that nobody can call. */
export const UNKNOWN_TOOL = 'unknown'
/** Longest request whose arguments are written out once more to be measured and remembered. */
const MAX_WRITTEN_BYTES = 64 * 1024
const NO_ARGUMENTS: Readonly<Record<string, unknown>> = Object.freeze({})

/** A call that has its outcome. */
export interface FinishedCall {
  /** Undefined when no tool has that name. */
  readonly tool: Tool | undefined
  readonly call: ToolCall
  readonly outcome: CallOutcome
  readonly durationMs: number
}

/**
 * Account for a finished call: tokens, metrics, ledger, trace and log, in this order.
 *
 * Tokens of the answer are those of the text that goes out. Those of the arguments are measured on
 * their compact JSON; of a request above 64 KiB its bytes stand for them, and it leaves no signature.
 */
export function observeCall(
  { tool, call, outcome, durationMs }: FinishedCall,
  { observe, metrics, log }: ToolHost,
): void {
  const passport = passportOf(call.caller)
  const sent = call.arguments ?? NO_ARGUMENTS
  const args = isObject(sent) ? sent : NO_ARGUMENTS
  const argsText = call.sizeBytes > MAX_WRITTEN_BYTES ? undefined : writeArguments(sent)
  const error = 'error' in outcome ? outcome.error : undefined
  const status = error === undefined ? 'ok' : 'error'
  const tokensIn =
    argsText === undefined ? Math.floor(call.sizeBytes / 4) : dispatchTokens(argsText)
  const said = 'result' in outcome ? outcome.result : outcome.error.message
  const tokensOut = dispatchTokens(said)
  const tokenBudget = declaredBudget(args.token_budget)
  observe.accounts.add(passport, { tokensIn, tokensOut, declaredBudget: tokenBudget })

  // Any string arrives as a name, and each label makes a time series of its own.
  const isUnknown = tool === undefined || error?.code === METHOD_NOT_FOUND
  const label = isUnknown ? UNKNOWN_TOOL : tool.name
  metrics?.toolCall(label, status, durationMs, tokensIn + tokensOut)

  observe.ledger?.called(call.caller, {
    tool: label,
    args: sent,
    argsText,
    sizeBytes: call.sizeBytes,
    resultBytes: Buffer.byteLength(said),
    tokensIn,
    tokensOut,
    durationMs,
    outcome: status,
    tokenBudget,
    requestId: call.requestId,
  })

  observe.traces?.record(passport, {
    tool: call.name,
    isWrite: tool?.effect === 'write',
    args,
    argsText: isObject(sent) ? argsText : undefined,
    outcome: status,
    responseTokens: tokensOut,
  })

  if (error !== undefined) {
    const fields = { tool: label, agent: call.caller.agent, ms: Math.round(durationMs) }
    log.info({ ...fields, code: error.code }, 'tool call refused')
  } else if (log.debug !== undefined) {
    const fields = { tool: label, agent: call.caller.agent, ms: Math.round(durationMs) }
    log.debug(fields, 'tool call')
  }
}

/** Compact JSON; undefined when it is nested too deeply to be written. */
function writeArguments(sent: unknown): string | undefined {
  try {
    return JSON.stringify(sent)
  } catch {
    return undefined
  }
}

function declaredBudget(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}
