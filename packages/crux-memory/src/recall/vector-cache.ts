import type { Embedder } from 'crux-retrieval'

/** Texts per call of the embedder. */
const BATCH = 32
/** Memory that vectors may take, unless told otherwise. */
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024

/** A text to be embedded, and the name under which its vector is remembered. */
export interface VectorInput {
  readonly id: string
  text(): string
}

/**
 * Vectors of facts, computed when a query needs them and remembered within a bound, least recently
 * used first out. They are no state: a restart changes when they are computed and nothing else.
 */
export class VectorCache {
  // In order of use: a Map keeps insertion order.
  private readonly vectors = new Map<string, Float32Array>()
  private bytes = 0

  constructor(
    private readonly embedder: Embedder,
    private readonly maxBytes = DEFAULT_MAX_BYTES,
  ) {}

  /** Call `use` with the vector of each input; in no particular order. */
  async visit(
    inputs: readonly VectorInput[],
    use: (index: number, vector: Float32Array) => void,
  ): Promise<void> {
    const missing: number[] = []
    for (const [index, { id }] of inputs.entries()) {
      const vector = this.vectors.get(id)
      if (vector === undefined) {
        missing.push(index)
        continue
      }
      this.vectors.delete(id)
      this.vectors.set(id, vector)
      use(index, vector)
    }
    for (let from = 0; from < missing.length; from += BATCH) {
      const batch = missing.slice(from, from + BATCH)
      const vectors = await this.embedder.embed(batch.map((index) => inputs[index]?.text() ?? ''))
      for (const [i, index] of batch.entries()) {
        const vector = vectors[i]
        const input = inputs[index]
        if (vector === undefined || input === undefined) {
          throw new Error(`the embedder gave ${vectors.length} vectors for ${batch.length} texts`)
        }
        use(index, vector)
        this.keep(input.id, vector)
      }
    }
  }

  private keep(id: string, vector: Float32Array): void {
    if (!this.vectors.has(id)) this.bytes += vector.byteLength
    this.vectors.set(id, vector)
    for (const [oldest, dropped] of this.vectors) {
      if (this.bytes <= this.maxBytes) return
      this.vectors.delete(oldest)
      this.bytes -= dropped.byteLength
    }
  }
}
