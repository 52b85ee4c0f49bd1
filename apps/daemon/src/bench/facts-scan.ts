import { effectiveConfidence, type Fact, freshnessAt, horizonsOf } from 'crux-memory'
import { fullWithinBudget } from 'crux-retrieval'

/** A question of the bench; words are joined by spaces. */
export interface BenchQuery {
  readonly query: string
  readonly topK?: number
  readonly tokenBudget?: number
  readonly minEffectiveConfidence?: number
  /** As query_facts asks without a budget and a floor. */
  readonly isCounted?: false
}

/** What a question should answer. */
export interface ScanAnswer {
  readonly ids: readonly string[]
  readonly matched: number
}

/** A fact as a scan looks at it. */
interface Scanned {
  readonly id: string
  readonly value: string
  readonly key: string
  readonly entity: string
  readonly confidence: number
  readonly storedAt: number
  readonly tokens: number
}

const DEFAULT_TOP_K = 10

/**
 * Facts as plain objects in a list, and the plain way to answer: look at each of them.
 *
 * Texts are lower-cased once, when they are added, which favours the scan.
 */
export class PlainScan {
  private readonly rows: (Scanned | undefined)[] = []
  private readonly places = new Map<string, number>()
  private readonly horizons = horizonsOf()

  /** @param now - Time at which confidences are taken; milliseconds since 1970-01-01 UTC. */
  constructor(private readonly now: number) {}

  add(fact: Fact): void {
    const storedAt = Date.parse(fact.stored_at)
    const freshness = freshnessAt(this.horizons, fact.horizon_class, storedAt, this.now)
    this.places.set(fact.fact_id, this.rows.length)
    this.rows.push({
      id: fact.fact_id,
      value: fact.value.toLowerCase(),
      key: fact.key.toLowerCase(),
      entity: fact.entity.toLowerCase(),
      confidence: effectiveConfidence(Math.fround(fact.confidence), freshness),
      storedAt,
      tokens: fact.tokens,
    })
  }

  /** Take a fact out that another one replaced. */
  retire(id: string): void {
    const place = this.places.get(id)
    if (place !== undefined) this.rows[place] = undefined
  }

  /** Facts that hold a word. */
  count(word: string): number {
    let count = 0
    for (const row of this.rows) if (row !== undefined && holds(row, [word])) count++
    return count
  }

  answer(query: BenchQuery): ScanAnswer {
    const terms = query.query.toLowerCase().split(' ')
    const floor = query.minEffectiveConfidence
    const found: number[] = []
    this.rows.forEach((row, place) => {
      if (row === undefined || !holds(row, terms)) return
      if (floor === undefined || row.confidence >= Math.fround(floor)) found.push(place)
    })
    const ranked = found.sort((a, b) => this.compare(a, b))
    const costs = ranked.map((place) => this.rows[place]?.tokens ?? 0)
    const taken =
      query.tokenBudget === undefined
        ? (query.topK ?? DEFAULT_TOP_K)
        : fullWithinBudget(costs, query.tokenBudget)
    const ids = ranked.slice(0, taken).map((place) => this.rows[place]?.id ?? '')
    return { ids, matched: ranked.length }
  }

  private compare(a: number, b: number): number {
    const first = this.rows[a]
    const second = this.rows[b]
    if (first === undefined || second === undefined) return 0
    return second.confidence - first.confidence || second.storedAt - first.storedAt || b - a
  }
}

function holds(row: Scanned, terms: readonly string[]): boolean {
  for (const term of terms) {
    if (row.value.includes(term) || row.key.includes(term) || row.entity.includes(term)) return true
  }
  return false
}
