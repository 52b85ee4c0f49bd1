import type { Pause } from 'crux-types'
import { ByteArena } from './byte-arena.js'
import { Column, wholeCount } from './column.js'
import { bytesOf, HashTable, mixHash } from './hash-table.js'
import { type Part, partOf } from './parts.js'

/** Longest text that is not copied to a buffer of its own, in UTF-16 units. */
const SHORT_TEXT = 256

/** Start and factor of the hash of byte strings, FNV-1a. */
export const HASH_SEED = 0x811c9dc5 | 0
export const HASH_PRIME = 0x01000193

/** Numbers byte strings from 0 in the order in which they are first seen. */
export class ByteDictionary extends HashTable {
  private readonly arena = new ByteArena()
  /** Address and length of each entry side by side: a look-up touches both. */
  private readonly places = Column.float64()
  /** Addresses of what {@link findEach} compares. */
  private addresses = new Float64Array(0)
  /** Where short texts become bytes, so that looking one up makes no garbage. */
  private readonly short = Buffer.alloc(SHORT_TEXT * 3)
  /** Hash of the text there. */
  private shortHash = 0
  private loadedSizes = new Float64Array(0)
  private loadedCounts = new Int32Array(0)
  private isIndexed = false

  /** Entries. */
  get size(): number {
    return this.places.length >>> 1
  }

  /** Number of `bytes[start..end)`; -1 when it was never added. */
  find(bytes: Uint8Array, start: number, end: number): number {
    return this.findHashed(hashBytes(bytes, start, end), bytes, start, end)
  }

  /** Number of `bytes[start..end)`, which is copied when it is new. */
  add(bytes: Uint8Array, start: number, end: number): number {
    return this.addHashed(hashBytes(bytes, start, end), bytes, start, end)
  }

  /**
   * As {@link add}, when the hash is known.
   *
   * @param hash - {@link HASH_SEED}, each byte taken in by xor and a product with {@link HASH_PRIME}, and
   *   `mixHash` of that.
   */
  addHashed(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const found = this.findHashed(hash, bytes, start, end)
    if (found !== -1) return found
    const entry = this.places.push(this.arena.append(bytes, start, end)) >>> 1
    this.places.push(end - start)
    this.addEntry(hash, entry)
    return entry
  }

  /**
   * Numbers of many byte strings, each looked for in the first of its slots only.
   *
   * @param starts - String `i` is `bytes[starts[i]..starts[i + 1])`.
   * @param hashes - As for {@link addHashed}.
   * @param found - Receives the numbers: -1 for what is not there, or in another slot.
   */
  findEach(
    bytes: Uint8Array,
    starts: Int32Array,
    hashes: Int32Array,
    count: number,
    found: Int32Array,
  ): void {
    // Indices are below the count. Each loop reads what the one before it found out where to look for.
    for (let i = 0; i < count; i++) {
      const hash = hashes[i] as number
      const slots = this.slotsOf(hash)
      const at = slots === undefined ? 0 : (hash << 1) & (slots.length - 1)
      found[i] = slots?.[at] === hash ? (slots[at + 1] as number) - 1 : -1
    }
    // Few of the many dictionaries are ever asked in this way.
    if (this.addresses.length < count) this.addresses = new Float64Array(hashes.length)
    const { addresses } = this
    for (let i = 0; i < count; i++) {
      const entry = found[i] as number
      if (entry === -1) continue
      const length = (starts[i + 1] as number) - (starts[i] as number)
      if (this.places.get(entry * 2 + 1) === length) addresses[i] = this.places.get(entry * 2)
      else found[i] = -1
    }
    for (let i = 0; i < count; i++) {
      if (found[i] === -1) continue
      const start = starts[i] as number
      const end = starts[i + 1] as number
      if (!this.isAt(addresses[i] as number, bytes, start, end)) found[i] = -1
    }
  }

  /** Number of a text's UTF-8 form; -1 when it was never added. */
  findText(text: string): number {
    if (text.length > SHORT_TEXT) {
      const bytes = Buffer.from(text)
      return this.find(bytes, 0, bytes.length)
    }
    const length = this.putShort(text)
    return this.findHashed(this.shortHash, this.short, 0, length)
  }

  /** Number of a text's UTF-8 form, which is kept when it is new. */
  addText(text: string): number {
    if (text.length > SHORT_TEXT) {
      const bytes = Buffer.from(text)
      return this.add(bytes, 0, bytes.length)
    }
    const length = this.putShort(text)
    return this.addHashed(this.shortHash, this.short, 0, length)
  }

  /** An entry read as UTF-8. */
  text(entry: number): string {
    const address = this.places.get(entry * 2)
    const start = this.arena.offsetOf(address)
    return this.arena.chunkAt(address).toString('utf8', start, start + this.lengthOf(entry))
  }

  /** Buffer in which an entry lies, from {@link startOf} on, {@link lengthOf} bytes long. */
  bufferOf(entry: number): Buffer {
    return this.arena.chunkAt(this.places.get(entry * 2))
  }

  /** Offset of an entry in its buffer. */
  startOf(entry: number): number {
    return this.arena.offsetOf(this.places.get(entry * 2))
  }

