const SHARD_BITS = 6
const FIRST_SLOTS = 8

/**
 * Numbered entries by a 32-bit hash; a subclass says where entries live and finds the one it looks for.
 *
 * Open addressing with linear probing in 64 separate arrays: growing rehashes one of them, so that
 * no insertion into a large table holds the event loop.
 *
 * ```
 * slot: | hash i32 | entry + 1, or 0 when free i32 |
 * ```
 */
export abstract class HashTable {
  private readonly shards: (Int32Array | undefined)[] = new Array(1 << SHARD_BITS).fill(undefined)
  private readonly used = new Int32Array(1 << SHARD_BITS)

  /** The slots among which entries with this hash are: from `(hash << 1) & (length - 1)` on, up to a free one. */
  protected slotsOf(hash: number): Int32Array | undefined {
    return this.shards[hash >>> (32 - SHARD_BITS)]
  }

  /** Slots of each of the 64 arrays, and entries in each. */
  protected slotCounts(): Int32Array {
    const counts = new Int32Array(2 << SHARD_BITS)
    this.shards.forEach((slots, shard) => {
      counts[shard * 2] = slots?.length ?? 0
      counts[shard * 2 + 1] = this.used[shard] as number // one for each shard
    })
    return counts
  }

  /** The memory of the arrays, in order; valid until an entry is added. */
  protected *slotMemory(): Iterable<Uint8Array> {
    for (const slots of this.shards) if (slots !== undefined) yield bytesOf(slots)
  }

  /**
   * Make an empty table as large as one that had these {@link slotCounts}.
   *
   * @returns Where to put what {@link slotMemory} gave.
   */
  protected slotRoom(counts: Int32Array): Iterable<Uint8Array> {
    const room: Uint8Array[] = []
    for (let shard = 0; shard < this.shards.length; shard++) {
      const length = counts[shard * 2] ?? 0
      if (length === 0) continue
      const slots = new Int32Array(length)
      this.shards[shard] = slots
      this.used[shard] = counts[shard * 2 + 1] ?? 0
      room.push(bytesOf(slots))
    }
    return room
  }

  /** Add an entry that is not there yet. */
  protected addEntry(hash: number, entry: number): void {
    const shard = hash >>> (32 - SHARD_BITS)
    let slots = this.shards[shard]
    const used = (this.used[shard] as number) + 1 // `shard` has SHARD_BITS bits
    if (slots === undefined || used * 4 > slots.length) {
      const larger = new Int32Array(slots === undefined ? FIRST_SLOTS * 2 : slots.length * 2)
      for (let at = 0; slots !== undefined && at < slots.length; at += 2) {
        const moved = slots[at + 1] as number
        if (moved !== 0) place(larger, slots[at] as number, moved)
      }
      slots = larger
      this.shards[shard] = slots
    }
    this.used[shard] = used
    place(slots, hash | 0, entry + 1)
  }
}

/** The memory of integers, as bytes. */
export function bytesOf(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
}

function place(slots: Int32Array, hash: number, value: number): void {
  const mask = slots.length - 1
  let at = (hash << 1) & mask
  while (slots[at + 1] !== 0) at = (at + 2) & mask
  slots[at] = hash
  slots[at + 1] = value
}

/** Spread the bits of a 32-bit number over all 32. */
export function mixHash(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
