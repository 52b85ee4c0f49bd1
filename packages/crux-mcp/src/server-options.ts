import type { DocumentStore } from 'crux-documents'
import type { FactStore, Substrate } from 'crux-memory'
import type { ActivityLog, Observability, ObservationStore } from 'crux-observe'
import type { SemanticProfile } from 'crux-retrieval'
import type { IntentStore, SessionPlans, SessionStore } from 'crux-session'
import type { Caller, Clock, TokenCounter } from 'crux-types'
import type { Features } from './features.js'
import type { FullProfileOptions } from './full/full-options.js'
import type { CapabilityGate, RevokedPassports } from './gates/call-gates.js'
import type { SurfaceMode } from './listing/surface-mode.js'
import type { OAuthOptions } from './oauth/oauth-options.js'
import type { AgentCardFacts } from './protocol/agent-card.js'
import type { BudgetLimits } from './result/token-budget.js'

/** What tools work on. A tool asks for its part with `Pick<Services, …>`. */
export interface Services {
  readonly facts: FactStore
  readonly documents: DocumentStore
  readonly sessions: SessionStore
  /** What callers said they are here for. */
  readonly intents: IntentStore
  /** What sessions may do. */
  readonly plans: SessionPlans
  readonly substrate: Substrate
  /** What agents and their hosts said that they did; absent when that is switched off. */
  readonly activity?: ActivityLog | undefined
  /** Signed records of sessions; absent where nothing is kept on disk. */
  readonly observations?: ObservationStore | undefined
  readonly clock: Clock
  /** Profile of the daemon's embedder, stated in retrieval answers; absent when there is none or it is not known yet. */
  readonly semanticProfile?: SemanticProfile | undefined
}

/** Where the surface reports what it did; `fields` never hold secrets or stored text. */
export interface McpLog {
  /** Finished calls; left out when absent. */
  debug?(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
}

/** Counters for the metrics endpoint. */
export interface McpMetrics {
  /**
   * One finished tool call; `tool` is `unknown` when no tool of that name can be called.
   *
   * @param tokens - Tokens of arguments and answer together.
   */
  toolCall(tool: string, outcome: 'ok' | 'error', durationMs: number, tokens: number): void
  /** An answer that left something out to fit its budget. */
  truncated(tool: string, reason: string): void
}

/** A registered agent: only the BLAKE3 hash of its token is kept. */
export interface AgentCredential {
  readonly name: string
  /** Hex BLAKE3-256 of the token. */
  readonly tokenHash: string
  readonly caller: Caller
}

/** Most event streams at a time; 0 is no limit. */
export interface StreamLimits {
  readonly total: number
  /** Of one agent, or of one address where callers have no name. */
  readonly perOwner: number
}

export interface McpServerOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly services: Services
  /** The product's version, for `serverInfo`. */
  readonly version: string
  /**
   * The agents that are registered now; asked on each request, so give the same array until they
   * change, and then tell {@link McpServer.agentsChanged}. Empty: anonymous callers are served.
   */
  readonly agents: () => readonly AgentCredential[]
  /** Caller of requests without a token, where they are served. */
  readonly anonymous: Caller
  /** Serve requests of this machine that carry no token also while agents are registered; default false. */
  readonly allowAnonymous?: boolean
  /** Callers with a token of an authorization server may read; none when absent. */
  readonly oauth?: OAuthOptions | undefined
  /** What the agent card says; without it there is none. */
  readonly agentCard?: AgentCardFacts | undefined
  /** Values of `Host` that are served besides loopback names and the bound address. */
  readonly allowedHosts: readonly string[]
  /** Values of `Origin` that are served besides loopback ones. */
  readonly allowedOrigins: readonly string[]
  /** Largest request body, in bytes. */
  readonly maxBodyBytes: number
  /** False until the daemon is ready; then 503 with Retry-After. */
  readonly isReady: () => boolean
  readonly log: McpLog
  readonly metrics?: McpMetrics
  readonly features: Features
  /** How much of the catalogue `tools/list` shows, asked for at each list; all of it when absent. */
  readonly toolSurface?: () => SurfaceMode
  /** List tools of extensions with `_` in the place of dots, which some clients refuse; default false. */
  readonly extensionAliases?: boolean
  /** Serve later revisions of the protocol too; absent: the default profile alone. */
  readonly full?: FullProfileOptions
  /** What is kept of calls; fresh and with its defaults when absent. */
  readonly observe?: Observability
  /** Decides by capability tokens who may call what; absent where nobody holds one. */
  readonly capabilities?: CapabilityGate
  /** Knows whose passport was revoked; absent where there are no passports. */
  readonly revoked?: RevokedPassports
  /** What the operator says about token budgets; nothing when absent. */
  readonly budgets?: BudgetLimits
  /** Says what texts cost against a budget; the stores count with the same one. Default: four bytes a token. */
  readonly tokenCounter?: TokenCounter
  /** How long one tool call may take, in milliseconds; default 30,000. */
  readonly callTimeLimitMs?: number
  /** Limits of event streams, asked for at each that is opened; 1,024 and 64 when absent. */
  readonly streamLimits?: () => StreamLimits
  /** Time between comments that keep event streams open, in milliseconds; default 15,000. */
  readonly keepAliveMs?: number
}

export interface McpServer {
  /** `http://HOST:PORT/mcp` */
  readonly url: string
  readonly port: number
  /** Tell streams that the tool list changed: one session's, or all. */
  notifyToolsChanged(sessionId?: string): void
  /** `options.agents` gives others now: end the streams of those who would not be let in any more. */
  agentsChanged(): void
  /** Stop listening, let calls in flight finish, end streams; safe to call twice. */
  close(): Promise<void>
  /** End what is still open. */
  closeNow(): void
}
