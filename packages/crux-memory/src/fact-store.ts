import type { Caller } from 'crux-types'
import type { CandidateFacts } from './candidates/candidate-facts.js'
import type { NearDuplicates } from './candidates/near-duplicates.js'
import type { Consolidations } from './consolidation/consolidation.js'
import type { Fact, Freshness, HorizonClass } from './fact.js'
import type { ForgettingStore } from './forgetting/forgetting-store.js'
import type { FactFreshness } from './freshness/fact-freshness.js'
import type { LegalHoldStore } from './legal-holds/legal-hold-store.js'
import type { MemoryPanel } from './panel/memory-panel.js'
import type { FactTransfer } from './transfer/fact-transfer.js'

export interface StoreFactInput {
  /** At most 4 KiB of UTF-8, no control characters. */
  readonly entity: string
  /** At most 4 KiB of UTF-8, no control characters. */
  readonly key: string
  /** At most 1 MiB of UTF-8. */
  readonly value: string
  readonly sourceReceipt?: string
  /** 0..1; default 1. */
  readonly confidence?: number
  /** Seen by the writing identity only; needs one. Default false. */
  readonly private?: boolean
  /** Default: by the entity's prefix. */
  readonly horizonClass?: HorizonClass
  /** Facts that this one retires besides its own earlier version; each must exist and be visible. */
  readonly supersedes?: readonly string[]
  readonly actor?: string
}

export interface StoreFactResult {
  readonly fact: Fact
  /** Entity as the caller sees it. */
  readonly entity: string
  /** Facts of `supersedes` that were retired. */
  readonly retired: readonly string[]
  /** Set when the writer itself will not see the fact on the ordinary read paths; says why and what to do. */
  readonly warning?: string
}

export interface FactQuery {
  /** Words, for `match`; blank matches nothing, absent all. */
  readonly query?: string
  /** How words match and rank; `substring` unless given. */
  readonly match?: FactMatch
  /** Exact stored or visible entity. */
  readonly entity?: string
  /** Start of the stored or visible entity. */
  readonly entityPrefix?: string
  /** Most rows when there is no budget; default 10. */
  readonly topK?: number
  /** Tokens; then `topK` does not apply, unless `isCapped`. */
  readonly tokenBudget?: number
  /** The budget has the best `topK` rows only, as when the caller did not ask for it. Default false. */
  readonly isCapped?: boolean
  /** False when `matched` and `filteredBelowThreshold` may be too low and `next` absent, which finds sooner. Default true. */
  readonly isCounted?: boolean
  /** Go on after a page of an equal query. */
  readonly after?: PageMark
  /** `tiered` keeps rows that do not fit as pointers of 40 tokens; `drop` (default) leaves them out. Only with a budget. */
  readonly overflow?: 'drop' | 'tiered'
  /** 0..1. */
  readonly minEffectiveConfidence?: number
  readonly includeSuperseded?: boolean
  /** World time, milliseconds since 1970-01-01 UTC. */
  readonly asOf?: number
}

/**
 * How the words of a query match and rank.
 *
 * - `substring`: any word occurs letter for letter, in either case; by confidence after decay.
 * - `ranked`: any stemmed word occurs; by BM25, with the statistics of what the caller sees, times
 *   confidence after decay.
 * - `hybrid`: both, by the sum of 1 / (60 + rank) over the best 1,000 of each.
 */
export type FactMatch = 'substring' | 'ranked' | 'hybrid'

/** What a score means: BM25 times confidence, or the sum of reciprocal ranks. */
export type FactScoreSpace = 'bm25_confidence' | 'reciprocal_rank'

/** Where a page ended, so that the next one can go on; plain numbers. */
export interface PageMark {
  /** Time at which confidences are taken, milliseconds since 1970-01-01 UTC. */
  readonly now: number
  /** Versions stored later are left out. */
  readonly limit: number
  readonly first: number
  readonly second: number
  readonly row: number
  /** Changes that move ranks, counted until then; 0 where ranks never move. */
  readonly changes: number
}

/** A fact as one caller sees it now. */
export interface RankedFact {
  readonly fact: Fact
  /** Entity as the caller sees it. */
  readonly entity: string
  /** Confidence after decay. */
  readonly effectiveConfidence: number
  readonly freshness: Freshness
  /** Whole hours since it was verified or stored. */
  readonly ageHours: number
  /** Higher is better; comparable within one answer only. Absent with `substring`. */
  readonly score?: number
  readonly scoreSpace?: FactScoreSpace
}

export interface FactPage {
  /** Best first; with `overflow: 'tiered'` the first `hydrated` in full, the others as pointers. */
  readonly rows: readonly RankedFact[]
  readonly hydrated: number
  /** Facts that matched and passed the floor, after `after`; what `isCapped` cut off does not count. */
  readonly matched: number
  readonly filteredBelowThreshold: number
  /** Tokens of the hydrated rows. */
  readonly totalTokens: number
  /** Where to go on; undefined when nothing is left or nothing was counted. */
  readonly next?: PageMark
  /** Whether ranks may have moved since the page before, so that facts are missing or repeat. */
  readonly hasMoved: boolean
}

