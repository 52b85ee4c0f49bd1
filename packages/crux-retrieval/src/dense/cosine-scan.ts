import { CruxError } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'

/**
 * A query of length 1, in double precision so that products need no conversion; a zero vector
 * stays zero.
 *
 * @param dims - Expected length; undefined for any.
 * @throws {CruxError} `DENSE_DIMENSION`, `DENSE_NOT_FINITE`.
 */
export function unitQuery(query: Float32Array, dims: number | undefined): Float64Array {
  if (query.length === 0 || (dims !== undefined && query.length !== dims)) {
    throw new CruxError<RetrievalErrorCode>(
      'DENSE_DIMENSION',
      `query vector: expected ${dims ?? 'at least 1'} numbers, got ${query.length}; embed the query with the model of the index`,
      { data: { expected: dims ?? 1, got: query.length } },
    )
  }
  let squares = 0
  for (const [at, value] of query.entries()) {
    if (!Number.isFinite(value)) {
      throw new CruxError<RetrievalErrorCode>(
        'DENSE_NOT_FINITE',
        `query vector: expected a finite number at ${at}, got ${value}; embed the query again`,
        { data: { at, got: String(value) } },
      )
    }
    squares += value * value
  }
  const inverse = inverseRoot(squares)
  return Float64Array.from(query, (value) => value * inverse)
}

/** 1 over the square root; 0 for 0, so that a zero vector is near nothing. */
export function inverseRoot(squares: number): number {
  return squares > 0 ? 1 / Math.sqrt(squares) : 0
}

/**
 * Cosine of a stored vector with a query of length 1, kept within 0..1.
 *
 * @param at - Where the vector starts in `vectors`; `query.length` numbers from there are read.
 * @param inverseNorm - {@link inverseRoot} of the sum of its squares.
 */
export function cosineAt(
  vectors: Float32Array,
  at: number,
  inverseNorm: number,
  query: Float64Array,
): number {
  const score = dotAt(vectors, at, query) * inverseNorm
  return score <= 0 ? 0 : Math.min(score, 1)
}

// Four sums that do not wait for each other. Every index is below the length of its array.
function dotAt(vectors: Float32Array, at: number, query: Float64Array): number {
  const whole = query.length - (query.length % 4)
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let k = at
  for (let i = 0; i < whole; i += 4, k += 4) {
    a += (vectors[k] as number) * (query[i] as number)
    b += (vectors[k + 1] as number) * (query[i + 1] as number)
    c += (vectors[k + 2] as number) * (query[i + 2] as number)
    d += (vectors[k + 3] as number) * (query[i + 3] as number)
  }
  for (let i = whole; i < query.length; i++, k++) {
    a += (vectors[k] as number) * (query[i] as number)
  }
  return a + b + (c + d)
}
