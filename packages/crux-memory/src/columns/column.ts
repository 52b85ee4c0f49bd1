const CHUNK_BITS = 16
const CHUNK_ROWS = 1 << CHUNK_BITS
const CHUNK_MASK = CHUNK_ROWS - 1
const FIRST_ROWS = 16

type Numbers = Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Uint8Array<ArrayBuffer>

/**
 * A growing list of numbers in typed arrays.
 *
 * It grows by whole chunks: appending copies at most 65,536 numbers, never the whole column, so no
 * append holds the event loop. Only three element types are used, so that engines keep `get` inline.
 */
export class Column<A extends Numbers = Numbers> {
  private readonly chunks: A[]
  private size = 0
  private readonly bytesPerNumber: number

  private constructor(private readonly make: (length: number) => A) {
    this.chunks = [make(FIRST_ROWS)]
    this.bytesPerNumber = this.chunks[0]?.BYTES_PER_ELEMENT ?? 1
  }

  /** Of signed 32-bit integers. */
  static int32(): Column<Int32Array<ArrayBuffer>> {
    return new Column((length) => new Int32Array(length))
  }

  /** Of 64-bit floats. */
  static float64(): Column<Float64Array<ArrayBuffer>> {
    return new Column((length) => new Float64Array(length))
  }

  /** Of bytes. */
  static uint8(): Column<Uint8Array<ArrayBuffer>> {
    return new Column((length) => new Uint8Array(length))
  }

  get length(): number {
    return this.size
  }

  /** @param row - 0 <= row < length; not checked. */
  get(row: number): number {
    // In range by the caller's promise.
    return (this.chunks[row >>> CHUNK_BITS] as A)[row & CHUNK_MASK] as number
  }

  /** @param row - 0 <= row < length; not checked. */
  set(row: number, value: number): void {
    const chunk = this.chunks[row >>> CHUNK_BITS] as A
    chunk[row & CHUNK_MASK] = value
  }

  /** Append one number; returns its row. */
  push(value: number): number {
    const row = this.size++
    const index = row >>> CHUNK_BITS
    let chunk = this.chunks[index]
    if (chunk === undefined) {
      chunk = this.make(CHUNK_ROWS)
      this.chunks.push(chunk)
    } else if ((row & CHUNK_MASK) >= chunk.length) {
      // Only the first chunk starts small, for the sake of many small tenants.
      const larger = this.make(Math.min(chunk.length * 2, CHUNK_ROWS))
      larger.set(chunk)
      chunk = larger
      this.chunks[index] = chunk
    }
    chunk[row & CHUNK_MASK] = value
    return row
  }

  /** The memory of the first `length` numbers, in order; later changes show in it. */
  *memory(length = this.size): Iterable<Uint8Array> {
    for (let row = 0; row < length; row += CHUNK_ROWS) {
      const chunk = this.chunks[row >>> CHUNK_BITS] as A // `row` is below the size
      const count = Math.min(length - row, CHUNK_ROWS)
      yield new Uint8Array(chunk.buffer, 0, count * this.bytesPerNumber)
    }
  }

  /** Bytes that {@link memory} gives. */
  memoryBytes(length = this.size): number {
    return length * this.bytesPerNumber
  }

  /**
   * Make an empty column as long as the bytes that {@link memory} gave.
   *
   * @returns Where to put them, in order.
   */
  *room(bytes: number): Iterable<Uint8Array> {
    const length = wholeCount(bytes, this.bytesPerNumber)
    if (length > 0) this.chunks.length = 0
    this.size = length
    for (let row = 0; row < length; row += CHUNK_ROWS) {
      const chunk = this.make(CHUNK_ROWS)
      this.chunks.push(chunk)
      const count = Math.min(length - row, CHUNK_ROWS)
      yield new Uint8Array(chunk.buffer, 0, count * this.bytesPerNumber)
    }
  }
}

/** @throws {RangeError} If the bytes are not a whole number of items. */
export function wholeCount(bytes: number, bytesPerItem: number): number {
  const count = bytes / bytesPerItem
  if (!Number.isSafeInteger(count)) {
    throw new RangeError(`${bytes} bytes, expected a multiple of ${bytesPerItem}`)
  }
  return count
}