export interface FactView {
  readonly rows: readonly RankedFact[]
  readonly totalTokens: number
  /** Visible facts that matched and were not given before, before `topK` and the budget. */
  readonly matched: number
  /** Where to go on after each row. */
  readonly marks: readonly PageMark[]
}

export interface AggregateQuery {
  /** How many, the sum of first numbers, how many different values, or newest number less an older one. */
  readonly op: 'count' | 'sum_numeric' | 'distinct' | 'temporal_diff'
  /** Exact; `temporal_diff` needs it. */
  readonly entity?: string
  /** Exact; `temporal_diff` needs it. */
  readonly key?: string
  /** Occurs in the value as it stands, in either letter case. */
  readonly query?: string
  /** Milliseconds since 1970-01-01 UTC: world time, and for `temporal_diff` the time of the older version. */
  readonly asOf?: number
  /** Tokens of the values to look at, by id; at least one is. */
  readonly tokenBudget?: number
}

export interface FactAggregate {
  readonly op: AggregateQuery['op']
  /** Facts that were taken into account; with `temporal_diff` versions. */
  readonly matched: number
  /** Null when there is no number to compare. */
  readonly value: number | null
  readonly tokensScanned: number
  /** The budget left facts out. */
  readonly isTruncated: boolean
}

/** Which versions of a history to give. */
export interface HistoryPage {
  /** Only versions above this one. */
  readonly afterVersion?: number
  /** Most versions. */
  readonly limit?: number
}

export interface BootstrapQuery {
  /** Start of the entity, such as `__bootstrap__::` or `__bootstrap__::<topic>:`. */
  readonly entityPrefix: string
  readonly query?: string
  /** Most facts; default 100. */
  readonly topK?: number
  readonly tokenBudget?: number
}

export interface BootstrapAnswer {
  readonly facts: readonly Fact[]
  readonly totalTokens: number
  /** Facts that matched and did not fit. */
  readonly leftOut: number
}

/** What of the live facts is looked through. */
export interface ViewFilter {
  readonly entity?: string
  readonly key?: string
  readonly topK?: number
  readonly tokenBudget?: number
  /** Go on after this mark; what was stored since its first page is left out. */
  readonly after?: PageMark
}

/**
 * Versioned facts over a journal. Every method takes the caller, and tenancy and visibility are
 * decided here and nowhere else.
 *
 * Writes resolve when durable. @throws {CruxError} see `MemoryErrorCode`, and the journal's codes.
 */
export interface FactStore extends FactTransfer {
  store(caller: Caller, input: StoreFactInput): Promise<StoreFactResult>
  /** False when no visible live fact has that id. */
  delete(caller: Caller, factId: string): Promise<boolean>
  /** Replace both bounds of world time; milliseconds since 1970-01-01 UTC. False when no visible fact has that id. */
  setValidity(
    caller: Caller,
    factId: string,
    bounds: { from?: number; to?: number },
  ): Promise<boolean>
  /** Substring recall: filter, rank, floor, budget. */
  query(caller: Caller, query: FactQuery): Promise<FactPage>
  /** A live visible fact. */
  get(caller: Caller, factId: string): Promise<RankedFact | undefined>
  /** Versions of one fact, deleted ones included, oldest first; all of them unless a page is asked for. */
  history(
    caller: Caller,
    entity: string,
    key: string,
    page?: HistoryPage,
  ): Promise<readonly RankedFact[]>
  /** Count, add up or compare facts that are live, current and not private. */
  aggregate(caller: Caller, query: AggregateQuery): Promise<FactAggregate>
  /** Names of visible entities with a live fact, sorted. */
  entities(caller: Caller): Promise<readonly string[]>
  /** Newest first, without reserved prefixes. */
  view(caller: Caller, filter: ViewFilter): Promise<FactView>
  /** Bootstrap knowledge of the caller's tenant, whatever its private flag. */
  bootstrap(caller: Caller, query: BootstrapQuery): Promise<BootstrapAnswer>
  /**
   * Gaps (`__ops__::coverage`), engrams (`__engram__::`), extensions (`__extension__::`) or their grants
   * (`__extension_grant__::`) of the caller's tenant, whatever their private flag.
   */
  systemRecords(caller: Caller, query: BootstrapQuery): Promise<BootstrapAnswer>
  /** Correct, pin, look back, say what was used. */
  readonly panel: MemoryPanel
  /** How fresh facts are, and what changes it. */
  readonly freshness: FactFreshness
  /** Contradictions, and one fact in the place of several. */
  readonly consolidations: Consolidations
  /** Facts that were proposed, for operators to review. */
  readonly candidates: CandidateFacts
  /** Facts that say nearly what another one says; undefined unless asked for. */
  readonly nearDuplicates: NearDuplicates | undefined
  readonly forgetting: ForgettingStore
  readonly legalHolds: LegalHoldStore
  /** Numbers for status and metrics. */
  stats(): {
    readonly live: number
    readonly versions: number
    /** Versions whose words are indexed; recall looks at the others one by one. */
    readonly indexed: number
  }
  /** Keep the state, so that a start need not replay everything. */
  snapshot(): Promise<void>
  close(): Promise<void>
}
