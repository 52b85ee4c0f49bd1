import { ASCII_WORD_UNITS, wideWordUnits } from './characters.js'
import { stem } from './stem.js'

/** Longer words are rare and are looked up as strings. */
const LONGEST_KNOWN_WORD = 64
/** Words remembered before the memory of words starts anew; terms keep their numbers. */
const MOST_KNOWN_WORDS = 1 << 18
/**
 * Room at first. Small on purpose: arrays then grow while the engine still interprets, which keeps it
 * from compiling code for arrays that never grow and throwing that away (a third of a first build).
 */
const FIRST_SLOTS = 1 << 4

/**
 * Numbers for the terms of many texts, handed out in order of first sight.
 *
 * Made for building an index: a text is copied into an array of its units, where reading one is far
 * cheaper than from the string, and a word seen before costs a hash over its units and one
 * comparison, with no string and no stemming. Gives the terms of `analyse`, which a test holds.
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
  private slots = new Int32Array(FIRST_SLOTS)
  private hashes = new Int32Array(FIRST_SLOTS / 2)
  private wordTerms = new Int32Array(FIRST_SLOTS / 2)
  private starts = new Uint32Array(FIRST_SLOTS / 2 + 1)
  private units = new Uint16Array(FIRST_SLOTS * 4)
  private knownWords = 0
  private text = ''
  /** Units of the text; those of words that were read are lower-cased. */
  private textUnits = new Uint16Array(0)
  private at = 0
  private loaded = 0

  /** Begin with a text, to be loaded next; what was left of the one before is dropped. */
  open(text: string): void {
    if (text.length > this.textUnits.length) this.textUnits = new Uint16Array(text.length * 2)
    this.text = text
    this.at = 0
    this.loaded = 0
  }

  /**
   * Load about the next `most` units of the text.
   *
   * @returns False when all are loaded, and the text can be read.
   */
  load(most: number): boolean {
    const { text, loaded } = this
    const end = Math.min(loaded + most, text.length)
    // One that fits is not cut, as cutting costs more than copying a short text.
    const part = end - loaded === text.length ? text : text.slice(loaded, end)
    Buffer.from(this.textUnits.buffer).write(part, loaded * 2, 'utf16le')
    this.loaded = end
    return end < text.length
  }

  /**
   * Give the term number of each token to `take`, in order, over about the next `most` units.
   *
   * @returns False at the end of the text.
   */
  read(most: number, take: (term: number) => void): boolean {
    const { text, textUnits: units } = this
    const wordUnits = ASCII_WORD_UNITS
    const { length } = text
    const to = Math.min(this.at + most, length)
    let at = this.at
    while (at < to) {
      const start = at
      let hash = 0x811c9dc5 | 0
      let isAscii = true
      while (at < length) {
        const code = units[at] as number // `at` is below the length, here and below
        if (code < 0x80) {
          const unit = wordUnits[code] as number
          if (unit === 0) break
          if (unit !== code) units[at] = unit
          hash = Math.imul(hash ^ unit, 0x01000193)
          at += 1
        } else {
          const wide = wideWordUnits(text, at)
          if (wide === 0) break
          isAscii = false
          for (const end = at + wide; at < end; at++) {
            hash = Math.imul(hash ^ (units[at] as number), 0x01000193)
          }
        }
      }
      if (at - start > 1 || (at > start && !isAscii)) take(this.termAt(start, at, hash))
      at += 1
    }
    this.at = at
    return at < length
  }

  /** Term number of the word between two units. */
  private termAt(start: number, end: number, rolling: number): number {
    const size = end - start
    if (size > LONGEST_KNOWN_WORD) return this.numberOf(this.wordAt(start, end))
    const { slots } = this
    // The low bits of the rolling hash alone spread badly over short words.
    const hash = rolling ^ (rolling >>> 15)
    const mask = slots.length - 1
    let slot = hash & mask
    for (;;) {
      // Slots, words and units stay below the lengths of their arrays.
      const found = slots[slot] as number
      if (found === 0) break
      const known = found - 1
      if (this.hashes[known] === hash && this.isWord(known, start, size)) {
        return this.wordTerms[known] as number
      }
      slot = (slot + 1) & mask
    }
    const term = this.numberOf(this.wordAt(start, end))
    this.remember(start, size, hash, term)
    return term
  }

  private isWord(known: number, at: number, size: number): boolean {
    const { units, textUnits } = this
    const start = this.starts[known] as number
    if ((this.starts[known + 1] as number) - start !== size) return false
    for (let i = 0; i < size; i++) if (units[start + i] !== textUnits[at + i]) return false
    return true
  }

  /** A copy, which unlike a slice does not keep the text alive. */
  private wordAt(start: number, end: number): string {
    const { buffer } = this.textUnits
    return Buffer.from(buffer, start * 2, (end - start) * 2).toString('utf16le')
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

  private remember(at: number, size: number, hash: number, term: number): void {
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
    this.units.set(this.textUnits.subarray(at, at + size), start)
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
