import { CruxError } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'

/** Numbers that a vector may have at most; more than any model gives. */
export const MAX_DIMS = 65_536

/**
 * Turn what a service gave into vectors, or say what is wrong with it.
 *
 * @param rows - Lists of numbers, in the order of the texts.
 * @param expected.count - Vectors that there must be.
 * @param expected.dims - Numbers per vector; 0 when the first vector decides.
 * @param from - Whose answer it is, for messages.
 * @throws {CruxError} `EMBED_COUNT_MISMATCH`, `EMBED_DIMENSION_MISMATCH`, `EMBED_NOT_FINITE`,
 *   `EMBED_REPLY_INVALID`.
 */
export function toVectors(
  rows: readonly unknown[],
  expected: { readonly count: number; readonly dims: number },
  from: string,
): Float32Array[] {
  if (rows.length !== expected.count) {
    throw new CruxError<RetrievalErrorCode>(
      'EMBED_COUNT_MISMATCH',
      `${from} gave ${rows.length} vectors for ${expected.count} texts; the service does not keep its protocol`,
      { data: { expected: expected.count, got: rows.length } },
    )
  }
  let { dims } = expected
  return rows.map((row, index) => {
    if (!Array.isArray(row)) {
      throw new CruxError<RetrievalErrorCode>(
        'EMBED_REPLY_INVALID',
        `${from} gave no list of numbers for text ${index}; the service does not keep its protocol`,
        { data: { expected: 'a list of numbers', index } },
      )
    }
    if (dims === 0) dims = row.length
    if (row.length !== dims || dims < 1 || dims > MAX_DIMS) {
      throw new CruxError<RetrievalErrorCode>(
        'EMBED_DIMENSION_MISMATCH',
        `${from} gave ${row.length} numbers for text ${index}, expected ${dims < 1 || dims > MAX_DIMS ? `1 to ${MAX_DIMS}` : dims}; see that the model was not changed`,
        { data: { expected: dims, got: row.length, index } },
      )
    }
    return toVector(row, index, from)
  })
}

function toVector(row: readonly unknown[], index: number, from: string): Float32Array {
  const vector = new Float32Array(row.length)
  for (let at = 0; at < row.length; at++) {
    const number = row[at]
    // JSON has no NaN: services write null. A double may also be too large for 32 bits.
    vector[at] = typeof number === 'number' ? number : Number.NaN
    if (!Number.isFinite(vector[at])) {
      throw new CruxError<RetrievalErrorCode>(
        'EMBED_NOT_FINITE',
        `${from} gave no finite number at place ${at} of the vector of text ${index}; such a vector cannot be compared`,
        { data: { index, at, got: number === null ? 'null' : typeof number } },
      )
    }
  }
  return vector
}
