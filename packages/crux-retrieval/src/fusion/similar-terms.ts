import type { Pause } from 'crux-types'
import type { WeightedTerm } from '../lexical/lexical-types.js'
import type { SegmentWords } from './segment-words.js'

/** Characters of a gram. */
const GRAM = 4
/** Terms shorter than this share grams by chance, and longer ones are no words. */
const SHORTEST = 4
const LONGEST = 40
/** Share of the grams of two terms that they have in common from which they count as similar. */
const LEAST_SIMILARITY = 0.5
/** Most similar terms given for one. */
const MOST_SIMILAR = 2
/** Grams fall into this many lists by their hash. */
const LISTS = 1 << 14
/** Terms read between two looks at the clock. */
const SLICE = 1024
/** Terms whose similar ones are remembered. */
const MOST_REMEMBERED = 1 << 14

/** A term that looks like another one. */
export interface SimilarTerm {
  readonly term: string
  /** Dice coefficient of the character grams of both; 0..1. */
  readonly similarity: number
}

/**
 * Terms that share most of their characters with a given one, such as other forms of a word and
 * words with a slip of the pen. Remembers its answers while the segments stay the same.
 */
export class SimilarTerms {
  private readonly grams = new WeakMap<SegmentWords, TermGrams>()
  private readonly answers = new Map<string, readonly SimilarTerm[]>()
  private segments: readonly SegmentWords[] = []

  /** Look among the terms of these segments from now on. */
  setSegments(segments: readonly SegmentWords[]): void {
    const isSame =
      segments.length === this.segments.length &&
      segments.every((words, i) => words === this.segments[i])
    if (isSame) return
    this.segments = segments
    this.answers.clear()
  }

  /** What is remembered of a term; undefined when it has to be looked up by {@link find}. */
  known(term: string): readonly SimilarTerm[] | undefined {
    return this.answers.get(term)
  }

  /**
   * Terms that are similar to `term`, which is not among them; best first.
   *
   * @param pause - Awaited while the grams of a segment are collected, which happens once for each.
   */
  async find(term: string, pause: Pause): Promise<readonly SimilarTerm[]> {
    const { segments } = this
    const best = new Map<string, number>()
    if (hasGrams(term)) {
      for (const words of segments) {
        const grams = this.grams.get(words) ?? (await collectGrams(words, pause))
        this.grams.set(words, grams)
        for (const { term: other, similarity } of grams.similarTo(term)) best.set(other, similarity)
        await pause()
      }
    }
    const similar = [...best]
      .map(([other, similarity]) => ({ term: other, similarity }))
      .sort((a, b) => b.similarity - a.similarity || (a.term < b.term ? -1 : 1))
      .slice(0, MOST_SIMILAR)
    if (segments === this.segments) {
      if (this.answers.size >= MOST_REMEMBERED) this.answers.clear()
      this.answers.set(term, similar)
    }
    return similar
  }
}

/** What similar terms weigh beside the term itself: they count the less the less they share. */
export function weighSimilar(similar: readonly SimilarTerm[]): WeightedTerm[] {
  return similar.map(({ term, similarity }) => ({ term, weight: similarity * similarity }))
}

async function collectGrams(words: SegmentWords, pause: Pause): Promise<TermGrams> {
  const ends = new Uint32Array(LISTS + 1)
  for (let number = 0; number < words.terms; number++) {
    for (const list of listsOf(words.readString(number))) ends[list + 1] = (ends[list + 1] ?? 0) + 1
    if (number % SLICE === 0) await pause()
  }
  for (let list = 0; list < LISTS; list++)
    ends[list + 1] = (ends[list + 1] ?? 0) + (ends[list] ?? 0)
  const numbers = new Uint32Array(ends[LISTS] ?? 0)
  const next = ends.slice()
  for (let number = 0; number < words.terms; number++) {
    for (const list of listsOf(words.readString(number))) {
      const at = next[list] ?? 0
      numbers[at] = number
      next[list] = at + 1
    }
    if (number % SLICE === 0) await pause()
  }
  return new TermGrams(words, ends, numbers)
}

/** The terms of a segment by the grams that they hold. */
class TermGrams {
  /** @param ends - `numbers[ends[list] .. ends[list + 1]]` are the terms with a gram of a list. */
  constructor(
    private readonly words: SegmentWords,
    private readonly ends: Uint32Array,
    private readonly numbers: Uint32Array,
  ) {}

  similarTo(term: string): readonly SimilarTerm[] {
    const lists = listsOf(term)
    const shared = new Map<number, number>()
    for (const list of lists) {
      const end = this.ends[list + 1] ?? 0
      for (let at = this.ends[list] ?? 0; at < end; at++) {
        const number = this.numbers[at] as number // below the end of the list
        shared.set(number, (shared.get(number) ?? 0) + 1)
      }
    }
    const similar: SimilarTerm[] = []
    for (const [number, common] of shared) {
      // At most this similar, as the other term has at least the grams in common.
      if ((2 * common) / (lists.size + common) < LEAST_SIMILARITY) continue
      const other = this.words.readString(number)
      const similarity = (2 * common) / (lists.size + listsOf(other).size)
      if (other !== term && similarity >= LEAST_SIMILARITY)
        similar.push({ term: other, similarity })
    }
    return similar
      .sort((a, b) => b.similarity - a.similarity || (a.term < b.term ? -1 : 1))
      .slice(0, MOST_SIMILAR)
  }
}

function hasGrams(term: string): boolean {
  return term.length >= SHORTEST && term.length <= LONGEST && !/[\P{L}]/u.test(term)
}

/** Numbers of the lists that the grams of a term fall into; none for what is no word. */
function listsOf(term: string): ReadonlySet<number> {
  const lists = new Set<number>()
  if (!hasGrams(term)) return lists
  // The ends of a word count as characters: words that begin alike are more alike.
  const padded = `\0${term}\0`
  for (let at = 0; at + GRAM <= padded.length; at++) {
    let hash = 0x811c9dc5
    for (let i = at; i < at + GRAM; i++) hash = Math.imul(hash ^ padded.charCodeAt(i), 0x01000193)
    lists.add((hash ^ (hash >>> 15)) & (LISTS - 1))
  }
  return lists
}
