import { invalid, type Where } from './refusals.js'

/** Most numbers of a vector. */
export const MAX_VECTOR_DIMS = 65_536

/** Checks the vectors of one request: all are of one length, and every number is finite. */
export class VectorCheck {
  /** @param dims - Numbers per vector where that is known; else the first vector decides. */
  constructor(private dims: number | undefined) {}

  /**
   * A vector as it is kept; undefined when there is none.
   *
   * @throws {CruxError} `DOCUMENT_INVALID` with `data.expected` and `data.got`.
   */
  check(
    vector: Float32Array | readonly number[] | undefined,
    where: Where,
  ): Float32Array | undefined {
    if (vector === undefined) return undefined
    const { length } = vector
    if (length === 0 || length > MAX_VECTOR_DIMS) {
      const expected = `1 to ${MAX_VECTOR_DIMS}`
      throw invalid('vector', `has ${length} numbers, expected ${expected}`, where, {
        expected,
        got: length,
      })
    }
    this.dims ??= length
    if (length !== this.dims) {
      const why = `has ${length} numbers, expected ${this.dims} as all vectors of a request are of one model`
      throw invalid('vector', why, where, { expected: this.dims, got: length })
    }
    // Copied, so that whoever brought it may change it; numbers too large for 32 bits become infinite.
    const kept = Float32Array.from(vector)
    const at = kept.findIndex((number) => !Number.isFinite(number))
    if (at >= 0) {
      const got = vector[at]
      throw invalid('vector', `holds ${got} at ${at}, expected a finite 32-bit number`, where, {
        expected: 'a finite number',
        got,
      })
    }
    return kept
  }
}
