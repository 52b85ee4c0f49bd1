import type { Position } from './journal.js'

/** Bytes of one entry in {@link KeyTable.entries}: two hash words and a position, little-endian. */
export const KEY_ENTRY_BYTES = 16

// Many small tables instead of one, so that growing never takes more than a fraction of a
// millisecond: the event loop is not to be held while a table of millions is rehashed.
const SHARDS = 256
const FIRST_CAPACITY = 8
const MAX_LOAD = 0.75

/**
 * Newest position of each key, in 16 bytes a slot: a `Map` of key strings would take over a
 * hundred, and a journal of a million keys is ordinary.
 *
 * Keys are told apart by 64 bits of HalfSipHash-2-4 under a secret seed, so two of ten million
 * keys share an entry with a probability of about 3 in a million, and nobody can choose them to.
 */
export class KeyTable {
  private readonly shards: (Shard | undefined)[] = new Array(SHARDS).fill(undefined)
  private readonly hash = new Uint32Array(2)
  private count = 0

  /** @param seed - 8 bytes, random for a new journal. */
  constructor(readonly seed: Uint8Array) {
    const view = new DataView(seed.buffer, seed.byteOffset, 8)
    this.seed0 = view.getUint32(0, true)
    this.seed1 = view.getUint32(4, true)
  }

  private readonly seed0: number
  private readonly seed1: number

  /** Number of keys. */
  get size(): number {
    return this.count
  }

  get(key: string): Position | undefined {
    halfSipHash(key, this.seed0, this.seed1, this.hash)
    const [low, high] = this.hash as unknown as [number, number]
    return this.shards[low & (SHARDS - 1)]?.get(low, high)
  }

  set(key: string, at: Position): void {
    halfSipHash(key, this.seed0, this.seed1, this.hash)
    const [low, high] = this.hash as unknown as [number, number]
    this.setHash(low, high, at)
  }

  /** All entries as bytes, a piece at a time; a change made between pieces may or may not be in. */
  *entries(): Iterable<Uint8Array> {
    for (const shard of this.shards) {
      if (shard !== undefined && shard.count > 0) yield shard.encode()
    }
  }

  /** Add entries written by {@link entries}. @param bytes - A multiple of {@link KEY_ENTRY_BYTES}. */
  addEntries(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let i = 0; i < bytes.length; i += KEY_ENTRY_BYTES) {
      const at = Number(view.getBigUint64(i + 8, true))
      this.setHash(view.getUint32(i, true), view.getUint32(i + 4, true), at)
    }
  }

  private setHash(low: number, high: number, at: Position): void {
    const index = low & (SHARDS - 1)
    let shard = this.shards[index]
    if (shard === undefined) {
      shard = new Shard()
      this.shards[index] = shard
    }
    if (shard.set(low, high, at)) this.count++
  }
}

/** Open addressing with linear probing; position 0 marks a free slot. */
class Shard {
  count = 0
  private capacity = FIRST_CAPACITY
  private words = new Uint32Array(FIRST_CAPACITY * 2)
  private positions = new Float64Array(FIRST_CAPACITY)

  get(low: number, high: number): Position | undefined {
    const at = this.positions[this.slot(low, high)]
    return at === 0 ? undefined : at
  }

  /** @returns true when the key is new. */
  set(low: number, high: number, at: Position): boolean {
    const slot = this.slot(low, high)
    const isNew = this.positions[slot] === 0
    this.words[slot * 2] = low
    this.words[slot * 2 + 1] = high
    this.positions[slot] = at
    if (isNew && ++this.count > this.capacity * MAX_LOAD) this.grow()
    return isNew
  }

  encode(): Uint8Array {
    const bytes = new Uint8Array(this.count * KEY_ENTRY_BYTES)
    const view = new DataView(bytes.buffer)
    let offset = 0
    this.positions.forEach((at, slot) => {
      if (at === 0) return
      view.setUint32(offset, this.words[slot * 2] ?? 0, true)
      view.setUint32(offset + 4, this.words[slot * 2 + 1] ?? 0, true)
      view.setBigUint64(offset + 8, BigInt(at), true)
      offset += KEY_ENTRY_BYTES
    })
    return bytes
  }

  private slot(low: number, high: number): number {
    const mask = this.capacity - 1
    // The lowest bits chose the shard; the others choose the slot.
    let slot = (low >>> 8) & mask
    while (this.positions[slot] !== 0) {
      if (this.words[slot * 2] === low && this.words[slot * 2 + 1] === high) break
      slot = (slot + 1) & mask
    }
    return slot
  }

  private grow(): void {
    const { words, positions } = this
    this.capacity *= 2
    this.words = new Uint32Array(this.capacity * 2)
    this.positions = new Float64Array(this.capacity)
    positions.forEach((at, old) => {
      if (at === 0) return
      const low = words[old * 2] ?? 0
      const high = words[old * 2 + 1] ?? 0
      const slot = this.slot(low, high)
      this.words[slot * 2] = low
      this.words[slot * 2 + 1] = high
      this.positions[slot] = at
    })
  }
}

/**
 * 64 bits of HalfSipHash-2-4 over the UTF-16 units of a text, two bytes each, little-endian.
 *
 * @param out - Receives the low and the high word.
 * @see Aumasson & Bernstein, "SipHash: a fast short-input PRF" (2012)
 */
export function halfSipHash(text: string, seed0: number, seed1: number, out: Uint32Array): void {
  let v0 = seed0
  let v1 = seed1 ^ 0xee
  let v2 = 0x6c796765 ^ seed0
  let v3 = 0x74656462 ^ seed1
  const words = (text.length >>> 1) + 1
  // One loop over the words and the two ends, with the round written out: a function for it would keep
  // the state in memory, where each step makes a number for the garbage collector.
  for (let step = 0; step < words + 2; step++) {
    let word = 0
    let rounds = 4
    if (step < words) {
      word = wordOf(text, step * 2)
      rounds = 2
      v3 ^= word
    } else if (step === words) {
      v2 ^= 0xee
    } else {
      out[0] = v1 ^ v3
      v1 ^= 0xdd
    }
    for (; rounds > 0; rounds--) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    v0 ^= word
  }
  out[1] = v1 ^ v3
}

/** The two units from `at`; the last word also says how long the text is. */
function wordOf(text: string, at: number): number {
  const { length } = text
  if (at + 1 < length) return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)
  return ((length * 2) << 24) | (at < length ? text.charCodeAt(at) : 0)
}
