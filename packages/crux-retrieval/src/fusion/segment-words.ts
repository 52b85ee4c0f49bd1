import type { CcxfReader, CcxiReader, Hashes } from 'crux-segment'
import type { Pause } from 'crux-types'
import { createScratchPool } from '../lexical/scratch-pool.js'

/** Documents read between two looks at the clock. */
const SLICE = 64
/** Terms remembered by name or number: reading one takes longer than all else that is done with it. */
const MOST_REMEMBERED = 1 << 15

/**
 * The words of one segment's documents in order, found by term.
 *
 * Before they are read for the first time they take the bytes of their file; then 2 bytes a word
 * besides, or 4 in a segment of more than 65,536 different words.
 */
export class SegmentWords {
  /** Numbers below this are terms, those from it stop words. */
  readonly terms: number
  /** Terms and stop words. */
  readonly vocabulary: number
  /** Arrays of zeros, one number per word of the vocabulary. */
  readonly marks = createScratchPool((size): Uint8Array => new Uint8Array(size))
  readonly shares = createScratchPool((size): Float64Array => new Float64Array(size))
  /** Numbers of the words of all documents, one document after the other; empty until {@link load}. */
  numbers: Uint16Array | Uint32Array = new Uint16Array()
  private ends = new Uint32Array()
  private loading: Promise<void> | undefined
  private stopNumbers: ReadonlyMap<string, number> | undefined
  private readonly names = new Map<number, string>()
  private readonly termNumbers = new Map<string, number>()

  /** @param index - The index of the same segment, whose numbers of terms are those of the words. */
  constructor(
    private readonly reader: CcxfReader,
    private readonly index: CcxiReader,
    private readonly hashes: Hashes,
  ) {
    this.terms = reader.terms
    this.vocabulary = reader.terms + reader.stopTerms
  }

  /**
   * Read all words, once; at once when that was done.
   *
   * @throws {CruxError} When the words are damaged.
   */
  load(pause: Pause): Promise<void> | undefined {
    if (this.ends.length > 0) return undefined
    // Whoever comes meanwhile waits for the same work, which goes on if the first is cancelled.
    this.loading ??= this.read(pause).finally(() => {
      this.loading = undefined
    })
    return this.loading
  }

  /** Where the words of a document start in {@link numbers}. */
  startOf(docId: number): number {
    return docId === 0 ? 0 : (this.ends[docId - 1] ?? 0)
  }

  /** Where they end; where they start for a document that has none. */
  endOf(docId: number): number {
    return this.ends[docId] ?? this.startOf(docId)
  }

  /** A word by number, read from the file. */
  readString(number: number): string {
    return this.reader.string(number)
  }

  /** A word by number, remembered. */
  string(number: number): string {
    const known = this.names.get(number)
    if (known !== undefined) return known
    const name = this.readString(number)
    if (this.names.size >= MOST_REMEMBERED) this.names.clear()
    this.names.set(number, name)
    return name
  }

  /** Number of a term; -1 when no document of the segment holds it. */
  findTerm(term: string): number {
    const known = this.termNumbers.get(term)
    if (known !== undefined) return known
    const hash = this.hashes.xxh64Text(term)
    const number = this.index.findHalves(Number(hash >> 32n), Number(hash & 0xffffffffn))
    if (this.termNumbers.size >= MOST_REMEMBERED) this.termNumbers.clear()
    this.termNumbers.set(term, number)
    return number
  }

  /** Number of a stop word; -1 when no document of the segment holds it. */
  findStop(word: string): number {
    this.stopNumbers ??= new Map(
      Array.from({ length: this.reader.stopTerms }, (_, i) => {
        const number = this.terms + i
        return [this.reader.string(number), number]
      }),
    )
    return this.stopNumbers.get(word) ?? -1
  }

  private async read(pause: Pause): Promise<void> {
    const { reader, vocabulary } = this
    const { totalFrames, totalWords } = reader
    const numbers =
      vocabulary <= 0x10000 ? new Uint16Array(totalWords) : new Uint32Array(totalWords)
    const ends = new Uint32Array(totalFrames)
    let room = new Uint32Array(1024)
    let end = 0
    for (let docId = 0; docId < totalFrames; docId++) {
      const words = reader.wordCount(docId)
      if (words > room.length) room = new Uint32Array(words * 2)
      reader.readWords(docId, room)
      numbers.set(room.subarray(0, words), end)
      end += words
      ends[docId] = end
      if (docId % SLICE === SLICE - 1) {
        const pausing = pause()
        if (pausing !== undefined) await pausing
      }
    }
    this.numbers = numbers
    this.ends = ends
  }
}
