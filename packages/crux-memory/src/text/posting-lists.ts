import { Column, wholeCount } from '../columns/column.js'
import { bytesOf } from '../columns/hash-table.js'
import { type Part, partOf } from '../columns/parts.js'

// A list grows by slices of these sizes, the last one repeated: short lists stay small, long ones
// are read nearly in sequence. The last four bytes of a slice point to the next.
const SLICE_BYTES = [9, 14, 24, 44, 84, 164, 324, 644, 1284, 2564]
const LINK_BYTES = 4
const CHUNK_BITS = 18
const CHUNK_BYTES = 1 << CHUNK_BITS
const CHUNK_MASK = CHUNK_BYTES - 1
const FIRST_BYTES = 1 << 10

// State of a long list: eight integers side by side, because an append touches most of them and
// each of another place in memory would be a cache miss.
const FIRST = 0
const TAIL = 1
const TAIL_END = 2
const LAST = 3
const COUNT = 4
const LEVEL = 5
const STATE_BITS = 3
const STATES_PER_CHUNK_BITS = 12
const STATES_MASK = (1 << STATES_PER_CHUNK_BITS) - 1
const FIRST_STATES = 8

/**
 * Many growing lists of ascending integers, packed into shared buffers.
 *
 * A list of one number is that number; longer ones are differences, seven bits a byte, least first.
 */
export class PostingLists {
  private readonly chunks: Uint8Array<ArrayBuffer>[] = [new Uint8Array(FIRST_BYTES)]
  private used = 0
  /** Per list: its number while it has one, else -1 - index of the long list. */
  private readonly heads = Column.int32()
  private readonly states: Int32Array<ArrayBuffer>[] = [new Int32Array(FIRST_STATES << STATE_BITS)]
  private longLists = 0
  /** What {@link prefetch} read. */
  private touched = new Int32Array(0)
  private loadedCounts = new Float64Array(2)

  /** Lists. */
  get size(): number {
    return this.heads.length
  }

  /** Bytes that the lists take. */
  get bytes(): number {
    return this.chunks.length * CHUNK_BYTES + (this.longLists << 5) + this.size * 4
  }

  /** Start a list with its first number; returns the list's own number. */
  add(value: number): number {
    return this.heads.push(value)
  }

  /** Append to a list a number that is not below its last; one equal to it is not added again. */
  append(list: number, value: number): void {
    const head = this.heads.get(list)
    if (head >= 0) {
      if (head === value) return
      const long = this.startLong()
      this.heads.set(list, -1 - long)
      const state = this.stateOf(long)
      const at = (long & STATES_MASK) << STATE_BITS
      this.write(state, at, head)
      this.write(state, at, value)
      return
    }
    const long = -1 - head
    const state = this.stateOf(long)
    const at = (long & STATES_MASK) << STATE_BITS
    if (state[at + LAST] !== value) this.write(state, at, value)
  }

  /**
   * Have what appends to these lists touch fetched from memory, all of it at once.
   *
   * @param lists - Each -1 for none; the first `count` of them.
   */
  prefetch(lists: Int32Array, count: number): void {
    // Indices are below the count. Each loop reads what the one before it found out where to look for.
    if (this.touched.length < count) this.touched = new Int32Array(lists.length)
    const { touched } = this
    for (let i = 0; i < count; i++) {
      const list = lists[i] as number
      touched[i] = list === -1 ? 0 : this.heads.get(list)
    }
    for (let i = 0; i < count; i++) {
      const long = -1 - (touched[i] as number)
      const at = (long & STATES_MASK) << STATE_BITS
      touched[i] = long < 0 ? -1 : (this.stateOf(long)[at + TAIL] as number)
    }
    let sum = 0
    for (let i = 0; i < count; i++) {
      const tail = touched[i] as number
      const chunk = tail === -1 ? undefined : this.chunks[tail >>> CHUNK_BITS]
      if (chunk !== undefined) sum += chunk[tail & CHUNK_MASK] as number
    }
    // Kept, or the engine would see that nobody needs what was read.
    touched[0] = sum
  }

  /** Numbers in a list. */
  count(list: number): number {
    const head = this.heads.get(list)
    if (head >= 0) return 1
    const long = -1 - head
    return this.stateOf(long)[((long & STATES_MASK) << STATE_BITS) + COUNT] as number
  }

