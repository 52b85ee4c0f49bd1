import type { Pause } from 'crux-types'
import { ByteDictionary, HASH_PRIME, HASH_SEED } from '../columns/byte-dictionary.js'
import { wholeCount } from '../columns/column.js'
import { bytesOf, mixHash } from '../columns/hash-table.js'
import { type Part, partOf } from '../columns/parts.js'
import { GramTable } from './gram-table.js'
import { PostingLists } from './posting-lists.js'
import { whiteSpaceAt } from './white-space.js'

const GRAM = 3
/** Stands for the positions after a token's last byte; no byte of UTF-8. */
const PAD = 0xff
/** Longer tokens are looked through one by one: their grams would say little and cost much. */
const MAX_GRAM_TOKEN_BYTES = 8192
/** Rows of a token from which on they are read with pauses. */
const MANY_ROWS = 64
/** Rows and tokens between two looks at the clock; not more, as all is slow until the engine compiled it. */
const WORK_PER_PAUSE = 1024
/** Tokens that are looked up together. */
const TOKENS_AT_ONCE = 32
/** In place of an offset. */
const NOT_ASCII = -1
/** Longer texts are added in pieces. */
const LONG_TEXT_BYTES = 16 * 1024

/**
 * Finds the rows whose text holds a term as a substring.
 *
 * A term holds no white space, so it lies within one token of the text, as cut at white space. Two
 * steps follow: find the tokens that hold the term, by the 3-byte grams that start at each byte of
 * each distinct token; then unite the rows of those tokens. UTF-8 makes byte substrings of
 * well-formed text and character substrings the same.
 *
 * ```
 * row   -> tokens        "Deploy Now"  -> deploy, now
 * token -> grams         now           -> n o w | o w . | w . .
 * term  -> grams         ow            -> every gram that starts "ow"
 * ```
 */
export class TokenIndex {
  private readonly tokens = new ByteDictionary()
  private readonly rowsOf = new PostingLists()
  private readonly gramNumbers = new GramTable()
  private readonly tokensOf = new PostingLists()
  /** Grams by their first byte, and by their first two. */
  private readonly gramsByStart = new Map<number, number[]>()
  private readonly longTokens: number[] = []
  /** Tokens that are being added, lower-cased, one after another. */
  private folded = Buffer.allocUnsafe(1024)
  /** Where each of them starts, and where the last one ends; the first at 0. */
  private readonly starts = new Int32Array(TOKENS_AT_ONCE + 1)
  private readonly hashes = new Int32Array(TOKENS_AT_ONCE)
  private readonly found = new Int32Array(TOKENS_AT_ONCE)
  private loadedLong = new Int32Array(0)

  /** Distinct tokens. */
  get size(): number {
    return this.tokens.size
  }

  /**
   * Add a text to a row. Rows come in ascending order; a row may have several texts, which no term
   * spans.
   *
   * @param bytes - `bytes[start..end)` is the text in UTF-8, in any letter case.
   * @returns A promise where the text is so long that others must have their turn before it is done.
   */
  add(
    row: number,
    bytes: Buffer,
    start: number,
    end: number,
    pause: Pause,
  ): Promise<void> | undefined {
    if (end - start > LONG_TEXT_BYTES) return this.addLong(row, bytes, start, end, pause)
    if (this.addTokens(row, bytes, start, end, end) === NOT_ASCII) {
      const lower = lowerCase(bytes, start, end)
      this.addTokens(row, lower, 0, lower.length, lower.length, true)
    }
    return undefined
  }

  private async addLong(
    row: number,
    bytes: Buffer,
    start: number,
    end: number,
    pause: Pause,
  ): Promise<void> {
    const lower = lowerCase(bytes, start, end)
    for (let at = 0; at < lower.length; ) {
      const to = Math.min(at + LONG_TEXT_BYTES, lower.length)
      at = this.addTokens(row, lower, at, to, lower.length, true)
      await pause()
    }
  }

