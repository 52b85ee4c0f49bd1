import type { FactStore, RankedFact } from 'crux-memory'
import { contentHash } from 'crux-retrieval'
import { cutUtf8 } from 'crux-types'
import { type JsonPiece, jsonPiece, valuePiece } from './json-piece.js'

/** Longest epitome, in UTF-8 bytes. */
const EPITOME_BYTES = 80
/** Most UTF-16 units that a store's fragments may hold together. */
const MAX_CACHED_UNITS = 8 * 1024 * 1024
// A fact that takes more is written anew each time: quoting it is a small part of sending it.
const MAX_CACHED_VALUE = 4096

/** The parts of an answer that tell of one fact, ready to be put together. */
export interface FactFragments {
  /** Item of `rows`. */
  readonly row: string
  /** Item of `pointers` when the text is given. */
  readonly exact: JsonPiece
  /** Item of `pointers` when it is not. */
  readonly demoted: () => JsonPiece
  /** Item of `content`. */
  readonly content: JsonPiece
  /** Item of `memories_used`. */
  readonly memory: JsonPiece
  /** `freshness` of an envelope whose first fact it is. */
  readonly freshness: JsonPiece
  /** The entity as the caller sees it, as a JSON string. */
  readonly entity: JsonPiece
  /** Bytes of the value over four, rounded down. */
  readonly valueTokens: number
}

interface Kept {
  /** What they were written for. */
  readonly of: RankedFact
  readonly fragments: FactFragments
  readonly units: number
}

/**
 * Fragments of facts, kept for as long as their store lives and within a bound.
 *
 * What a version of a fact says never changes and its standing seldom does, so both are quoted
 * once and not in every answer: that took longer than finding the facts.
 */
export class FragmentCache {
  private static readonly byStore = new WeakMap<FactStore, FragmentCache>()

  private readonly kept = new Map<string, Kept>()
  private units = 0

  /** The cache of a store. */
  static of(store: FactStore): FragmentCache {
    let cache = FragmentCache.byStore.get(store)
    if (cache === undefined) {
      cache = new FragmentCache()
      FragmentCache.byStore.set(store, cache)
    }
    return cache
  }

  get(ranked: RankedFact): FactFragments {
    const { fact } = ranked
    const found = this.kept.get(fact.fact_id)
    if (found !== undefined && isSame(found.of, ranked)) return found.fragments
    const fragments = writeFragments(ranked)
    if (fact.value.length <= MAX_CACHED_VALUE) this.keep(ranked, fragments, found?.units ?? 0)
    return fragments
  }

  private keep(of: RankedFact, fragments: FactFragments, replaced: number): void {
    const { row, exact, content, memory, freshness } = fragments
    const units = [exact, content, memory, freshness].reduce(
      (sum, { plain, quoted }) => sum + plain.length + quoted.length,
      row.length + of.fact.value.length,
    )
    this.kept.set(of.fact.fact_id, { of, fragments, units })
    this.units += units - replaced
    // The ones that came first go first: all are cheap to write again.
    for (const [oldest, { units: freed }] of this.kept) {
      if (this.units <= MAX_CACHED_UNITS) break
      this.kept.delete(oldest)
      this.units -= freed
    }
  }
}

/** Whether two sights of one version of a fact read the same. */
function isSame(a: RankedFact, b: RankedFact): boolean {
  return (
    a.effectiveConfidence === b.effectiveConfidence &&
    a.ageHours === b.ageHours &&
    a.freshness === b.freshness &&
    a.fact.superseded_by === b.fact.superseded_by &&
    a.fact.horizon_class === b.fact.horizon_class &&
    a.entity === b.entity
  )
}

function writeFragments(ranked: RankedFact): FactFragments {
  const { fact, entity, effectiveConfidence, freshness, ageHours } = ranked
  const { fact_id, key, value } = fact
  // No more of a long value than can remain after the cut.
  const whole = `${entity} ${key} = ${value.slice(0, EPITOME_BYTES)}`
  const epitome = cutUtf8(whole, EPITOME_BYTES)
  const piece = (item: object): JsonPiece => jsonPiece(JSON.stringify(item))
  const pointer = { id: fact_id, score: effectiveConfidence, epitome }
  let demoted: JsonPiece | undefined
  return {
    row: JSON.stringify({
      fact_id,
      entity,
      key,
      value,
      confidence: fact.confidence,
      effective_confidence: effectiveConfidence,
      horizon_class: fact.horizon_class,
      freshness,
      age_hours: ageHours,
      superseded_by: fact.superseded_by ?? null,
      actor: fact.actor ?? null,
    }),
    exact: piece({ ...pointer, reason: 'Exact' }),
    demoted: () => {
      demoted ??= piece({ ...pointer, reason: 'Demoted', content_hash: contentHash(value) })
      return demoted
    },
    content: piece({ id: fact_id, text: value }),
    memory: piece({ fact_id, topic: entity, freshness }),
    freshness: piece({
      effective_confidence: effectiveConfidence,
      age_hours: ageHours,
      horizon_class: fact.horizon_class,
      superseded_by: fact.superseded_by ?? null,
    }),
    entity: valuePiece(entity),
    valueTokens: Math.floor(Buffer.byteLength(value) / 4),
  }
}