  /** A reader, to be used for one list after another. */
  cursor(): PostingCursor {
    return new PostingCursor(this.chunks, (list, cursor) => {
      const head = this.heads.get(list)
      if (head >= 0) {
        cursor.startShort(head)
        return
      }
      const long = -1 - head
      const state = this.stateOf(long)
      const at = (long & STATES_MASK) << STATE_BITS
      cursor.startLong(state[at + FIRST] as number, state[at + COUNT] as number)
    })
  }

  /** All lists; they may not grow while the parts are read. */
  parts(name: string): Part[] {
    const stateBytes = (this.longLists << STATE_BITS) * Int32Array.BYTES_PER_ELEMENT
    const chunkBytes = (this.chunks.length - 1) * CHUNK_BYTES + this.used
    return [
      partOf(`${name}.counts`, Buffer.from(Float64Array.of(this.longLists, this.used).buffer)),
      {
        name: `${name}.heads`,
        bytes: this.heads.memoryBytes(),
        memory: () => this.heads.memory(),
      },
      {
        name: `${name}.states`,
        bytes: stateBytes,
        memory: () => cutTo(stateBytes, this.states.map(bytesOf)),
      },
      {
        name: `${name}.chunks`,
        bytes: chunkBytes,
        memory: () => cutTo(chunkBytes, this.chunks),
      },
    ]
  }

  /** Room for a part of equal lists; parts come in the order of {@link parts}. */
  room(part: string, bytes: number): Iterable<Uint8Array> | undefined {
    switch (part) {
      case 'counts':
        this.loadedCounts = new Float64Array(wholeCount(bytes, Float64Array.BYTES_PER_ELEMENT))
        return [new Uint8Array(this.loadedCounts.buffer)]
      case 'heads':
        return this.heads.room(bytes)
      case 'states': {
        this.longLists = this.loadedCounts[0] ?? 0
        const full = 1 << (STATES_PER_CHUNK_BITS + STATE_BITS)
        return this.roomFor(bytes, this.states, () => new Int32Array(full), bytesOf)
      }
      case 'chunks':
        this.used = this.loadedCounts[1] ?? 0
        return this.roomFor(
          bytes,
          this.chunks,
          () => new Uint8Array(CHUNK_BYTES),
          (chunk) => chunk,
        )
      default:
        return undefined
    }
  }

  /** Fill a list with arrays of the usual size, as many as `bytes` take, and give their memory. */
  private *roomFor<A>(
    bytes: number,
    list: A[],
    make: () => A,
    memoryOf: (array: A) => Uint8Array,
  ): Iterable<Uint8Array> {
    list.length = 0
    list.push(make())
    for (let left = bytes; left > 0; ) {
      const memory = memoryOf(list.at(-1) as A).subarray(0, left) // there is one
      yield memory
      left -= memory.length
      if (left > 0) list.push(make())
    }
  }

  // Below, indexes into states and chunks come from what was allocated, and are in range.

  private stateOf(long: number): Int32Array<ArrayBuffer> {
    return this.states[long >>> STATES_PER_CHUNK_BITS] as Int32Array<ArrayBuffer>
  }

  private startLong(): number {
    const long = this.longLists++
    const index = long >>> STATES_PER_CHUNK_BITS
    const full = 1 << (STATES_PER_CHUNK_BITS + STATE_BITS)
    const at = (long & STATES_MASK) << STATE_BITS
    let state = this.states[index]
    if (state === undefined) {
      state = new Int32Array(full)
      this.states.push(state)
    } else if (at >= state.length) {
      // Only the first one starts small, for the sake of many small tenants.
      const larger = new Int32Array(Math.min(state.length * 2, full))
      larger.set(state)
      state = larger
      this.states[index] = larger
    }
    const start = this.allocate(0)
    state[at + FIRST] = start
    state[at + TAIL] = start
    state[at + TAIL_END] = start + sliceBytes(0) - LINK_BYTES
    return long
  }

