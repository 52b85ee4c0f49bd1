import { semanticProfile } from 'crux-retrieval'
import type { Hashes } from 'crux-segment'
import { CruxError, messageOf } from 'crux-types'
import type { DocumentEmbedders } from '../embedders.js'
import { embeddingFailed } from '../ingest/embed-chunks.js'
import type { SearchQuery } from '../search-types.js'
import type { ReaderSet } from '../segments/reader-set.js'
import type { QueryVector, VectorCount } from '../vectors/vector-set.js'

/** How long a query waits for its vector by default. */
export const DEFAULT_QUERY_TIMEOUT_MS = 5000

/** What a query is compared with. */
export interface FoundVector {
  /** Undefined when nothing is compared. */
  readonly query: QueryVector | undefined
  /** Why vectors do not take part, or not all of them. */
  readonly degraded: readonly string[]
}

/** What {@link findVector} works with. */
export interface VectorSources {
  readonly set: ReaderSet
  readonly hashes: Hashes
  readonly embedders: DocumentEmbedders
  readonly timeoutMs: number
}

const REEMBED = "run 'corecruxctl ccxi embed --all' to embed them again"

/**
 * The vector of a query, when the tenant has vectors that it can be compared with.
 *
 * @param isAsked - Whether vectors were asked for, so that having none is worth a word.
 * @throws {CruxError} `EMBEDDING_FAILED` for a strict query. @throws The reason of an abort.
 */
export async function findVector(
  sources: VectorSources,
  query: SearchQuery,
  isAsked: boolean,
  signal: AbortSignal | undefined,
): Promise<FoundVector> {
  const { set, hashes, embedders } = sources
  const embedder = embedders.query
  const isStrict = query.isStrict === true && embedders.isRequired
  const countFor = (profile: QueryVector['profile'] | undefined): Promise<VectorCount> =>
    set.query(async (readers) =>
      readers.vectors.count(query.tenant, (id) => readers.digestOf(id), profile),
    )
  const isKnown = embedder !== null && embedder.profile.dims > 0
  const before = await countFor(isKnown ? semanticProfile(embedder, hashes) : undefined)
  const without = (why: string): FoundVector => {
    if (isStrict) throw embeddingFailed('the query was not compared', new Error(why))
    return { query: undefined, degraded: [`vectors were not compared: ${why}`] }
  }
  if (before.comparable + before.others === 0) {
    if (!isAsked) return { query: undefined, degraded: [] }
    return { query: undefined, degraded: ['vectors were not compared: the tenant has none'] }
  }
  if (embedder === null) return without('no embedder for queries is configured')
  if (isKnown && before.comparable === 0) return without(`all are of another embedder; ${REEMBED}`)
  let vector: Float32Array
  try {
    vector = await embedQuery(sources, query.query, signal)
  } catch (error) {
    signal?.throwIfAborted()
    return without(messageOf(error))
  }
  const profile = semanticProfile(embedder, hashes)
  const { comparable, unnamed, others } = await countFor(profile)
  if (comparable === 0) return without(`all are of another embedder; ${REEMBED}`)
  if (isStrict && unnamed > 0) {
    return without(`${unnamed} segments do not name the embedder of theirs; ${REEMBED}`)
  }
  const skipped = `${others} of ${comparable + others} segments with vectors were left out: theirs are of another embedder; ${REEMBED}`
  if (isStrict && others > 0) return without(skipped)
  return { query: { vector, profile }, degraded: others === 0 ? [] : [skipped] }
}

async function embedQuery(
  { embedders, timeoutMs }: VectorSources,
  text: string,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const embedder = embedders.query
  if (embedder === null) throw new Error('no embedder for queries is configured')
  signal?.throwIfAborted()
  const limit = AbortSignal.timeout(timeoutMs)
  const both = signal === undefined ? limit : AbortSignal.any([limit, signal])
  const ended = new Promise<never>((_resolve, reject) => {
    both.addEventListener('abort', () => reject(both.reason), { once: true })
  })
  // An embedder that does not look at its signal is not waited for.
  let made: Float32Array[]
  try {
    made = await Promise.race([embedder.embed([text], both), ended])
  } catch (error) {
    if (!limit.aborted) throw error
    throw new CruxError('EMBED_TIMEOUT', `the query got no vector within ${timeoutMs} ms`)
  }
  const [vector] = made
  const { dims } = embedder.profile
  if (vector === undefined || made.length !== 1 || vector.length !== dims || dims === 0) {
    throw new RangeError(
      `the embedder gave ${made.length} vectors of ${vector?.length ?? 0} numbers, expected 1 of ${dims}`,
    )
  }
  if (!vector.every(Number.isFinite)) {
    throw new RangeError('the embedder gave a vector with a number that is not finite')
  }
  return vector
}
