const FIRST_BYTES = 4096
const CHUNK_BYTES = 4 * 1024 * 1024
/** Addresses of different chunks differ by this much; no chunk is larger. */
const ADDRESS_STEP = 2 ** 27

/** Appends byte strings to large buffers outside the garbage-collected heap; nothing is ever freed. */
export class ByteArena {
  private readonly chunks: Buffer[] = []
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
    let chunk = this.chunks.at(-1)
    if (chunk === undefined || this.used + length > chunk.length) {
      const next = Math.min((chunk?.length ?? FIRST_BYTES / 2) * 2, CHUNK_BYTES)
      chunk = Buffer.allocUnsafeSlow(Math.max(next, length))
      this.chunks.push(chunk)
      this.used = 0
    }
    // A plain loop beats a view for the short strings that make up most of the input.
    if (length < 64) {
      for (let i = 0; i < length; i++) chunk[this.used + i] = source[start + i] as number
    } else {
      chunk.set(source.subarray(start, end), this.used)
    }
    const address = (this.chunks.length - 1) * ADDRESS_STEP + this.used
    this.used += length
    this.bytes += length
    return address
  }

  /** The buffer that holds an address; only {@link offsetOf} and what follows belongs to it. */
  chunkAt(address: number): Buffer {
    // Addresses come from `append`.
    return this.chunks[Math.floor(address / ADDRESS_STEP)] as Buffer
  }

  /** Where in its buffer an address lies. */
  offsetOf(address: number): number {
    return address % ADDRESS_STEP
  }
}
