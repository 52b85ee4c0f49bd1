import { Column } from '../columns/column.js'

// A list grows by slices of these sizes, the last one repeated: short lists stay small, long ones
// are read nearly in sequence. The last four bytes of a slice point to the next.
const SLICE_BYTES = [12, 20, 36, 68, 132, 260, 516, 1028, 2052, 4100]
const LINK_BYTES = 4
const CHUNK_BYTES = 1 << 18
const CHUNK_MASK = CHUNK_BYTES - 1
const FIRST_BYTES = 1 << 10

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
  private readonly first = Column.int32()
  private readonly tail = Column.int32()
  private readonly tailEnd = Column.int32()
  private readonly last = Column.int32()
  private readonly counts = Column.int32()
  private readonly levels = Column.uint8()

  /** Lists. */
  get size(): number {
    return this.heads.length
  }

  /** Start a list with its first number; returns the list's own number. */
  add(value: number): number {
    return this.heads.push(value)
  }

  /** Append to a list a number that is not below its last; one equal to it is not added again. */
  append(list: number, value: number): void {
    const head = this.heads.get(list)
    if (head === value) return
    let long = -1 - head
    if (head >= 0) {
      const start = this.allocate(0)
      long = this.first.push(start)
      this.tail.push(start)
      this.tailEnd.push(start + sliceBytes(0) - LINK_BYTES)
      this.last.push(0)
      this.counts.push(0)
      this.levels.push(0)
      this.heads.set(list, -1 - long)
      this.write(long, head)
    } else if (this.last.get(long) === value) {
      return
    }
    this.write(long, value)
  }

  /** Numbers in a list. */
  count(list: number): number {
    const head = this.heads.get(list)
    return head >= 0 ? 1 : this.counts.get(-1 - head)
  }

  /** A reader, to be used for one list after another. */
  cursor(): PostingCursor {
    return new PostingCursor(this.chunks, (list, cursor) => {
      const head = this.heads.get(list)
      if (head >= 0) cursor.startShort(head)
      else cursor.startLong(this.first.get(-1 - head), this.counts.get(-1 - head))
    })
  }

  private write(long: number, value: number): void {
    let rest = value - this.last.get(long)
    while (rest > 0x7f) {
      this.writeByte(long, (rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    this.writeByte(long, rest)
    this.last.set(long, value)
    this.counts.set(long, this.counts.get(long) + 1)
  }

  private writeByte(long: number, byte: number): void {
    let at = this.tail.get(long)
    if (at === this.tailEnd.get(long)) {
      const level = Math.min(this.levels.get(long) + 1, SLICE_BYTES.length - 1)
      const next = this.allocate(level)
      const chunk = this.chunks[at >>> 18] as Uint8Array // `at` was allocated
      for (let i = 0; i < LINK_BYTES; i++) chunk[(at & CHUNK_MASK) + i] = next >>> (8 * i)
      this.levels.set(long, level)
      this.tailEnd.set(long, next + sliceBytes(level) - LINK_BYTES)
      at = next
    }
    const chunk = this.chunks[at >>> 18] as Uint8Array
    chunk[at & CHUNK_MASK] = byte
    this.tail.set(long, at + 1)
  }

  private allocate(level: number): number {
    const bytes = sliceBytes(level)
    let chunk = this.chunks.at(-1) as Uint8Array<ArrayBuffer> // there is always one
    if (this.used + bytes > chunk.length) {
      if (chunk.length < CHUNK_BYTES) {
        // Only the first chunk grows by copying, for the sake of many small tenants.
        const larger = new Uint8Array(chunk.length * 2)
        larger.set(chunk)
        chunk = larger
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
      const byte = (this.chunks[this.at >>> 18] as Uint8Array)[this.at & CHUNK_MASK] as number
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
    const chunk = this.chunks[this.at >>> 18] as Uint8Array
    const offset = this.at & CHUNK_MASK
    let next = 0
    for (let i = 0; i < LINK_BYTES; i++) next |= (chunk[offset + i] as number) << (8 * i)
    this.level = Math.min(this.level + 1, SLICE_BYTES.length - 1)
    this.at = next
    this.end = next + sliceBytes(this.level) - LINK_BYTES
  }
}

function sliceBytes(level: number): number {
  return SLICE_BYTES[level] as number // levels are bounded by the list's length
}
