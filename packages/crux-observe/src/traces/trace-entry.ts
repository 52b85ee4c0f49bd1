import type { PredictedEffect } from './predicted-effect.js'

/** One finished tool call, as it is looked back on. */
export interface TraceEntry {
  readonly tool: string
  /** Counts the calls of all passports. */
  readonly sequence: number
  /** What the caller called the turn, when it named one. */
  readonly turnId?: string
  /** When the call ended, in microseconds since 1970. */
  readonly at: number
  /** One, or none where it would name an entity of the system or a private one. */
  readonly effects: readonly PredictedEffect[]
  readonly outcome: 'ok' | 'error'
  /** What was asked, in canonical form; absent where it is too long or must not be shown. */
  readonly signature?: string
  /** Tokens of the answer, as the dispatch estimator counts them. */
  readonly responseTokens: number
}

/** A call that has just ended. */
export interface TracedCall {
  readonly tool: string
  /** Whether the tool changes what is stored. */
  readonly isWrite: boolean
  readonly args: Readonly<Record<string, unknown>>
  /** Compact JSON of `args`; absent where writing it would take too long. */
  readonly argsText?: string | undefined
  readonly outcome: 'ok' | 'error'
  readonly responseTokens: number
}
