import type { LexicalIndex } from '../lexical/lexical-types.js'
import type { SegmentWords } from './segment-words.js'

/** Remembers how many documents hold a term, by the term's number in a segment, while the corpus stays as it is. */
export class DocFrequencies {
  private known = new WeakMap<SegmentWords, Int32Array>()
  private revision = -1

  constructor(private readonly index: LexicalIndex) {}

  /** Documents that hold a term, at least 1. */
  of(words: SegmentWords, number: number): number {
    if (this.revision !== this.index.revision) {
      this.known = new WeakMap()
      this.revision = this.index.revision
    }
    let frequencies = this.known.get(words)
    if (frequencies === undefined) {
      frequencies = new Int32Array(words.terms)
      this.known.set(words, frequencies)
    }
    const known = frequencies[number]
    if (known !== undefined && known > 0) return known
    const df = Math.max(this.index.documentFrequency(words.string(number)), 1)
    frequencies[number] = df
    return df
  }
}
