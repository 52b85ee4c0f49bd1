import type { Observability } from 'crux-observe'
import { type Caller, isObject, passportOf, type WorkWatch } from 'crux-types'
import { createExtensionCall } from '../extensions/extension-call.js'
import { extensionOptions } from '../extensions/extension-tools.js'
import { revokedAnswer } from '../gates/call-gates.js'
import { requireSessionBudget } from '../gates/session-budget.js'
import {
  CAPABILITY_DENIED,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
} from '../protocol/codes.js'
import { type Cursors, createCursors } from '../result/cursors.js'
import { normaliseResult } from '../result/normalise-result.js'
import { writeResult } from '../result/tool-result.js'
import type { McpServerOptions } from '../server-options.js'
import type { Tool } from './define-tool.js'
import { callFailure } from './error-map.js'
import { observeCall, UNKNOWN_TOOL } from './observe-call.js'
import { RunningCall } from './running-call.js'

/** Outcome of one call: JSON text of the result, or an error. */
export type CallOutcome =
  | { readonly result: string }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }

/** Everything that calls need and that stays the same between them. */
export type ToolHost = Pick<
  McpServerOptions,
  | 'services'
  | 'features'
  | 'budgets'
  | 'tokenCounter'
  | 'log'
  | 'metrics'
  | 'callTimeLimitMs'
  | 'capabilities'
  | 'revoked'
> & { readonly tools: readonly Tool[]; readonly observe: Observability }

/** One `tools/call` as it arrived. */
export interface ToolCall {
  readonly name: string
  readonly arguments: unknown
  readonly caller: Caller
  /** Some string of the request cannot be kept. */
  readonly hasLoneSurrogate: boolean
  /** Its signal aborts when the caller no longer waits. */
  readonly watch?: WorkWatch | undefined
  /** Bytes of the whole request. */
  readonly sizeBytes: number
  /** Id of the request, as its client gave it. */
  readonly requestId?: unknown
}

/** What is made once for all calls. */
interface CallParts {
  readonly cursors: Cursors
  readonly callExtension: ReturnType<typeof createExtensionCall>
}

/**
 * Build the one path that every tool call takes.
 *
 * In order: capability tokens, revoked passports, start of the span, the handler within its time
 * limit, accounts, metrics, trace. What capability tokens deny leaves no mark in any of the latter.
 */
export function createToolCaller(host: ToolHost): (call: ToolCall) => Promise<CallOutcome> {
  const byName = new Map(host.tools.map((tool) => [tool.name, tool]))
  const parts = {
    cursors: createCursors(),
    callExtension: createExtensionCall(extensionOptions(host)),
  }
  return async (call) => {
    const denial = host.capabilities?.deny(call.name, call.caller)
    if (denial !== undefined) return { error: { code: CAPABILITY_DENIED, ...denial } }
    const tool = byName.get(call.name)
    const started = performance.now()
    const outcome = refuseRevoked(call, host) ?? (await execute(tool, call, host, parts))
    observeCall({ tool, call, outcome, durationMs: performance.now() - started }, host)
    return outcome
  }
}

function refuseRevoked({ name, caller }: ToolCall, { revoked }: ToolHost): CallOutcome | undefined {
  const refusal = revoked && revokedAnswer(name, caller, revoked)
  return refusal && { result: writeResult(refusal, { ignored: [], boundedBy: null }) }
}

function execute(
  tool: Tool | undefined,
  call: ToolCall,
  host: ToolHost,
  parts: CallParts,
): Promise<CallOutcome> {
  const running = (): Promise<CallOutcome> => run(tool, call, host, parts)
  const { spans } = host.observe
  if (spans === undefined) return running()
  const span = spans.start(tool?.name ?? UNKNOWN_TOOL, passportOf(call.caller))
  return span.run(running).then((outcome) => {
    span.end('error' in outcome ? outcome.error.message : undefined)
    return outcome
  })
}

async function run(
  tool: Tool | undefined,
  call: ToolCall,
  host: ToolHost,
  { cursors, callExtension }: CallParts,
): Promise<CallOutcome> {
  if (tool === undefined) {
    const unknown = { code: METHOD_NOT_FOUND, message: `unknown tool: ${call.name}` }
    try {
      return { error: (await callExtension(call.name, call.caller)) ?? unknown }
    } catch (error) {
      host.log.warn({ err: error }, 'extensions could not be read')
      const message = 'extension dispatch failed: extensions could not be read; the log says why'
      return { error: { code: INTERNAL_ERROR, message } }
    }
  }
  const args = call.arguments ?? {}
  if (!isObject(args)) {
    const got = Array.isArray(args) ? 'array' : typeof args
    return { error: { code: INVALID_PARAMS, message: `arguments: expected object, got ${got}` } }
  }
  if (call.hasLoneSurrogate) {
    return {
      error: {
        code: INVALID_PARAMS,
        message: 'arguments hold an unpaired surrogate; send well-formed Unicode',
      },
    }
  }
  const context = new RunningCall(tool, call.caller, args, cursors, host, call.watch ?? {})
  try {
    requireSessionBudget(tool, call.caller, host.observe)
    const raw = tool.call(args, host.services, context)
    const result = normaliseResult(await context.orExpired(raw))
    if (result.notes?.budget?.truncated === true) host.metrics?.truncated(tool.name, 'token_budget')
    const about = { ignored: tool.ignored(args), boundedBy: tool.boundedBy }
    return { result: writeResult(result, about) }
  } catch (error) {
    const { code, message, isOurs, data } = callFailure(error, tool)
    if (isOurs) host.log.warn({ tool: tool.name, err: error }, 'tool call failed on this side')
    return { error: { code, message, data } }
  } finally {
    context.end()
  }
}
