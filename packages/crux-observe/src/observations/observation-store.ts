import type { Caller } from 'crux-types'
import type { Acknowledgement, Observation, ObservationInput } from './observation.js'
import type { Verification } from './verify-record.js'

/** Which records of a session are wanted. */
export interface ObservationQuery {
  /** Milliseconds since 1970; records of that time and later, and those without a readable time. */
  readonly since?: number | undefined
  readonly provider?: string | undefined
  readonly kind?: string | undefined
  /** Id of the record after which to go on. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Records of a session, in the order in which they were written. */
export interface ObservationPage {
  readonly observations: readonly Observation[]
  /** Whether there are more. */
  readonly hasMore: boolean
}

/** What there is of a session. */
export interface ObservedSession {
  /** As the caller asks for it. */
  readonly sessionId: string
  readonly count: number
  /** RFC 3339; null when no record has a readable time. */
  readonly firstAt: string | null
  readonly lastAt: string | null
  /** Records by kind, and by provider. */
  readonly kinds: Readonly<Record<string, number>>
  readonly providers: Readonly<Record<string, number>>
}

/** Records that hold a text. */
export interface FoundText {
  readonly sessionId: string
  readonly observationId: string
}

/**
 * Signed records of what agents and programs did, chained within their file, so that none can be changed or
 * taken out unnoticed. Nothing is ever recalled from them on its own.
 */
export interface ObservationStore {
  /**
   * Keep records of a session, in this order. Durable when it resolves; after an error some may have been kept.
   *
   * @throws {CruxError} see `ObserveErrorCode`; `SESSION_ID_INVALID`, `SESSION_ID_RESERVED`,
   *   `SESSION_OWNER_INVALID`; `READ_ONLY_CALLER`; the codes of the storage.
   */
  record(
    caller: Caller,
    sessionId: string,
    inputs: readonly ObservationInput[],
  ): Promise<readonly Acknowledgement[]>
  /** Keep what the daemon itself says about calls of this caller, in the session `ledger::<passport>`. */
  recordCalls(caller: Caller, inputs: readonly ObservationInput[]): Promise<void>
  /**
   * Records from the oldest on. At most 1 MiB of them, but one at least.
   *
   * @throws {CruxError} `OBSERVATION_NOT_FOUND`, and those of session ids.
   */
  list(
    caller: Caller,
    sessionId: string,
    query: ObservationQuery,
    signal?: AbortSignal,
  ): Promise<ObservationPage>
  get(
    caller: Caller,
    sessionId: string,
    observationId: string,
    signal?: AbortSignal,
  ): Promise<Observation | undefined>
  /** Hold a record against its receipt and its file against the chain; undefined when there is no such record. */
  verify(
    caller: Caller,
    sessionId: string,
    observationId: string,
    signal?: AbortSignal,
  ): Promise<Verification | undefined>
  /** Sessions of which the caller sees records, the latest first. */
  sessions(
    caller: Caller,
    query: { readonly since?: number | undefined; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<readonly ObservedSession[]>
  /** Records that the caller sees and that hold one of these texts; looks through 64 MiB of files, for at most 100. */
  find(
    caller: Caller,
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly FoundText[]>
  /** Put files away whose newest record is older than that; returns how many. */
  archiveBefore(time: number): Promise<number>
  close(): Promise<void>
}
