import type { LexicalIndex } from '../lexical/lexical-types.js'
import type { SegmentWords } from './segment-words.js'

/** Terms whose frequency is remembered by name. */
const MOST_NAMES = 1 << 15

/** Remembers how many documents hold a term while the corpus stays as it is. */
export class DocFrequencies {
  private byNumber = new WeakMap<SegmentWords, Int32Array>()
  private readonly byName = new Map<string, number>()
  private revision = -1

  constructor(private readonly index: LexicalIndex) {}

  /** Documents that hold a term; 0 for one that is not known. */
  ofTerm(term: string): number {
    this.refresh()
    const known = this.byName.get(term)
    if (known !== undefined) return known
    const df = this.index.documentFrequency(term)
    if (this.byName.size >= MOST_NAMES) this.byName.clear()
    this.byName.set(term, df)
    return df
  }

  /** For each term of a segment the documents that hold it; 0 where {@link learn} has not been asked. */
  of(words: SegmentWords): Int32Array {
    this.refresh()
    const known = this.byNumber.get(words)
    if (known !== undefined) return known
    const frequencies = new Int32Array(words.terms)
    this.byNumber.set(words, frequencies)
    return frequencies
  }

  /** Ask for a term of a segment by number, and remember it. @returns At least 1. */
  learn(words: SegmentWords, number: number): number {
    const df = Math.max(this.index.documentFrequency(words.readString(number)), 1)
    this.of(words)[number] = df
    return df
  }

  private refresh(): void {
    if (this.revision === this.index.revision) return
    this.byNumber = new WeakMap()
    this.byName.clear()
    this.revision = this.index.revision
  }
}
