import { ASCII_WORD_UNITS, wideWordUnits } from './characters.js'
import { stem } from './stem.js'

/** Longer words are rare and are looked up as strings. */
const LONGEST_KNOWN_WORD = 64
/** Words remembered before the memory of words starts anew; terms keep their numbers. */
const MOST_KNOWN_WORDS = 1 << 18
const FIRST_SLOTS = 1 << 13

/**
 * Numbers for the terms of many texts, handed out in order of first sight.
 *
 * Made for building an index: a word seen before costs a hash over its units and one comparison,
 * with no string and no stemming. Gives the terms of `analyse`, which a test holds.
 *
 * ```
 * slots:  hash of word -> word number + 1, open addressing, at most half full
 * word n: units[starts[n] .. starts[n + 1]], hashes[n], terms[n] (term number)
 * ```
 */
export class TermTable {
  /** Terms by number. */
  readonly terms: string[] = []
  private readonly numbers = new Map<string, number>()
  private readonly word = new Uint16Array(LONGEST_KNOWN_WORD)
  private slots = new Int32Array(FIRST_SLOTS)
  private hashes = new Int32Array(FIRST_SLOTS / 2)
  private wordTerms = new Int32Array(FIRST_SLOTS / 2)
  private starts = new Uint32Array(FIRST_SLOTS / 2 + 1)
  private units = new Uint16Array(FIRST_SLOTS * 4)
  private knownWords = 0

  /**
   * Give the term number of each token of a piece of a text to `take`, in order.
   *
   * @param from - Start of the piece in UTF-16 units; must not be inside a word.
   * @param to - End of the piece, exclusive; a word that starts before it is taken whole.
   * @returns Where the last word taken, or the piece, ends: the start of the next piece.
   */
  read(text: string, from: number, to: number, take: (term: number) => void): number {
    const word = this.word
    const length = text.length
    let at = from
    while (at < to) {
      const start = at
      let hash = 0x811c9dc5 | 0
      let size = 0
      let isAscii = true
      while (at < length) {
        const code = text.charCodeAt(at)
        if (code < 0x80) {
          const unit = ASCII_WORD_UNITS[code]
          if (!unit) break
          hash = Math.imul(hash ^ unit, 0x01000193)
          word[size++] = unit // past the end of the scratch it is dropped; `size` still counts
          at += 1
        } else {
          let left = wideWordUnits(text, at)
          if (left === 0) break
          isAscii = false
          for (; left > 0; left--) {
            const unit = text.charCodeAt(at++)
            hash = Math.imul(hash ^ unit, 0x01000193)
            word[size++] = unit
          }
        }
      }
      if (size > 1 || (size > 0 && !isAscii)) {
        const term =
          size > LONGEST_KNOWN_WORD
            ? this.numberOf(lowered(text, start, at))
            : this.termOfWord(size, hash)
        take(term)
      }
      at += 1
    }
    return Math.max(at, to)
  }

  private termOfWord(size: number, rolling: number): number {
    const { word, slots } = this
    // The low bits of the rolling hash alone spread badly over short words.
    const hash = rolling ^ (rolling >>> 15)
    const mask = slots.length - 1
    let slot = hash & mask
    for (;;) {
      // Slots, words and units stay below the lengths of their arrays.
      const found = slots[slot] as number
      if (found === 0) break
      const known = found - 1
      if (this.hashes[known] === hash && this.isWord(known, word, size)) {
        return this.wordTerms[known] as number
      }
      slot = (slot + 1) & mask
    }
    const term = this.numberOf(String.fromCharCode(...word.subarray(0, size)))
    this.remember(size, hash, term)
    return term
  }

  private isWord(known: number, word: Uint16Array, size: number): boolean {
    const start = this.starts[known] as number
    if ((this.starts[known + 1] as number) - start !== size) return false
    for (let i = 0; i < size; i++) if (this.units[start + i] !== word[i]) return false
    return true
  }

  private numberOf(word: string): number {
    const bytes = Buffer.byteLength(word)
    const term = stem(word, bytes)
    const known = this.numbers.get(term)
    if (known !== undefined) return known
    const number = this.terms.length
    this.terms.push(term)
    this.numbers.set(term, number)
    return number
  }

  private remember(size: number, hash: number, term: number): void {
    if (this.knownWords === MOST_KNOWN_WORDS) {
      this.slots.fill(0)
      this.knownWords = 0
    }
    if (this.knownWords === this.hashes.length) this.grow()
    const known = this.knownWords
    const start = this.starts[known] as number
    if (start + size > this.units.length) {
      const units = new Uint16Array(this.units.length * 2)
      units.set(this.units)
      this.units = units
    }
    this.units.set(this.word.subarray(0, size), start)
    this.starts[known + 1] = start + size
    this.hashes[known] = hash
    this.wordTerms[known] = term
    this.knownWords = known + 1
    this.place(known)
  }

  private place(known: number): void {
    const { slots, hashes } = this
    const mask = slots.length - 1
    let slot = (hashes[known] as number) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = known + 1
  }

  private grow(): void {
    const words = this.hashes.length * 2
    const widen = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const wide = new Int32Array(words)
      wide.set(old)
      return wide
    }
    const starts = new Uint32Array(words + 1)
    starts.set(this.starts)
    this.starts = starts
    this.hashes = widen(this.hashes)
    this.wordTerms = widen(this.wordTerms)
    this.slots = new Int32Array(words * 2)
    for (let known = 0; known < this.knownWords; known++) this.place(known)
  }
}

/** A copy of a piece of a text in lower-case ASCII that does not keep the text alive. */
function lowered(text: string, start: number, end: number): string {
  const units = Array.from({ length: end - start }, (_, i) => {
    const code = text.charCodeAt(start + i)
    return String.fromCharCode(code < 0x80 ? (ASCII_WORD_UNITS[code] ?? 0) : code)
  })
  return units.join('')
}
