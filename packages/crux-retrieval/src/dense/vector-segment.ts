import { CruxError } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'
import type { BinaryCodes } from './binary-codes.js'
import { inverseRoot } from './cosine-scan.js'
import type { AllowedDocs, VectorRows } from './vector-types.js'

/** What is known of a segment's vectors for as long as it is in the index. */
export interface StoredVectors extends VectorRows {
  /** 1 over the length of each vector; 0 for a zero vector. */
  readonly inverseNorms: Float64Array
  /** Absent until they are made. */
  codes?: BinaryCodes
}

/** One segment of an index as it is at one time; replaced, not changed, when documents are hidden. */
export interface VectorSegment {
  readonly key: string
  readonly stored: StoredVectors
  /** One byte per vector, 1 where its document is hidden; undefined when none is. */
  readonly hidden: Uint8Array | undefined
}

/** Numbers read between two looks at the clock. */
const SLICE_NUMBERS = 512 * 1024
/** Vectors asked about between two looks at the clock. */
const SLICE_ROWS = 16 * 1024

/**
 * Check a segment's vectors and measure their lengths. Yields where a pause may be taken.
 *
 * @param dims - Dimension that the index insists on; undefined for any.
 * @throws {CruxError} `DENSE_DIMENSION`, `DENSE_SHAPE`, `DENSE_NOT_FINITE`, `INDEX_DOC_ORDER`.
 */
export function* readVectors(
  key: string,
  rows: VectorRows,
  dims: number | undefined,
): Generator<void, VectorSegment> {
  const { dim, docIds, vectors, space } = rows
  requireShape(key, rows, dims)
  const inverseNorms = new Float64Array(docIds.length)
  const slice = Math.max(1, Math.floor(SLICE_NUMBERS / dim))
  for (let row = 0; row < docIds.length; row++) {
    if (row > 0 && row % slice === 0) yield
    // Both rows are below the length.
    const docId = docIds[row] as number
    if (row > 0 && docId <= (docIds[row - 1] as number)) {
      throw new CruxError<RetrievalErrorCode>(
        'INDEX_DOC_ORDER',
        `segment ${key}: document ${docId} follows ${docIds[row - 1]}; give vectors in ascending order of documents, one each`,
        { data: { segment: key, docId } },
      )
    }
    let squares = 0
    for (let at = row * dim; at < (row + 1) * dim; at++) {
      const value = vectors[at] as number
      squares += value * value
    }
    // Squares of finite numbers of 32 bits cannot overflow a double.
    if (!Number.isFinite(squares)) throw notFinite(key, rows, row)
    inverseNorms[row] = inverseRoot(squares)
  }
  const stored: StoredVectors = { dim, docIds, vectors, space, inverseNorms }
  return { key, stored, hidden: undefined }
}

/** The segment with more documents hidden; those that have no vector are passed over. */
export function hideVectors(segment: VectorSegment, docIds: Iterable<number>): VectorSegment {
  const { stored } = segment
  const hidden = segment.hidden?.slice() ?? new Uint8Array(stored.docIds.length)
  for (const docId of docIds) {
    const row = findRow(stored.docIds, docId)
    if (row >= 0) hidden[row] = 1
  }
  return { ...segment, hidden }
}

/** Place of a document's vector; -1 when it has none. */
export function findRow(docIds: Uint32Array, docId: number): number {
  let first = 0
  let last = docIds.length - 1
  // Nearly always every document has a vector: its place is then known.
  if (docIds[docId] === docId) return docId
  while (first <= last) {
    const middle = (first + last) >>> 1
    const found = docIds[middle] as number // between first and last
    if (found === docId) return middle
    if (found < docId) first = middle + 1
    else last = middle - 1
  }
  return -1
}

/** The vectors of a segment that a search may look at. */
export interface VisibleRows {
  readonly count: number
  /** One byte per vector, 1 where it may be looked at; undefined when all may. */
  readonly mask: Uint8Array | undefined
}

/** Ask which vectors may be looked at. Yields where a pause may be taken. */
export function* visibleRows(
  { stored: { docIds }, hidden }: VectorSegment,
  allowed: AllowedDocs,
): Generator<void, VisibleRows> {
  if (allowed === false) return { count: 0, mask: undefined }
  if (allowed === true && hidden === undefined) return { count: docIds.length, mask: undefined }
  const mask = new Uint8Array(docIds.length)
  const mayFind = predicateOf(allowed)
  let count = 0
  for (let row = 0; row < mask.length; row++) {
    if (row > 0 && row % SLICE_ROWS === 0) yield
    if (hidden?.[row] === 1 || !mayFind(docIds[row] as number)) continue // `row` is below the length
    mask[row] = 1
    count += 1
  }
  return count === mask.length ? { count, mask: undefined } : { count, mask }
}

function predicateOf(allowed: AllowedDocs): (docId: number) => boolean {
  if (typeof allowed === 'boolean') return () => allowed
  if (typeof allowed === 'function') return allowed
  return (docId) => ((allowed[docId >>> 3] ?? 0) & (1 << (docId & 7))) !== 0
}

function requireShape(
  key: string,
  { dim, docIds, vectors }: VectorRows,
  dims: number | undefined,
): void {
  if (!Number.isSafeInteger(dim) || dim < 1 || (dims !== undefined && dim !== dims)) {
    throw new CruxError<RetrievalErrorCode>(
      'DENSE_DIMENSION',
      `segment ${key}: expected vectors of ${dims ?? 'at least 1'} numbers, got ${dim}; embed its texts with the model of the index`,
      { data: { segment: key, expected: dims ?? 1, got: dim } },
    )
  }
  if (vectors.length === docIds.length * dim) return
  throw new CruxError<RetrievalErrorCode>(
    'DENSE_SHAPE',
    `segment ${key}: expected ${docIds.length} x ${dim} = ${docIds.length * dim} numbers, got ${vectors.length}; give one whole vector per document`,
    { data: { segment: key, expected: docIds.length * dim, got: vectors.length } },
  )
}

function notFinite(key: string, { dim, docIds, vectors }: VectorRows, row: number) {
  const at = vectors.subarray(row * dim, (row + 1) * dim).findIndex((x) => !Number.isFinite(x))
  const got = String(vectors[row * dim + at])
  return new CruxError<RetrievalErrorCode>(
    'DENSE_NOT_FINITE',
    `segment ${key}: vector of document ${docIds[row]}: expected a finite number at ${at}, got ${got}; embed its text again`,
    { data: { segment: key, docId: docIds[row], at, got } },
  )
}
