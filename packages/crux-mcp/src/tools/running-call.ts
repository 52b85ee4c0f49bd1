import type { Observability } from 'crux-observe'
import { type Caller, CHARS4, CruxError, type TokenCounter, type WorkWatch } from 'crux-types'
import type { McpErrorCode } from '../errors.js'
import { type Contract, negotiateContract } from '../result/crc-v1.js'
import type { Cursors } from '../result/cursors.js'
import type { BudgetLimits } from '../result/token-budget.js'
import type { ToolHost } from './call-tool.js'
import type { CallContext, Tool } from './define-tool.js'

const DEFAULT_TIME_LIMIT_MS = 30_000

/** One call while it runs: what its handler may know, and its time limit. */
export class RunningCall implements CallContext {
  readonly contract: Contract
  private readonly timer: NodeJS.Timeout
  private controller: AbortController | undefined
  private stoppedBy: Error | undefined
  private expire: ((error: Error) => void) | undefined
  private isOver = false

  constructor(
    tool: Tool,
    readonly caller: Caller,
    readonly args: Readonly<Record<string, unknown>>,
    readonly cursors: Cursors,
    private readonly host: ToolHost,
    private readonly asked: WorkWatch,
  ) {
    this.contract = negotiateContract(args.contract)
    const limitMs = host.callTimeLimitMs ?? DEFAULT_TIME_LIMIT_MS
    const stop = (error: Error): void => {
      // Signals of requests also abort when all is over; nobody waits for a failure then.
      if (this.isOver) return
      this.stoppedBy = error
      this.controller?.abort(error)
      this.expire?.(error)
    }
    this.timer = setTimeout(() => stop(timeUp(tool, limitMs)), limitMs)
    asked.signal?.addEventListener('abort', () => stop(callCancelled(tool)), { once: true })
  }

  // Made on demand: it costs more than the rest of the wrapper, and few handlers ask for it.
  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.stoppedBy !== undefined) this.controller.abort(this.stoppedBy)
    return this.controller.signal
  }

  get watch(): WorkWatch {
    return { signal: this.signal, onProgress: this.asked.onProgress }
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

  get observe(): Observability {
    return this.host.observe
  }

  get tools(): ToolHost['tools'] {
    return this.host.tools
  }

  /**
   * What the handler answers; fails when the time is up or nobody waits any more.
   *
   * Written out, because `Promise.race` costs as much as the rest of this wrapper.
   */
  orExpired<T>(answer: T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.expire = reject
      Promise.resolve(answer).then(resolve, reject)
    })
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
