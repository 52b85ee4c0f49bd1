import { type Caller, CHARS4, CruxError, type TokenCounter } from 'crux-types'
import type { McpErrorCode } from '../errors.js'
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../protocol/codes.js'
import { isObject } from '../protocol/json-rpc.js'
import { type Contract, negotiateContract } from '../result/crc-v1.js'
import { type Cursors, createCursors } from '../result/cursors.js'
import { normaliseResult } from '../result/normalise-result.js'
import type { BudgetLimits } from '../result/token-budget.js'
import { writeResult } from '../result/tool-result.js'
import type { McpServerOptions } from '../server-options.js'
import type { CallContext, Tool } from './define-tool.js'
import { callFailure } from './error-map.js'

/** Outcome of one call: JSON text of the result, or an error. */
export type CallOutcome =
  | { readonly result: string }
  | { readonly error: { readonly code: number; readonly message: string } }

/** Everything that calls need and that stays the same between them. */
export type ToolHost = Pick<
  McpServerOptions,
  'services' | 'features' | 'budgets' | 'tokenCounter' | 'log' | 'metrics' | 'callTimeLimitMs'
> & { readonly tools: readonly Tool[] }

const DEFAULT_TIME_LIMIT_MS = 30_000
const UNKNOWN_TOOL = 'unknown'

/** One `tools/call` as it arrived. */
export interface ToolCall {
  readonly name: string
  readonly arguments: unknown
  readonly caller: Caller
  /** Some string of the request cannot be kept. */
  readonly hasLoneSurrogate: boolean
  /** Aborts when the caller no longer waits. */
  readonly signal?: AbortSignal
}

/**
 * Build the one path that every tool call takes: look up, check, run within the time limit, write
 * the result, report.
 */
export function createToolCaller(host: ToolHost): (call: ToolCall) => Promise<CallOutcome> {
  const byName = new Map(host.tools.map((tool) => [tool.name, tool]))
  const cursors = createCursors()
  return async (call) => {
    const tool = byName.get(call.name)
    if (tool === undefined) {
      const error = { code: METHOD_NOT_FOUND, message: `unknown tool: ${call.name}` }
      host.metrics?.toolCall(UNKNOWN_TOOL, 'error', 0)
      host.log.info({ tool: UNKNOWN_TOOL, agent: call.caller.agent }, 'call of an unknown tool')
      return { error }
    }
    const started = performance.now()
    const outcome = await run(tool, call, host, cursors)
    report(tool, call, outcome, performance.now() - started, host)
    return outcome
  }
}

async function run(
  tool: Tool,
  call: ToolCall,
  host: ToolHost,
  cursors: Cursors,
): Promise<CallOutcome> {
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
  const context = new RunningCall(tool, call.caller, args, cursors, host, call.signal)
  try {
    const raw = tool.call(args, host.services, context)
    const result = normaliseResult(await Promise.race([raw, context.expired]))
    if (result.notes?.budget?.truncated === true) host.metrics?.truncated(tool.name, 'token_budget')
    const about = { ignored: tool.ignored(args), boundedBy: tool.boundedBy }
    return { result: writeResult(result, about) }
  } catch (error) {
    const { code, message, isOurs } = callFailure(error, tool)
    if (isOurs) host.log.warn({ tool: tool.name, err: error }, 'tool call failed on this side')
    return { error: { code, message } }
  } finally {
    context.end()
  }
}

/** One call while it runs: what its handler may know, and its time limit. */
class RunningCall implements CallContext {
  /** Fails when the time is up or nobody waits any more; settles in no other way. */
  readonly expired: Promise<never>
  readonly contract: Contract
  private readonly timer: NodeJS.Timeout
  private controller: AbortController | undefined
  private isOver = false

  constructor(
    tool: Tool,
    readonly caller: Caller,
    readonly args: Readonly<Record<string, unknown>>,
    readonly cursors: Cursors,
    private readonly host: ToolHost,
    cancelled: AbortSignal | undefined,
  ) {
    this.contract = negotiateContract(args.contract)
    const limitMs = host.callTimeLimitMs ?? DEFAULT_TIME_LIMIT_MS
    let expire: (error: Error) => void
    this.expired = new Promise<never>((_resolve, reject) => {
      expire = reject
    })
    const stop = (error: Error): void => {
      // Signals of requests also abort when all is over; nobody waits for a failure then.
      if (this.isOver) return
      this.controller?.abort(error)
      expire(error)
    }
    this.timer = setTimeout(() => stop(timeUp(tool, limitMs)), limitMs)
    cancelled?.addEventListener('abort', () => stop(callCancelled(tool)), { once: true })
  }

  // Made on demand: it costs more than the rest of the wrapper, and few handlers ask for it.
  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    return this.controller.signal
  }

  get features(): ToolHost['features'] {
    return this.host.features
  }

  get budgets(): BudgetLimits {
    return this.host.budgets ?? {}
  }

  get tokenCounter(): TokenCounter {
    return this.host.tokenCounter ?? CHARS4
  }

  get tools(): ToolHost['tools'] {
    return this.host.tools
  }

  end(): void {
    this.isOver = true
    clearTimeout(this.timer)
  }
}

function timeUp(tool: Tool, limitMs: number): CruxError<McpErrorCode> {
  const advice =
    tool.effect === 'write'
      ? 'it may still complete, so read before you repeat it'
      : 'ask for less or try again'
  return new CruxError(
    'CALL_TIMED_OUT',
    `${tool.name} did not answer within ${limitMs / 1000} s; ${advice}`,
    { data: { tool: tool.name, limitMs } },
  )
}

function callCancelled(tool: Tool): CruxError<McpErrorCode> {
  return new CruxError('CALL_CANCELLED', `${tool.name} was cancelled by its caller`, {
    data: { tool: tool.name },
  })
}

function report(
  tool: Tool,
  call: ToolCall,
  outcome: CallOutcome,
  durationMs: number,
  { log, metrics }: ToolHost,
): void {
  const isError = 'error' in outcome
  metrics?.toolCall(tool.name, isError ? 'error' : 'ok', durationMs)
  const fields = { tool: tool.name, agent: call.caller.agent, ms: Math.round(durationMs) }
  if (isError) log.info({ ...fields, code: outcome.error.code }, 'tool call refused')
  else log.debug?.(fields, 'tool call')
}
