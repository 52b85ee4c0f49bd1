import { Column } from './column.js'
import { HashTable, mixHash } from './hash-table.js'

/** Numbers pairs of integers from 0 in the order in which they are first seen. */
export class PairTable extends HashTable {
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

const REGULAR_ID = /^f_[0-9a-f]{32}$/
const ID_WORDS = 4

/** Finds rows by fact id; ids of the usual form are kept as 16 bytes. */
export class FactIdTable extends HashTable {
  // Four integers a row; zeros for ids of another form.
  private readonly words = Column.int32()
  private readonly otherIds = new Map<number, string>()
  private readonly otherRows = new Map<string, number>()
  private readonly probe = new Int32Array(ID_WORDS)

  get size(): number {
    return this.words.length / ID_WORDS
  }

  /** Row of an id; -1 when there is none. */
  find(id: string): number {
    if (!REGULAR_ID.test(id)) return this.otherRows.get(id) ?? -1
    return this.findEntry(this.load(id))
  }

  /** Append the id of the next row; it must not be there yet. */
  add(id: string): number {
    const row = this.size
    if (REGULAR_ID.test(id)) {
      const hash = this.load(id)
      for (const word of this.probe) this.words.push(word)
      this.addEntry(hash, row)
    } else {
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
    let id = 'f_'
    for (let i = 0; i < ID_WORDS; i++) {
      id += (this.words.get(row * ID_WORDS + i) >>> 0).toString(16).padStart(8, '0')
    }
    return id
  }

  protected override isEqual(row: number): boolean {
    for (let i = 0; i < ID_WORDS; i++) {
      if (this.words.get(row * ID_WORDS + i) !== this.probe[i]) return false
    }
    return true
  }

  /** Put an id of the usual form into `probe`; returns its hash. */
  private load(id: string): number {
    let hash = 0
    for (let i = 0; i < ID_WORDS; i++) {
      const word = Number.parseInt(id.slice(2 + i * 8, 10 + i * 8), 16) | 0
      this.probe[i] = word
      hash = Math.imul(hash, 31) + word
    }
    return mixHash(hash)
  }
}