  private write(state: Int32Array, at: number, value: number): void {
    let rest = value - (state[at + LAST] as number)
    let tail = state[at + TAIL] as number
    for (;;) {
      if (tail === state[at + TAIL_END]) tail = this.extend(state, at, tail)
      const chunk = this.chunks[tail >>> CHUNK_BITS] as Uint8Array
      if (rest < 0x80) {
        chunk[tail & CHUNK_MASK] = rest
        break
      }
      chunk[tail & CHUNK_MASK] = (rest & 0x7f) | 0x80
      rest >>>= 7
      tail++
    }
    state[at + TAIL] = tail + 1
    state[at + LAST] = value
    state[at + COUNT] = (state[at + COUNT] as number) + 1
  }

  /** Add a slice and link it to the full one; returns where to write on. */
  private extend(state: Int32Array, at: number, tail: number): number {
    const level = Math.min((state[at + LEVEL] as number) + 1, SLICE_BYTES.length - 1)
    const next = this.allocate(level)
    // After allocating, which may replace the chunk.
    const chunk = this.chunks[tail >>> CHUNK_BITS] as Uint8Array
    for (let i = 0; i < LINK_BYTES; i++) chunk[(tail & CHUNK_MASK) + i] = next >>> (8 * i)
    state[at + LEVEL] = level
    state[at + TAIL_END] = next + sliceBytes(level) - LINK_BYTES
    return next
  }

  private allocate(level: number): number {
    const bytes = sliceBytes(level)
    const chunk = this.chunks.at(-1) as Uint8Array<ArrayBuffer> // there is always one
    if (this.used + bytes > chunk.length) {
      if (chunk.length < CHUNK_BYTES) {
        // Only the first chunk grows by copying, for the sake of many small tenants.
        const larger = new Uint8Array(Math.min(chunk.length * 4, CHUNK_BYTES))
        larger.set(chunk)
        this.chunks[this.chunks.length - 1] = larger
        return this.allocate(level)
      }
      this.chunks.push(new Uint8Array(CHUNK_BYTES))
      this.used = 0
    }
    const address = (this.chunks.length - 1) * CHUNK_BYTES + this.used
    this.used += bytes
    return address
  }
}

/** Reads one list of {@link PostingLists} at a time, in ascending order. */
export class PostingCursor {
  private remaining = 0
  private at = 0
  private end = 0
  private level = 0
  private value = 0
  private isShort = false

  constructor(
    private readonly chunks: readonly Uint8Array[],
    private readonly open: (list: number, cursor: PostingCursor) => void,
  ) {}

  /** Start reading a list. */
  reset(list: number): void {
    this.open(list, this)
  }

  /** The next number; -1 at the end. Numbers appended meanwhile are not read. */
  next(): number {
    if (this.remaining === 0) return -1
    this.remaining--
    if (this.isShort) return this.value
    let delta = 0
    let shift = 0
    for (;;) {
      if (this.at === this.end) this.followLink()
      const chunk = this.chunks[this.at >>> CHUNK_BITS] as Uint8Array
      const byte = chunk[this.at & CHUNK_MASK] as number
      this.at++
      delta |= (byte & 0x7f) << shift
      if (byte < 0x80) break
      shift += 7
    }
    this.value += delta
    return this.value
  }

  /** @internal */
  startShort(value: number): void {
    this.isShort = true
    this.value = value
    this.remaining = 1
  }

  /** @internal */
  startLong(first: number, count: number): void {
    this.isShort = false
    this.value = 0
    this.remaining = count
    this.at = first
    this.level = 0
    this.end = first + sliceBytes(0) - LINK_BYTES
  }

  private followLink(): void {
    const chunk = this.chunks[this.at >>> CHUNK_BITS] as Uint8Array
    const offset = this.at & CHUNK_MASK
    let next = 0
    for (let i = 0; i < LINK_BYTES; i++) next |= (chunk[offset + i] as number) << (8 * i)
    this.level = Math.min(this.level + 1, SLICE_BYTES.length - 1)
    this.at = next
    this.end = next + sliceBytes(this.level) - LINK_BYTES
  }
}

/** The first `bytes` bytes of memory in pieces. */
function* cutTo(bytes: number, pieces: readonly Uint8Array[]): Iterable<Uint8Array> {
  let left = bytes
  for (const piece of pieces) {
    if (left === 0) return
    const some = piece.subarray(0, left)
    yield some
    left -= some.length
  }
}

function sliceBytes(level: number): number {
  return SLICE_BYTES[level] as number // levels are bounded by the list's length
}
