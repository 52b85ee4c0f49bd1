import { BM25_K1 } from '../lexical/bm25.js'
import type { SegmentWords } from './segment-words.js'

/** A word of the query on its way into pairs. */
export interface QueryWord {
  readonly term: string
  readonly isStop: boolean
  /** Weight of the term by itself; 0 for stop words and for what no document holds. */
  readonly idf: number
}

/** What the order of a document's words says about a query. Pairs are weighed as BM25 weighs single words. */
export interface WordMatches {
  /** Share of the query's words that the document holds, each counted by its weight; 0..1. */
  coverage: number
  /** Pairs of words that stand together when stop words are left out. */
  content: number
  /** Pairs of words that stand together in the text. */
  text: number
}

/** A query may be a whole document; its first words say what it is about. */
const MOST_WORDS = 64

/**
 * The words of one query and their neighbours, looked for in one document after the other.
 *
 * Words of the query are numbered from 1, each once. A pair is at `first * size + second` of a
 * square table; row and column 0 belong to all other words.
 */
export class WordMatcher {
  private readonly words: readonly QueryWord[]
  private readonly size: number
  /** Weights of the pairs, 0 for words that are no pair. */
  private readonly content: PairTable
  private readonly text: PairTable
  /** Number of the document that held a word last, by number of the word; 0 for none. */
  private readonly heldIn: Uint32Array
  private docs = 0
  private readonly allWeights: number
  /** Weight of each word of the query, by number. */
  private readonly idfs: Float64Array
  /** For each segment met, which of its words is which word of the query; 0 for the others. */
  private readonly marks = new Map<SegmentWords, Uint8Array>()

  /** @param query - Words of the query in order; at most the first 64 are paired. */
  constructor(query: readonly QueryWord[]) {
    const words: QueryWord[] = []
    const numbers = new Map<string, number>()
    const sequence = query.slice(0, MOST_WORDS).map((word) => {
      const key = `${word.isStop ? '-' : '+'}${word.term}`
      const known = numbers.get(key)
      if (known !== undefined) return known
      words.push(word)
      numbers.set(key, words.length)
      return words.length
    })
    this.words = words
    this.size = words.length + 1
    const idfOf = (number: number): number => words[number - 1]?.idf ?? 0
    const contents = sequence.filter((number) => words[number - 1]?.isStop === false)
    this.content = new PairTable(contents, this.size, idfOf)
    this.text = new PairTable(sequence, this.size, idfOf)
    this.heldIn = new Uint32Array(this.size)
    this.idfs = Float64Array.from({ length: this.size }, (_, number) => idfOf(number))
    this.allWeights = words.reduce((sum, { idf }) => sum + idf, 0)
  }

  /**
   * Score one document, whose segment's words were loaded.
   *
   * @param norm - What its length adds to the denominator of BM25.
   * @param into - Takes the scores.
   */
  score(words: SegmentWords, docId: number, norm: number, into: WordMatches): void {
    const { size, content, text, heldIn } = this
    const marks = this.marksOf(words)
    const { terms, numbers } = words
    const end = words.endOf(docId)
    let lastInText = 0
    let lastContent = 0
    let held = 0
    this.docs += 1
    const { docs } = this
    for (let at = words.startOf(docId); at < end; at++) {
      const number = numbers[at] as number // below the end of the words, each below the vocabulary
      const mark = marks[number] as number
      if (mark !== 0) {
        if (heldIn[mark] !== docs) {
          heldIn[mark] = docs
          held += this.idfs[mark] as number // one per word of the query
        }
        if (lastInText !== 0) text.count(lastInText * size + mark)
        if (lastContent !== 0 && number < terms) content.count(lastContent * size + mark)
      }
      lastInText = mark
      if (number < terms) lastContent = mark
    }
    into.coverage = this.allWeights === 0 ? 0 : held / this.allWeights
    into.content = content.take(norm)
    into.text = text.take(norm)
  }

  /** Give back what was borrowed from the segments. */
  close(): void {
    for (const [words, marks] of this.marks) {
      marks.fill(0)
      words.marks.give(marks)
    }
    this.marks.clear()
  }

  private marksOf(words: SegmentWords): Uint8Array {
    const known = this.marks.get(words)
    if (known !== undefined) return known
    const marks = words.marks.take(words.vocabulary)
    let mark = 0
    for (const { term, isStop } of this.words) {
      mark += 1
      const number = isStop ? words.findStop(term) : words.findTerm(term)
      if (number >= 0) marks[number] = mark
    }
    this.marks.set(words, marks)
    return marks
  }
}

/** Weights of pairs, and how often each was met in the document at hand. */
class PairTable {
  private readonly weights: Float64Array
  private readonly counts: Uint32Array
  private readonly met: number[] = []

  /** @param sequence - Numbers of words, each below `size`, whose neighbours are the pairs. */
  constructor(sequence: readonly number[], size: number, idfOf: (number: number) => number) {
    this.weights = new Float64Array(size * size)
    this.counts = new Uint32Array(size * size)
    for (let i = 1; i < sequence.length; i++) {
      const first = sequence[i - 1] as number // within the sequence, as is the next
      const second = sequence[i] as number
      const weight = Math.max(idfOf(first), idfOf(second))
      if (first === second || weight === 0) continue
      const pair = first * size + second
      this.weights[pair] = (this.weights[pair] as number) + weight
    }
  }

  count(pair: number): void {
    if (this.weights[pair] === 0) return
    const times = this.counts[pair] as number // a pair of two numbers below the size
    if (times === 0) this.met.push(pair)
    this.counts[pair] = times + 1
  }

  /** The score of what was counted; counts from 0 again. */
  take(norm: number): number {
    let sum = 0
    for (const pair of this.met) {
      const count = this.counts[pair] as number // as in `count`
      this.counts[pair] = 0
      sum += ((this.weights[pair] as number) * count * (BM25_K1 + 1)) / (count + norm)
    }
    this.met.length = 0
    return sum
  }
}