  /** Bytes of an entry. */
  lengthOf(entry: number): number {
    return this.places.get(entry * 2 + 1)
  }

  /** Order of two entries by their bytes, which is the order of their code points. */
  compare(a: number, b: number): number {
    const start = this.startOf(a)
    const other = this.startOf(b)
    return this.bufferOf(a).compare(
      this.bufferOf(b),
      other,
      other + this.lengthOf(b),
      start,
      start + this.lengthOf(a),
    )
  }

  /** Order of an entry against bytes. */
  compareBytes(entry: number, bytes: Uint8Array): number {
    const start = this.startOf(entry)
    return this.bufferOf(entry).compare(bytes, 0, bytes.length, start, start + this.lengthOf(entry))
  }

  /** Whether an entry starts with these bytes. */
  startsWith(entry: number, bytes: Uint8Array): boolean {
    if (this.lengthOf(entry) < bytes.length) return false
    const start = this.startOf(entry)
    return this.bufferOf(entry).compare(bytes, 0, bytes.length, start, start + bytes.length) === 0
  }

  /**
   * The entries there are at the call; those added later are not among them.
   *
   * @param isSteady - Nothing is added while the parts are read: then the hash table is among them,
   *   and {@link index} has nothing to do.
   */
  parts(name: string, isSteady: boolean): Part[] {
    const sizes = this.arena.chunkSizes()
    const places = this.places.length
    const parts = [
      partOf(`${name}.sizes`, Buffer.from(new Float64Array(sizes).buffer)),
      {
        name: `${name}.bytes`,
        bytes: sizes.reduce((sum, size) => sum + size, 0),
        memory: () => this.arena.memory(sizes),
      },
      {
        name: `${name}.places`,
        bytes: this.places.memoryBytes(places),
        memory: () => this.places.memory(places),
      },
    ]
    if (!isSteady) return parts
    const counts = this.slotCounts()
    return [
      ...parts,
      partOf(`${name}.counts`, Buffer.from(counts.buffer)),
      {
        name: `${name}.slots`,
        bytes: [...this.slotMemory()].reduce((sum, { length }) => sum + length, 0),
        memory: () => this.slotMemory(),
      },
    ]
  }

  /**
   * Room for a part of an equal dictionary; parts come in the order of {@link parts}.
   *
   * @param part - Name of the part after the dictionary's own.
   */
  room(part: string, bytes: number): Iterable<Uint8Array> | undefined {
    switch (part) {
      case 'sizes':
        this.loadedSizes = new Float64Array(wholeCount(bytes, Float64Array.BYTES_PER_ELEMENT))
        return [new Uint8Array(this.loadedSizes.buffer)]
      case 'bytes':
        return this.arena.room([...this.loadedSizes])
      case 'places':
        return this.places.room(bytes)
      case 'counts':
        this.loadedCounts = new Int32Array(wholeCount(bytes, Int32Array.BYTES_PER_ELEMENT))
        return [bytesOf(this.loadedCounts)]
      case 'slots':
        this.isIndexed = true
        return this.slotRoom(this.loadedCounts)
      default:
        return undefined
    }
  }

  /** Make entries that were loaded without a hash table findable. */
  async index(pause: Pause): Promise<void> {
    if (this.isIndexed) return
    this.isIndexed = true
    for (let entry = 0; entry < this.size; entry++) {
      const start = this.startOf(entry)
      this.addEntry(hashBytes(this.bufferOf(entry), start, start + this.lengthOf(entry)), entry)
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
  }

  /** Put a short text into `short`, and its hash into `shortHash`; returns its bytes. */
  private putShort(text: string): number {
    const { short } = this
    let hash = HASH_SEED
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit > 0x7f) {
        const length = short.write(text)
        this.shortHash = hashBytes(short, 0, length)
        return length
      }
      // In one pass, since the names of facts are mostly ASCII and looked up at every write.
      short[i] = unit
      hash = Math.imul(hash ^ unit, HASH_PRIME)
    }
    this.shortHash = mixHash(hash)
    return text.length
  }

  /** The look-up of every word of every text: a loop of its own, which calls nothing. */
  private findHashed(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.slotsOf(hash)
    if (slots === undefined) return -1
    const mask = slots.length - 1
    for (let at = (hash << 1) & mask; ; at = (at + 2) & mask) {
      const entry = (slots[at + 1] as number) - 1 // `at` is masked
      if (entry < 0) return -1
      if (slots[at] !== (hash | 0) || this.places.get(entry * 2 + 1) !== end - start) continue
      if (this.isAt(this.places.get(entry * 2), bytes, start, end)) return entry
    }
  }

  private isAt(address: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { arena } = this
    const buffer = arena.chunkAt(address)
    const shift = arena.offsetOf(address) - start
    for (let i = start; i < end; i++) {
      if (buffer[shift + i] !== bytes[i]) return false
    }
    return true
  }
}

/** FNV-1a with its bits spread, as an unsigned 32-bit number. */
function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let h = HASH_SEED
  for (let i = start; i < end; i++) h = Math.imul(h ^ (bytes[i] as number), HASH_PRIME)
  return mixHash(h)
}
