import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ClientCapabilities, ServerContext } from '@modelcontextprotocol/server'
import type { Caller } from 'crux-types'
import type { StreamHolder } from '../http/event-streams.js'
import type { Dispatch } from '../protocol/dispatch.js'
import type { Era } from './era.js'
import type { HeldResults } from './held-result.js'

/** Where a request came from, as dispatch wants to know it. */
export type RequestSource = Parameters<Dispatch>[1]

/** A request that passed the gates. */
export interface GatedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly sessionId: string | undefined
  readonly from: RequestSource
}

/** One request of the full profile, as those see it who answer it. */
export interface FullRequest extends StreamHolder {
  readonly era: Era
  readonly from: RequestSource
  readonly sessionId: string | undefined
  /** Results that are put into the answer once it is written. */
  readonly held: HeldResults
  /** What its client can be asked. */
  readonly capabilities: ClientCapabilities
  /** Names the method and what it is about; what a client brings back counts for the same only. */
  readonly subject: string
}

/** A call of a tool or a prompt while it runs. */
export interface FullCall {
  readonly caller: Caller
  readonly capabilities: ClientCapabilities
  readonly context: ServerContext
  /** Mark a value as ours before a client carries it. */
  seal(value: unknown): Promise<string>
  /** Tell the client, when it asked to be told. */
  log(level: LogLevel, data: unknown): Promise<void>
}

/** Levels of what is told to clients, least first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
