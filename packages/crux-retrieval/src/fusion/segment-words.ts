import type { CcxfReader, CcxiReader, Hashes } from 'crux-segment'
import { createScratchPool } from '../lexical/scratch-pool.js'

/** Longest document whose length an index holds; longer ones are counted. */
const MOST_KNOWN_LENGTH = 0xffff

/** The words of one segment's documents in order, found by term. */
export class SegmentWords {
  /** Numbers below this are terms, those from it stop words. */
  readonly terms: number
  /** Terms and stop words. */
  readonly vocabulary: number
  /** Arrays of zeros, one number per word of the vocabulary. */
  readonly marks = createScratchPool((size): Uint8Array => new Uint8Array(size))
  private stopNumbers: ReadonlyMap<string, number> | undefined
  private room = new Uint32Array(256)

  /** @param index - The index of the same segment, whose numbers of terms are those of the words. */
  constructor(
    readonly reader: CcxfReader,
    private readonly index: CcxiReader,
    private readonly hashes: Hashes,
  ) {
    this.terms = reader.terms
    this.vocabulary = reader.terms + reader.stopTerms
  }

  /** A word by number. */
  string(number: number): string {
    return this.reader.string(number)
  }

  /** Number of a term; undefined when no document of the segment holds it. */
  findTerm(term: string): number | undefined {
    const hash = this.hashes.xxh64Text(term)
    const number = this.index.findHalves(Number(hash >> 32n), Number(hash & 0xffffffffn))
    return number < 0 ? undefined : number
  }

  /** Number of a stop word; undefined when no document of the segment holds it. */
  findStop(word: string): number | undefined {
    this.stopNumbers ??= new Map(
      Array.from({ length: this.reader.stopTerms }, (_, i) => {
        const number = this.terms + i
        return [this.reader.string(number), number]
      }),
    )
    return this.stopNumbers.get(word)
  }

  /**
   * Numbers of a document's words, in order; valid until the next call.
   *
   * @param length - Length of the document as its index has it.
   */
  wordsOf(docId: number, length: number): Uint32Array {
    const words = length < MOST_KNOWN_LENGTH ? length : this.reader.wordCount(docId)
    if (words > this.room.length) this.room = new Uint32Array(words * 2)
    return this.room.subarray(0, this.reader.readWords(docId, this.room))
  }
}
