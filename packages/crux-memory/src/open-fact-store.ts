import { randomBytes } from 'node:crypto'
import type { Embedder } from 'crux-retrieval'
import type { Journal } from 'crux-storage'
import {
  type Clock,
  CruxError,
  hasCode,
  type IdSource,
  messageOf,
  type TokenCounter,
  toStoredTime,
  uuidHex,
} from 'crux-types'
import { createCandidateFacts } from './candidates/candidate-facts.js'
import { createNearDuplicates } from './candidates/near-duplicates.js'
import { createConsolidations } from './consolidation/consolidation.js'
import { horizonsOf } from './decay.js'
import type { MemoryErrorCode } from './errors.js'
import type { FactStore } from './fact-store.js'
import { FactProjection } from './facts/fact-projection.js'
import { FACT_STREAM } from './facts/journal-line.js'
import { readFactSnapshot, writeFactSnapshot } from './facts/snapshot.js'
import type { PurgeFailpoint } from './forgetting/eraser.js'
import { ErasureLane } from './forgetting/erasure-lane.js'
import type { ErasableCopies } from './forgetting/forgetting-store.js'
import { openForgetting } from './forgetting/open-forgetting.js'
import { createFactFreshness } from './freshness/fact-freshness.js'
import { RecallCounts } from './freshness/recall-counts.js'
import { openLegalHolds } from './legal-holds/open-legal-holds.js'
import { createMemoryPanel } from './panel/memory-panel.js'
import { createPrivacyPolicy } from './privacy.js'
import { aggregateFacts } from './recall/aggregate-facts.js'
import { bootstrapFacts, systemFacts } from './recall/bootstrap-facts.js'
import { listEntities } from './recall/list-entities.js'
import { queryFacts } from './recall/query-facts.js'
import { RecallContext } from './recall/recall-context.js'
import { VectorCache } from './recall/vector-cache.js'
import { factHistory, viewFacts } from './recall/view-facts.js'
import { exportFacts } from './transfer/export-facts.js'
import { type FactsUnderway, importFact } from './transfer/import-fact.js'
import { restoreFacts } from './transfer/restore-facts.js'
import { FactWriter } from './writing/fact-writer.js'

export interface FactStoreOptions {
  readonly journal: Journal
  readonly clock: Clock
  /** 32 hex digits for each new fact; random unless given. */
  readonly ids?: IdSource
  /** Entity starts that are private besides the built-in ones, and those of them to share. */
  readonly privacy?: {
    readonly alwaysPrivate: readonly string[]
    readonly share: readonly string[]
  }
  /** How long facts stay fresh; 24 hours, 35 days and 365 days unless given. */
  readonly decay?: {
    readonly volatileHours: number
    readonly mediumDays: number
    readonly stableDays: number
  }
  /** Facts that are recalled often stay fresh longer, until the next start; default false. */
  readonly countRecalls?: boolean
  /** Ranks bootstrap knowledge; null or absent: by words. */
  readonly embedder?: Embedder | null
  /** Flag facts whose vectors have at least this cosine, 0..1; needs the embedder. */
  readonly nearDuplicates?: { readonly threshold: number }
  /** Says what values cost against a token budget; default: four bytes a token. */
  readonly tokenCounter?: TokenCounter
  /** How values are forgotten. */
  readonly forgetting?: {
    /** Secret of the data directory, at least 16 bytes: what was shown before a restart can be confirmed after it. Random unless given. */
    readonly confirmKey?: Uint8Array
    /** Days in which a forgetting can be undone; 7 unless given, at least 1. */
    readonly windowDays?: number
    /** Other stores that hold copies of facts; asked for at each use. */
    readonly copies?: () => readonly ErasableCopies[]
    /** Called at each named step of an erasure, for crash tests. */
    readonly failpoint?: (name: PurgeFailpoint) => void
  }
  /** Told of journal lines that were skipped, and of an embedder that failed; without stored text. */
  readonly onWarning?: (message: string) => void
}

/** Days in which a forgetting can be undone, when nothing is configured. */
const DEFAULT_WINDOW_DAYS = 7
const MAX_DATE_MS = 8_640_000_000_000_000

/**
 * Facts over the journal stream `facts`.
 *
 * Loads the newest snapshot, replays what follows it, and keeps following the journal until closed.
 *
 * @throws {CruxError} the journal's codes.
 */
