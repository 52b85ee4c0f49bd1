import type { Caller } from 'crux-types'

/** Session state as its owner sees it. */
export interface Session {
  readonly sessionId: string
  /** Any JSON value. */
  readonly state: unknown
  /** RFC 3339. */
  readonly updatedAt: string
  /** UTF-8 bytes of the state's compact JSON over four, rounded up. */
  readonly totalTokens: number
  /** RFC 3339; null when it does not expire. */
  readonly expiresAt: string | null
  readonly archived: boolean
}

/** Working state of agents, kept under a name until it is replaced, deleted or expires. */
export interface SessionStore {
  /** Replaces the whole record. Durable when it resolves. @throws {CruxError} see `SessionErrorCode`. */
  save(
    caller: Caller,
    input: { sessionId: string; state: unknown; ttlSeconds?: number },
  ): Promise<Session>
  get(caller: Caller, sessionId: string): Promise<Session | undefined>
  /** Ids that the caller sees, sorted ascending. */
  list(caller: Caller, options?: { includeArchived?: boolean }): Promise<readonly string[]>
  /** Remove what has expired; returns how many. */
  reap(): Promise<number>
  stats(): { readonly sessions: number }
  snapshot(): Promise<void>
  close(): Promise<void>
}
