import { cosine, type Embedder } from 'crux-retrieval'
import { createPauser, SYSTEM } from 'crux-types'
import { type FactTable, NONE } from '../facts/fact-table.js'
import type { RecallContext } from '../recall/recall-context.js'
import type { CandidateFacts } from './candidate-facts.js'

/** A stored fact, and the one that is most like it. */
export interface NearDuplicate {
  readonly factId: string
  readonly similarTo: string
  /** Cosine of the two, from the threshold to 1. */
  readonly score: number
}

/** Notices facts that say nearly what another one says. It merges and deletes nothing. */
export interface NearDuplicates {
  /** Have a fact looked at when the next look comes; beyond 1,000 that wait, it is left out and counted. */
  note(tenant: string, factId: string): void
  /**
   * Look at the facts that wait: each that is like another one becomes a candidate for review.
   *
   * One pass over a tenant's facts serves up to 256 that wait, in slices, and embeds each fact anew: some
   * 50 microseconds a fact. Looks do not overlap; a second call waits for the first.
   */
  drain(): Promise<readonly NearDuplicate[]>
  readonly waiting: number
  /** Facts that were not looked at because too many waited. */
  readonly leftOut: number
}

const MAX_WAITING = 1_000
const PER_PASS = 256
/** Facts that are embedded in one call. */
const BATCH = 16
/** Entities of the daemon's own records, and of agents' private facts, start so. */
const OWN_PREFIX = '__'

/** A fact that is looked at. */
interface Subject {
  readonly row: number
  readonly vector: Float32Array
  best: number
  similarTo: number
}

/**
 * @param options.threshold - Least cosine at which a fact is flagged.
 * @param options.candidates - Where flagged facts go.
 */
export function createNearDuplicates(options: {
  readonly context: RecallContext
  readonly embedder: Embedder
  readonly threshold: number
  readonly candidates: Pick<CandidateFacts, 'propose'>
}): NearDuplicates {
  const { context, embedder, threshold, candidates } = options
  const waiting: { readonly tenant: string; readonly factId: string }[] = []
  let leftOut = 0
  let looking: Promise<unknown> = Promise.resolve()

  const look = async (): Promise<NearDuplicate[]> => {
    const found: NearDuplicate[] = []
    while (waiting.length > 0) {
      const pass = waiting.splice(0, PER_PASS)
      for (const tenant of new Set(pass.map((one) => one.tenant))) {
        const table = context.projection.table(tenant)
        if (table === undefined) continue
        const ids = pass.filter((one) => one.tenant === tenant).map(({ factId }) => factId)
        for (const one of await findIn(table, ids, embedder, threshold)) {
          await propose(tenant, table, one)
          found.push(one)
        }
      }
    }
    return found
  }

  const propose = async (
    tenant: string,
    table: FactTable,
    { factId, similarTo, score }: NearDuplicate,
  ): Promise<void> => {
    const row = table.ids.find(factId)
    // What was deleted or forgotten meanwhile is not copied into the queue.
    if (row === NONE || !isEligible(table, row) || !isEligible(table, table.ids.find(similarTo))) {
      return
    }
    await candidates.propose(
      { ...SYSTEM, tenant },
      {
        candidateId: `neardup-${factId}-${similarTo}`,
        proposedEntity: table.entity(row),
        proposedKey: table.key(row),
        proposedValue: table.value(row),
        rule: 'semantic_dedup',
        confidence: score,
        decayClass: 'volatile',
        source: { evidence: `${factId} is like ${similarTo}` },
      },
    )
  }

  return {
    note(tenant, factId) {
      if (waiting.length < MAX_WAITING) waiting.push({ tenant, factId })
      else leftOut++
    },
    drain() {
      const done = looking.then(look)
      looking = done.catch(() => undefined)
      return done
    },
    get waiting() {
      return waiting.length
    },
    get leftOut() {
      return leftOut
    },
  }
}

async function findIn(
  table: FactTable,
  factIds: readonly string[],
  embedder: Embedder,
  threshold: number,
): Promise<NearDuplicate[]> {
  const rows = factIds.map((id) => table.ids.find(id)).filter((row) => isEligible(table, row))
  const subjects: Subject[] = []
  await embedRows(table, rows, embedder, (row, vector) => {
    subjects.push({ row, vector, best: threshold, similarTo: NONE })
  })
  if (subjects.length === 0) return []

  const pause = createPauser()
  const end = table.size
  let batch: number[] = []
  const compare = () =>
    embedRows(table, batch, embedder, (row, vector) => {
      for (const subject of subjects) compareWith(table, subject, row, vector)
    })
  for (let row = 0; row < end; row++) {
    if (isEligible(table, row)) batch.push(row)
    if (batch.length === BATCH || row === end - 1) {
      await compare()
      batch = []
    }
    await pause()
  }
  return subjects.flatMap(({ row, similarTo, best }) =>
    similarTo === NONE
      ? []
      : [
          {
            factId: table.fact(row).fact_id,
            similarTo: table.fact(similarTo).fact_id,
            score: Math.min(best, 1),
          },
        ],
  )
}

/** Keep the most similar row; among equals the one that was stored first. */
function compareWith(table: FactTable, subject: Subject, row: number, vector: Float32Array): void {
  if (table.chainOfRow(row) === table.chainOfRow(subject.row)) return
  const score = cosine(subject.vector, vector)
  const isBetter = subject.similarTo === NONE ? score >= subject.best : score > subject.best
  if (!isBetter) return
  subject.best = score
  subject.similarTo = row
}

async function embedRows(
  table: FactTable,
  rows: readonly number[],
  embedder: Embedder,
  use: (row: number, vector: Float32Array) => void,
): Promise<void> {
  if (rows.length === 0) return
  const texts = rows.map((row) => `${table.entity(row)} ${table.key(row)} ${table.value(row)}`)
  const vectors = await embedder.embed(texts)
  for (const [index, row] of rows.entries()) {
    const vector = vectors[index]
    if (vector !== undefined) use(row, vector)
  }
}

/** Live, in force, shared, and not a record of the daemon. */
function isEligible(table: FactTable, row: number): boolean {
  return (
    row !== NONE &&
    !table.isDeleted(row) &&
    !table.isForgotten(row) &&
    !table.isPrivate(row) &&
    !table.isSuperseded(row, table.size) &&
    !table.entity(row).startsWith(OWN_PREFIX)
  )
}
