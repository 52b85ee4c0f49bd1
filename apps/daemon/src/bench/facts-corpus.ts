/** One fact to be stored by the bench. */
export interface BenchFact {
  readonly entity: string
  readonly key: string
  readonly value: string
  readonly confidence: number
  readonly horizonClass: 'none' | 'stable' | 'medium'
}

const WORDS = 50_000
const KEYS = 400
const FACTS_PER_ENTITY = 5
/** Bytes of a value: 40 to 200, 120 on average. */
const VALUE_BYTES_MIN = 40
const VALUE_BYTES_SPREAD = 160
/** One fact in so many is stored again, and so has two versions. */
export const RESTORE_EVERY = 50
const CONSONANTS = 'bcdfghjklmnprstvwz'
const VOWELS = 'aeiou'
const CONFIDENCES = [1, 1, 1, 0.95, 0.95, 0.9, 0.8, 0.5]
const CLASSES = ['none', 'none', 'none', 'stable', 'medium'] as const
const KINDS = ['service', 'execplan', 'incident', 'person', 'bench', 'design']

/**
 * Made-up facts, the same for every run: fact `n` depends on `n` alone.
 *
 * Values are words whose frequencies fall with their rank as in natural text, and in every other
 * value an identifier that occurs nowhere else, as in notes about systems; so the vocabulary grows
 * with the number of facts.
 */
export class FactCorpus {
  /** Most frequent first. */
  readonly words: readonly string[]
  private readonly cumulative = new Float64Array(WORDS)
  private readonly total: number

  /** @param facts - How many facts there are in all; a fifth as many entities. */
  constructor(private readonly facts: number) {
    const words = new Set<string>()
    const random = createRandom(1)
    while (words.size < WORDS) words.add(makeWord(random, words.size))
    this.words = [...words]
    let sum = 0
    for (let rank = 0; rank < WORDS; rank++) {
      sum += 1 / (rank + 1)
      this.cumulative[rank] = sum
    }
    this.total = sum
  }

  /** Fact `n`, from 0. */
  fact(n: number): BenchFact {
    const random = createRandom(n + 7)
    const entities = Math.max(Math.floor(this.facts / FACTS_PER_ENTITY), 1)
    const entity = n % entities
    return {
      entity: `${KINDS[entity % KINDS.length]}:${this.words[(entity * 31) % WORDS]}-${entity}`,
      // Facts of one entity have keys of their own, so that nothing is stored twice by chance.
      key: `${this.words[(Math.floor(n / entities) * 7 + entity) % KEYS]}`,
      value: this.value(random),
      confidence: pick(CONFIDENCES, random),
      horizonClass: pick(CLASSES, random),
    }
  }

  private value(random: () => number): string {
    const bytes = VALUE_BYTES_MIN + random() * VALUE_BYTES_SPREAD
    let text = random() < 0.5 ? this.word(random) : `job-${hex(random)}`
    while (text.length < bytes) text += ` ${this.word(random)}`
    return text
  }

  private word(random: () => number): string {
    const wanted = random() * this.total
    let low = 0
    let high = WORDS - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.cumulative[middle] ?? 0) < wanted) low = middle + 1
      else high = middle
    }
    return this.words[low] ?? ''
  }
}

/** Numbers within 0..1, the same for the same seed. @see "mulberry32", Tommy Ettinger (2017) */
export function createRandom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** One of a list. */
export function pick<T>(items: readonly T[], random: () => number): T {
  // Below the length, since the number is below 1.
  return items[Math.floor(random() * items.length)] as T
}

/** Frequent words are short. */
function makeWord(random: () => number, rank: number): string {
  const syllables = 2 + Math.floor(random() * (rank < 100 ? 1 : 3))
  let word = ''
  for (let i = 0; i < syllables; i++)
    word += pick([...CONSONANTS], random) + pick([...VOWELS], random)
  return random() < 0.5 ? word : word + pick([...CONSONANTS], random)
}

function hex(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}
