import { cosine, type Embedder } from 'crux-retrieval'
import { cutForLog, redactSecrets } from 'crux-text'
import { type Caller, CruxError, createPauser, DEFAULT_TENANT, type Pause } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { Fact } from '../fact.js'
import type { BootstrapAnswer, BootstrapQuery } from '../fact-store.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { EXTENSION_GRANT_PREFIX, EXTENSION_PREFIX } from '../privacy.js'
import { termsOf } from '../text/white-space.js'
import { rowsOfEntities } from './candidates.js'
import { assertQueryText } from './query-facts.js'
import type { RecallContext } from './recall-context.js'
import { assertCount, takeRanked } from './take-ranked.js'
import type { VectorCache } from './vector-cache.js'

/** Start of the entities that hold bootstrap knowledge. */
export const BOOTSTRAP_PREFIX = '__bootstrap__::'

/** Start of the entities that say what nobody knows. */
export const GAPS_PREFIX = '__ops__::coverage'

/** Start of the entities that hold engrams. */
export const ENGRAM_PREFIX = '__engram__::'

const DEFAULT_FACTS = 100
const COSINE_WEIGHT = 0.6
const CONFIDENCE_WEIGHT = 0.4

interface Candidate {
  readonly table: FactTable
  readonly row: number
}

/** What {@link sharedFacts} ranks with when an embedder is configured. */
export interface Similarity {
  readonly cache: VectorCache
  readonly embedder: Embedder
  onWarning(message: string): void
}

/**
 * Bootstrap knowledge: live facts under the prefix in the caller's tenant, and those that the daemon
 * itself stored in the default tenant, except texts of its own that it replaced.
 *
 * @see sharedFacts for order and errors.
 */
export function bootstrapFacts(
  context: RecallContext,
  vectors: Similarity | undefined,
  caller: Caller,
  query: BootstrapQuery,
): Promise<BootstrapAnswer> {
  return sharedFacts(context, vectors, caller, query, {
    prefixes: [BOOTSTRAP_PREFIX],
    isSeedShared: true,
  })
}

/**
 * Records that the daemon keeps as facts for everybody in a tenant: gaps, engrams, extensions and
 * their grants.
 *
 * @see sharedFacts for order and errors.
 */
export function systemFacts(
  context: RecallContext,
  vectors: Similarity | undefined,
  caller: Caller,
  query: BootstrapQuery,
): Promise<BootstrapAnswer> {
  return sharedFacts(context, vectors, caller, query, {
    prefixes: [GAPS_PREFIX, ENGRAM_PREFIX, EXTENSION_PREFIX, EXTENSION_GRANT_PREFIX],
    isSeedShared: false,
  })
}

/**
 * Live facts whose stored entity starts with a prefix, whatever their private flag and superseded ones
 * included. No agent's private fact is among them: their stored entities start otherwise.
 *
 * With an embedder and a query every fact is a candidate, ranked by 0.6 cosine + 0.4 confidence;
 * without, the words filter and confidence ranks. Then newer first.
 *
 * @param vectors - Undefined when no embedder is configured.
 * @param scope.prefixes - One of them has to start the asked prefix, since this read applies no visibility.
 * @param scope.isSeedShared - Adds what the daemon itself stored in the default tenant.
 * @throws {CruxError} `QUERY_INVALID`, also for another prefix; `TEXT_INVALID`.
 */