export async function openFactStore(options: FactStoreOptions): Promise<FactStore> {
  const { journal, clock, embedder } = options
  const onWarning = options.onWarning ?? (() => {})
  const policy = createPrivacyPolicy(options.privacy)
  const following = new AbortController()
  let isReplayed = false
  const projection = new FactProjection(policy, onWarning, (table) => {
    if (isReplayed) context.indexInBackground(table, following.signal)
  })
  const context = new RecallContext(
    projection,
    clock,
    horizonsOf(options.decay),
    options.countRecalls === true ? new RecallCounts() : undefined,
    options.tokenCounter,
  )
  const vectors = embedder ? { cache: new VectorCache(embedder), embedder, onWarning } : undefined
  let isClosed = false
  const requireOpen = (): void => {
    if (!isClosed) return
    throw new CruxError<MemoryErrorCode>('FACT_STORE_CLOSED', 'the fact store is closed')
  }
  const writer = new FactWriter(
    journal,
    {
      projection,
      policy,
      clock,
      ids: options.ids ?? uuidHex,
      lastStoredAt: new Map<string, number>(),
    },
    requireOpen,
  )

  const lane = new ErasureLane(journal, projection)
  const ids = options.ids ?? uuidHex
  const forgetting = openForgetting({
    journal,
    projection,
    context,
    lane,
    clock,
    confirmKey: options.forgetting?.confirmKey ?? randomBytes(32),
    windowDays: Math.max(options.forgetting?.windowDays ?? DEFAULT_WINDOW_DAYS, 1),
    copies: options.forgetting?.copies ?? (() => []),
    requireOpen,
    failpoint: options.forgetting?.failpoint ?? (() => {}),
  })

  const candidates = createCandidateFacts(context, writer)
  if (options.nearDuplicates !== undefined && !embedder) {
    onWarning('near-duplicates are not looked for: there is no embedder for facts')
  }
  const nearDuplicates =
    options.nearDuplicates !== undefined && embedder
      ? createNearDuplicates({ ...options.nearDuplicates, context, embedder, candidates })
      : undefined
  const storeAndNote: FactStore['store'] = async (caller, input) => {
    const stored = await writer.store(caller, input)
    nearDuplicates?.note(caller.tenant, stored.fact.fact_id)
    return stored
  }

  const importsUnderway: FactsUnderway = new Map()

  const snapshot = await journal.loadSnapshot(FACT_STREAM)
  if (snapshot !== undefined) {
    try {
      await readFactSnapshot(
        projection,
        snapshot.state,
        (table, index) => context.adopt(table, index),
        onWarning,
      )
      projection.applied = snapshot.at
    } catch (error) {
      if (!hasCode(error, 'SNAPSHOT_UNREADABLE')) throw error
      onWarning(`${messageOf(error)}; the journal is replayed instead`)
      projection.clear()
    }
  }
  await journal.follow(
    FACT_STREAM,
    projection.applied,
    (record, at) => projection.apply(record, at),
    following.signal,
  )
  isReplayed = true
  for (const table of projection.allTables()) context.indexInBackground(table, following.signal)

  return {
    // Not async where nothing is noted: a promise less for each fact that is stored.
    store:
      nearDuplicates === undefined ? (caller, input) => writer.store(caller, input) : storeAndNote,

    async delete(caller, factId) {
      const isDone = await writer.change(caller, factId, {
        isLiveOnly: true,
        plan: (_fact, now) => ({
          lines: [{ op: 'delete', fact_id: factId, deleted_at: toStoredTime(now) }],
          result: true,
        }),
      })
      return isDone === true
    },

    async setValidity(caller, factId, bounds) {
      const { from, to } = bounds
      assertBounds(from, to)
      const isDone = await writer.change(caller, factId, {
        isLiveOnly: false,
        plan: (_fact, now) => ({
          lines: [
            {
              op: 'set_validity',
              fact_id: factId,
              ...(from !== undefined && { valid_from: toStoredTime(from) }),
              ...(to !== undefined && { valid_to: toStoredTime(to) }),
              set_at: toStoredTime(now),
            },
          ],
          result: true,
        }),
      })
      return isDone === true
    },

    async query(caller, query) {
      requireOpen()
      return queryFacts(context, caller, query)
    },

    async get(caller, factId) {
      requireOpen()
      const found = writer.find(caller, factId, true)
      return found && context.rankedFact(found.table, found.sight, found.row, clock.now())
    },

    async history(caller, entity, key, page) {
      requireOpen()
      return factHistory(context, caller, entity, key, page)
    },

    async aggregate(caller, query) {
      requireOpen()
      return aggregateFacts(context, caller, query)
    },

    async entities(caller) {
      requireOpen()
      return listEntities(context, caller)
    },

    async view(caller, filter) {
      requireOpen()
      return viewFacts(context, caller, filter)
    },

    async bootstrap(caller, query) {
      requireOpen()
      return bootstrapFacts(context, vectors, caller, query)
    },

    async systemRecords(caller, query) {
      requireOpen()
      return systemFacts(context, vectors, caller, query)
    },

    panel: createMemoryPanel(context, writer),
    freshness: createFactFreshness(context, writer),
    consolidations: createConsolidations(context, writer),
    candidates,
    nearDuplicates,

    forgetting,
    legalHolds: openLegalHolds({ projection, lane, clock, ids, requireOpen }),

    exportFacts: (caller, query) => exportFacts(projection, caller, query, requireOpen),

    importFact: (caller, input, { dryRun = false } = {}) =>
      importFact(writer, importsUnderway, caller, input, dryRun),

    async restoreFacts(caller, exported, { dryRun = false } = {}) {
      requireOpen()
      return restoreFacts({ journal, projection, clock }, caller, exported, dryRun)
    },

    stats() {
      let live = 0
      let versions = 0
      let indexed = 0
      for (const table of projection.allTables()) {
        live += table.live
        versions += table.size
        indexed += context.indexOf(table).rows
      }
      return { live, versions, indexed }
    },

    async snapshot() {
      requireOpen()
      const snapshot = writeFactSnapshot(projection, (table) => context.indexOf(table))
      try {
        await journal.saveSnapshot(FACT_STREAM, projection.applied, snapshot.state)
      } finally {
        snapshot.end()
      }
    },

    async close() {
      isClosed = true
      following.abort()
    },
  }
}

function assertBounds(from: number | undefined, to: number | undefined): void {
  const isTime = (ms: number | undefined): boolean =>
    ms === undefined || (Number.isInteger(ms) && Math.abs(ms) <= MAX_DATE_MS)
  if (
    isTime(from) &&
    isTime(to) &&
    (from ?? Number.NEGATIVE_INFINITY) <= (to ?? Number.POSITIVE_INFINITY)
  ) {
    return
  }
  throw new CruxError<MemoryErrorCode>(
    'VALIDITY_INVALID',
    `world time from ${from} to ${to}: expected whole milliseconds since 1970 that do not end before they start`,
    { data: { from, to } },
  )
}