  /**
   * Add the tokens of a text that start in `from..to`: cut, folded and hashed in one pass.
   *
   * @param from - Start of a token, or of white space.
   * @param end - End of the text.
   * @param isLower - Lower-cased already; else ASCII is, and a text of other characters is given up.
   *   Tokens before them may be added then, which does no harm when the whole text is added.
   * @returns Where the next token may start, or NOT_ASCII.
   */
  private addTokens(
    row: number,
    bytes: Buffer,
    from: number,
    to: number,
    end: number,
    isLower = false,
  ): number {
    if (this.folded.length < end - from) this.folded = Buffer.allocUnsafe((end - from) * 2)
    const { folded, starts, hashes } = this
    let length = 0
    let count = 0
    let hash = HASH_SEED
    for (let at = from; ; ) {
      let gap = 1
      if (at < end) {
        let byte = bytes[at] as number // below the end
        if (byte > 0x7f) {
          if (!isLower) return NOT_ASCII
          gap = whiteSpaceAt(bytes, at, end)
        } else if (byte > 0x20) {
          if (byte >= 0x41 && byte <= 0x5a) byte += 0x20
          gap = 0
        } else if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) {
          gap = 0
        }
        if (gap === 0) {
          folded[length++] = byte
          hash = Math.imul(hash ^ byte, HASH_PRIME)
          at++
          continue
        }
      }
      if (length > (starts[count] as number)) {
        hashes[count++] = mixHash(hash)
        starts[count] = length
        hash = HASH_SEED
      }
      at += gap
      if (at < to && count < TOKENS_AT_ONCE) continue
      this.addBatch(row, count)
      if (at >= to) return at
      length = 0
      count = 0
    }
  }

  /**
   * Add the tokens in `folded`, of which there are `count`.
   *
   * The look-ups are done step by step for all of them, not one after the other: what one step reads
   * is in another place in memory for each token, and the processor fetches many at a time.
   */
  private addBatch(row: number, count: number): void {
    const { folded, starts, hashes, found } = this
    this.tokens.findEach(folded, starts, hashes, count, found)
    this.rowsOf.prefetch(found, count)
    for (let i = 0; i < count; i++) {
      const token = found[i] as number // below the count
      if (token !== -1) this.rowsOf.append(token, row)
      else this.addToken(row, starts[i] as number, starts[i + 1] as number, hashes[i] as number)
    }
  }

  /**
   * Call `mark` with each row that holds the term, possibly more than once.
   *
   * @param term - Lower-cased, not empty, without white space.
   */
  async match(term: string, mark: (row: number) => void, pause: Pause): Promise<void> {
    const bytes = Buffer.from(term)
    for (const token of this.longTokens) {
      if (this.holds(token, bytes)) await this.markRows(token, mark, pause)
      // A long token may take a millisecond to look through.
      await pause()
    }
    const rows = this.rowsOf.cursor()
    const tokens = this.tokensOf.cursor()
    const isExact = bytes.length <= GRAM
    let work = 0
    for (const gram of isExact ? this.gramsStarting(bytes) : this.rarestGram(bytes)) {
      tokens.reset(gram)
      for (let token = tokens.next(); token !== -1; token = tokens.next()) {
        if (work > WORK_PER_PAUSE) {
          work = 0
          const waiting = pause()
          if (waiting !== undefined) await waiting
        }
        work++
        if (!isExact && !this.holds(token, bytes)) continue
        const rowCount = this.rowsOf.count(token)
        if (rowCount > MANY_ROWS) {
          await this.markRows(token, mark, pause)
          continue
        }
        rows.reset(token)
        for (let row = rows.next(); row !== -1; row = rows.next()) mark(row)
        work += rowCount
      }
    }
  }

  /** A token, lower-cased. */
  text(token: number): string {
    return this.tokens.text(token)
  }

  /** Call `mark` with each row that holds a token. */
  async markRows(token: number, mark: (row: number) => void, pause: Pause): Promise<void> {
    const rows = this.rowsOf.cursor()
    rows.reset(token)
    let work = 0
    for (let row = rows.next(); row !== -1; row = rows.next()) {
      mark(row)
      if (++work < WORK_PER_PAUSE) continue
      work = 0
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
  }

  /** All of it; nothing may be added while the parts are read. */
  parts(): Part[] {
    return [
      ...this.tokens.parts('words', true),
      ...this.rowsOf.parts('rows'),
      ...this.tokensOf.parts('gram-words'),
      partOf('long-words', Buffer.from(Int32Array.from(this.longTokens).buffer)),
      this.gramNumbers.part('grams'),
    ]
  }

  /** Room for a part of an equal index; parts come in the order of {@link parts}. */
  room(part: string, bytes: number): Iterable<Uint8Array> | undefined {
    const [name = '', own = ''] = part.split('.')
    switch (name) {
      case 'words':
        return this.tokens.room(own, bytes)
      case 'rows':
        return this.rowsOf.room(own, bytes)
      case 'gram-words':
        return this.tokensOf.room(own, bytes)
      case 'long-words':
        this.loadedLong = new Int32Array(wholeCount(bytes, Int32Array.BYTES_PER_ELEMENT))
        return [bytesOf(this.loadedLong)]
      case 'grams':
        return this.gramNumbers.room(bytes)
      default:
        return undefined
    }
  }

  /** Take in what follows from the parts, after all of them. */
  async loaded(pause: Pause): Promise<void> {
    for (const token of this.loadedLong) this.longTokens.push(token)
    this.gramNumbers.count()
    for (const [code, gram] of this.gramNumbers.entries()) {
      this.listGram(code >>> 16, (code >>> 8) & 0xff, gram)
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
  }

  /** Add the token in `folded[start..end)`. */
  private addToken(row: number, start: number, end: number, hash: number): void {
    const { folded } = this
    const known = this.tokens.size
    const token = this.tokens.addHashed(hash, folded, start, end)
    if (token < known) {
      this.rowsOf.append(token, row)
      return
    }
    this.rowsOf.add(row)
    if (end - start > MAX_GRAM_TOKEN_BYTES) {
      this.longTokens.push(token)
      return
    }
    for (let at = start; at < end; at++) {
      this.addGram(
        token,
        folded[at] as number, // below the end
        at + 1 < end ? (folded[at + 1] as number) : PAD,
        at + 2 < end ? (folded[at + 2] as number) : PAD,
      )
    }
  }

  private addGram(token: number, a: number, b: number, c: number): void {
    const code = (a << 16) | (b << 8) | c
    const gram = this.gramNumbers.find(code)
    if (gram !== -1) {
      this.tokensOf.append(gram, token)
      return
    }
    this.gramNumbers.add(code)
    this.listGram(a, b, this.tokensOf.add(token))
  }

  private listGram(a: number, b: number, gram: number): void {
    for (const start of [a << 8, 0x10000 | (a << 8) | b]) {
      const grams = this.gramsByStart.get(start)
      if (grams === undefined) this.gramsByStart.set(start, [gram])
      else grams.push(gram)
    }
  }

  /** Grams that start with one, two or three bytes. */
  private gramsStarting(bytes: Buffer): readonly number[] {
    const [a = 0, b = 0] = bytes
    if (bytes.length === 1) return this.gramsByStart.get(a << 8) ?? []
    if (bytes.length === 2) return this.gramsByStart.get(0x10000 | (a << 8) | b) ?? []
    return this.rarestGram(bytes)
  }

  /** The gram of a longer term that the fewest tokens have; none when some gram is unknown. */
  private rarestGram(bytes: Buffer): readonly number[] {
    let rarest = -1
    for (let at = 0; at + GRAM <= bytes.length; at++) {
      const gram = this.gramNumbers.find(bytes.readUIntBE(at, GRAM))
      if (gram === -1) return []
      if (rarest === -1 || this.tokensOf.count(gram) < this.tokensOf.count(rarest)) rarest = gram
    }
    return rarest === -1 ? [] : [rarest]
  }

  private holds(token: number, term: Buffer): boolean {
    const length = this.tokens.lengthOf(token)
    if (length < term.length) return false
    const buffer = this.tokens.bufferOf(token)
    const start = this.tokens.startOf(token)
    if (length > MAX_GRAM_TOKEN_BYTES) return buffer.subarray(start, start + length).includes(term)
    const first = term[0]
    for (let at = start, last = start + length - term.length; at <= last; at++) {
      if (buffer[at] !== first) continue
      let same = 1
      while (same < term.length && buffer[at + same] === term[same]) same++
      if (same === term.length) return true
    }
    return false
  }
}

function lowerCase(bytes: Buffer, start: number, end: number): Buffer {
  return Buffer.from(bytes.toString('utf8', start, end).toLowerCase())
}
