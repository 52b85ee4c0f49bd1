const FIRST_BYTES = 4096
const CHUNK_BYTES = 4 * 1024 * 1024
/** Addresses of different chunks differ by this much; no chunk is larger. */
const ADDRESS_STEP = 2 ** 27
const STEPS_PER_ADDRESS = 2 ** -27
/** UTF-8 bytes of a UTF-16 unit, at most. */
const BYTES_PER_UNIT = 3

/** Appends byte strings to large buffers outside the garbage-collected heap; nothing is ever freed. */
export class ByteArena {
  private readonly chunks: Buffer[] = []
  /** Bytes used of each chunk before the last one. */
  private readonly filled: number[] = []
  /** Bytes of the last text that was appended. */
  lastLength = 0
  private used = 0
  private bytes = 0

  /** Bytes appended so far. */
  get size(): number {
    return this.bytes
  }

  /**
   * Keep a copy of `source[start..end)`.
   *
   * @returns Address for {@link chunkAt} and {@link offsetOf}.
   */
  append(source: Uint8Array, start: number, end: number): number {
    const length = end - start
    const chunk = this.chunkFor(length)
    // A plain loop beats a view for the short strings that make up most of the input.
    if (length < 64) {
      for (let i = 0; i < length; i++) chunk[this.used + i] = source[start + i] as number
    } else {
      chunk.set(source.subarray(start, end), this.used)
    }
    return this.take(length)
  }

  /** Keep the UTF-8 form of a text; returns its address, and leaves its length in {@link lastLength}. */
  appendText(text: string): number {
    const most = text.length * BYTES_PER_UNIT
    if (most > CHUNK_BYTES / 4) {
      // Room for the worst case would be wasted.
      const bytes = Buffer.from(text)
      this.lastLength = bytes.length
      return this.append(bytes, 0, bytes.length)
    }
    const chunk = this.chunkFor(most)
    this.lastLength = chunk.write(text, this.used)
    return this.take(this.lastLength)
  }

  /** A chunk with room for so many bytes. */
  private chunkFor(length: number): Buffer {
    let chunk = this.chunks.at(-1)
    if (chunk === undefined || this.used + length > chunk.length) {
      const next = Math.min((chunk?.length ?? FIRST_BYTES / 2) * 2, CHUNK_BYTES)
      chunk = Buffer.allocUnsafeSlow(Math.max(next, length))
      if (this.chunks.length > 0) this.filled.push(this.used)
      this.chunks.push(chunk)
      this.used = 0
    }
    return chunk
  }

  private take(length: number): number {
    const address = (this.chunks.length - 1) * ADDRESS_STEP + this.used
    this.used += length
    this.bytes += length
    return address
  }

  /** The buffer that holds an address; only {@link offsetOf} and what follows belongs to it. */
  chunkAt(address: number): Buffer {
    // Addresses come from `append`.
    return this.chunks[Math.floor(address * STEPS_PER_ADDRESS)] as Buffer
  }

  /** Bytes used of each chunk, as {@link memory} gives them. */
  chunkSizes(): readonly number[] {
    return this.chunks.length === 0 ? [] : [...this.filled, this.used]
  }

  /** The memory of everything appended until `sizes` was taken, in order. */
  *memory(sizes: readonly number[]): Iterable<Uint8Array> {
    for (const [index, size] of sizes.entries()) {
      // Sizes come from `chunkSizes`, and chunks stay.
      yield (this.chunks[index] as Buffer).subarray(0, size)
    }
  }

  /**
   * Make an empty arena as large as one that had these chunks; addresses stay as they were.
   *
   * @returns Where to put the bytes, in order.
   */
  *room(sizes: readonly number[]): Iterable<Uint8Array> {
    for (const size of sizes) {
      if (!(size <= ADDRESS_STEP)) throw new RangeError(`a chunk of ${size} bytes is too large`)
      if (this.chunks.length > 0) this.filled.push(this.used)
      const chunk = Buffer.allocUnsafeSlow(size)
      this.chunks.push(chunk)
      this.used = size
      this.bytes += size
      yield chunk
    }
  }

  /** Where in its buffer an address lies. */
  offsetOf(address: number): number {
    // Exact, as the step is a power of two, and several times faster than a remainder.
    return address - Math.floor(address * STEPS_PER_ADDRESS) * ADDRESS_STEP
  }
}