async function sharedFacts(
  context: RecallContext,
  vectors: Similarity | undefined,
  caller: Caller,
  query: BootstrapQuery,
  scope: { readonly prefixes: readonly string[]; readonly isSeedShared: boolean },
): Promise<BootstrapAnswer> {
  assertCount('top_k', query.topK)
  assertCount('token_budget', query.tokenBudget)
  assertQueryText(query.query)
  if (!scope.prefixes.some((prefix) => query.entityPrefix.startsWith(prefix))) {
    throw new CruxError<MemoryErrorCode>(
      'QUERY_INVALID',
      `entity prefix '${query.entityPrefix.slice(0, 80)}' is not shared here; start it with ${scope.prefixes.map((prefix) => `'${prefix}'`).join(' or ')}`,
      { data: { field: 'entity_prefix', value: query.entityPrefix } },
    )
  }
  const pause = createPauser()
  let candidates = await collect(context, caller, query.entityPrefix, scope.isSeedShared, pause)
  const scores = await similarities(vectors, candidates, query.query)
  if (scores === undefined && query.query !== undefined) {
    candidates = await withTerms(candidates, termsOf(query.query), pause)
  }

  const taken = await takeRanked(
    async (offer) => {
      for (const [index, { table, row }] of candidates.entries()) {
        const confidence = table.confidence.get(row)
        const score =
          scores === undefined
            ? confidence
            : COSINE_WEIGHT * (scores[index] ?? 0) + CONFIDENCE_WEIGHT * confidence
        offer(score, table.storedAt.get(row), index)
        if ((index & 1023) === 1023) await pause()
      }
    },
    {
      topK: query.topK ?? DEFAULT_FACTS,
      tokenBudget: query.tokenBudget,
      isTiered: false,
    },
    (index) => {
      const candidate = candidates[index]
      return candidate === undefined ? 0 : context.cost(candidate.table, candidate.row, pause)
    },
  )
  const facts: Fact[] = []
  for (const { row: index } of taken.ranks) {
    const candidate = candidates[index]
    if (candidate !== undefined) facts.push(candidate.table.fact(candidate.row))
  }
  return {
    facts,
    totalTokens: taken.totalTokens,
    leftOut: taken.matched - facts.length,
  }
}

/** Whether the daemon itself replaced a text of its own. */
function isOutdatedSeed(table: FactTable, row: number): boolean {
  if (!table.isSeeded(row)) return false
  const by = table.retiredBy(row)
  const successor = by === undefined ? NONE : table.ids.find(by)
  return successor !== NONE && table.isSeeded(successor)
}

/** Older rows first, the daemon's own before the tenant's. */
async function collect(
  context: RecallContext,
  caller: Caller,
  prefix: string,
  isSeedShared: boolean,
  pause: Pause,
): Promise<Candidate[]> {
  const candidates: Candidate[] = []
  const tenants = new Set(isSeedShared ? [DEFAULT_TENANT, caller.tenant] : [caller.tenant])
  for (const tenant of tenants) {
    const table = context.projection.table(tenant)
    if (table === undefined) continue
    const pieces = await context.indexOf(table).entitiesStartingWith(prefix, pause)
    const rows = await rowsOfEntities(table, pieces.flat(), table.size, pause)
    for (const row of rows.sort((a, b) => a - b)) {
      if (table.isDeleted(row) || isOutdatedSeed(table, row)) continue
      if (tenant === caller.tenant || table.isSeeded(row)) candidates.push({ table, row })
    }
  }
  return candidates
}

async function withTerms(
  candidates: readonly Candidate[],
  terms: readonly string[],
  pause: Pause,
): Promise<Candidate[]> {
  const matching: Candidate[] = []
  for (const candidate of candidates) {
    const { table, row } = candidate
    const texts = [table.value(row), table.key(row), table.entity(row)]
    const lower = texts.map((text) => text.toLowerCase())
    if (terms.some((term) => lower.some((text) => text.includes(term)))) matching.push(candidate)
    await pause()
  }
  return matching
}

/** Cosine of each candidate with the query; undefined when words have to do. */
async function similarities(
  vectors: Similarity | undefined,
  candidates: readonly Candidate[],
  query: string | undefined,
): Promise<Float64Array | undefined> {
  if (vectors === undefined || query === undefined || query === '') return undefined
  const { cache, embedder, onWarning } = vectors
  try {
    const [wanted] = await embedder.embed([query])
    if (wanted === undefined) throw new Error('the embedder gave no vector')
    const scores = new Float64Array(candidates.length)
    await cache.visit(
      candidates.map(({ table, row }) => ({
        id: table.ids.id(row),
        text: () => `${table.entity(row)} ${table.key(row)} ${table.value(row)}`,
      })),
      (index, vector) => {
        scores[index] = cosine(vector, wanted)
      },
    )
    return scores
  } catch (error) {
    // A remote embedder's error may quote its address or the text.
    const reason = cutForLog(
      redactSecrets(error instanceof Error ? error.message : 'no reason'),
      200,
    )
    onWarning(`facts: the embedder failed, so words are matched instead: ${reason}`)
    return undefined
  }
}
