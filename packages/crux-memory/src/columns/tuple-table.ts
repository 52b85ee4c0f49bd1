import type { Pause } from 'crux-types'
import { Column } from './column.js'
import { HashTable, mixHash } from './hash-table.js'
import type { Part } from './parts.js'

abstract class TupleTable extends HashTable {
  /** Whether an entry equals what is being looked for, which the subclass keeps. */
  protected abstract isEqual(entry: number): boolean

  /** The entry with this hash that {@link isEqual} accepts; -1 when there is none. */
  protected findEntry(hash: number): number {
    const slots = this.slotsOf(hash)
    if (slots === undefined) return -1
    const mask = slots.length - 1
    for (let at = (hash << 1) & mask; ; at = (at + 2) & mask) {
      const entry = (slots[at + 1] as number) - 1 // `at` is masked
      if (entry < 0) return -1
      if (slots[at] === (hash | 0) && this.isEqual(entry)) return entry
    }
  }
}

/** Numbers pairs of integers from 0 in the order in which they are first seen. */
export class PairTable extends TupleTable {
  private readonly firsts = Column.int32()
  private readonly seconds = Column.int32()
  private a = 0
  private b = 0

  get size(): number {
    return this.firsts.length
  }

  /** Number of the pair; -1 when it was never added. */
  find(a: number, b: number): number {
    this.a = a
    this.b = b
    return this.findEntry(hashPair(a, b))
  }

  /** Number of the pair, added when new. */
  add(a: number, b: number): number {
    const found = this.find(a, b)
    if (found !== -1) return found
    this.firsts.push(a)
    const entry = this.seconds.push(b)
    this.addEntry(hashPair(a, b), entry)
    return entry
  }

  protected override isEqual(entry: number): boolean {
    return this.firsts.get(entry) === this.a && this.seconds.get(entry) === this.b
  }
}

function hashPair(a: number, b: number): number {
  return mixHash(Math.imul(mixHash(a), 31) + b)
}

const ID_LENGTH = 34
const ID_WORDS = 4
const HEX_PER_WORD = 8

/** Finds rows by fact id; ids of the usual form, `f_` and 32 hex digits, are kept as 16 bytes. */
export class FactIdTable extends TupleTable {
  // Four integers a row; zeros for ids of another form.
  private readonly words = Column.int32()
  private readonly otherIds = new Map<number, string>()
  private readonly otherRows = new Map<string, number>()
  private readonly probe = new Int32Array(ID_WORDS)
  private readonly bytes = Buffer.alloc(ID_WORDS * Int32Array.BYTES_PER_ELEMENT)

  get size(): number {
    return this.words.length / ID_WORDS
  }

  /** Row of an id; -1 when there is none. */
  find(id: string): number {
    return this.load(id) ? this.findEntry(this.hash()) : (this.otherRows.get(id) ?? -1)
  }

  /** Append the id of the next row; returns -1, and appends nothing, when it is there already. */
  add(id: string): number {
    const row = this.size
    if (this.load(id)) {
      const hash = this.hash()
      if (this.findEntry(hash) !== -1) return -1
      for (const word of this.probe) this.words.push(word)
      this.addEntry(hash, row)
    } else {
      if (this.otherRows.has(id)) return -1
      for (let i = 0; i < ID_WORDS; i++) this.words.push(0)
      this.otherIds.set(row, id)
      this.otherRows.set(id, row)
    }
    return row
  }

  /** Id of a row. */
  id(row: number): string {
    if (this.otherIds.size > 0) {
      const other = this.otherIds.get(row)
      if (other !== undefined) return other
    }
    for (let i = 0; i < ID_WORDS; i++) {
      this.bytes.writeInt32BE(this.words.get(row * ID_WORDS + i), i * Int32Array.BYTES_PER_ELEMENT)
    }
    return `f_${this.bytes.toString('hex')}`
  }

  /** Two numbers by which rows stand in the order of their ids, those of another form first. */
  order(row: number): readonly [number, number] {
    const word = (at: number): number => this.words.get(row * ID_WORDS + at) >>> 0
    // 52 bits each, which a double holds; the last 24 bits of a random id decide nothing.
    return [word(0) * 2 ** 20 + (word(1) >>> 12), (word(1) & 0xfff) * 2 ** 32 + word(2)]
  }

  /** The ids of the first `rows` rows but those in {@link others}. */
  part(name: string, rows: number): Part {
    const numbers = rows * ID_WORDS
    return {
      name,
      bytes: this.words.memoryBytes(numbers),
      memory: () => this.words.memory(numbers),
    }
  }

  /** Rows and ids of another form than the usual one. */
  others(): IterableIterator<[number, string]> {
    return this.otherIds.entries()
  }

  /** Room for the ids that {@link part} gave. */
  room(bytes: number): Iterable<Uint8Array> {
    return this.words.room(bytes)
  }

  /** Put back an id of another form. */
  restoreOther(row: number, id: string): void {
    this.otherIds.set(row, id)
    this.otherRows.set(id, row)
  }

  /** Make ids that were loaded findable; after {@link restoreOther} of all others. */
  async index(pause: Pause): Promise<void> {
    for (let row = 0; row < this.size; row++) {
      if (!this.otherIds.has(row)) {
        for (let i = 0; i < ID_WORDS; i++) this.probe[i] = this.words.get(row * ID_WORDS + i)
        this.addEntry(this.hash(), row)
      }
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
  }

  protected override isEqual(row: number): boolean {
    for (let i = 0; i < ID_WORDS; i++) {
      if (this.words.get(row * ID_WORDS + i) !== this.probe[i]) return false
    }
    return true
  }

  /** Put an id into `probe`; false when it has another form. */
  private load(id: string): boolean {
    if (id.length !== ID_LENGTH || id[0] !== 'f' || id[1] !== '_') return false
    for (let i = 0, at = 2; i < ID_WORDS; i++) {
      let word = 0
      for (const end = at + HEX_PER_WORD; at < end; at++) {
        const unit = id.charCodeAt(at)
        if (unit >= 48 && unit <= 57) word = (word << 4) | (unit - 48)
        else if (unit >= 97 && unit <= 102) word = (word << 4) | (unit - 87)
        else return false
      }
      this.probe[i] = word
    }
    return true
  }

  private hash(): number {
    let hash = 0
    for (const word of this.probe) hash = Math.imul(hash, 31) + word
    return mixHash(hash)
  }
}
