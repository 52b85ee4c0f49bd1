import { noPause, type Pause, runInSlices, runNow, type Steps } from 'crux-types'
import { outOfRange, requireLength, requireMagic, requireRange, requireVersion } from './errors.js'
import { checkUint, viewOf } from './little-endian.js'

/** Vectors of a segment's documents. */
export interface CcxvContent {
  /** Numbers of a vector; at least 1. */
  readonly dim: number
  /** Strictly ascending numbers of documents. */
  readonly docIds: Uint32Array
  /** `docIds.length * dim` finite numbers, row-major. */
  readonly vectors: Float32Array
}

/** {@link CcxvContent} of a file, in arrays of its own. */
export interface CcxvVectors extends CcxvContent {
  /** Vectors. */
  readonly count: number
}

const MAGIC = 0x56435843
const VERSION = 1
/** Without padding, which leaves every number after it unaligned. */
const HEADER_BYTES = 14
const HEADER = { magic: 0, version: 4, dim: 6, count: 10 } as const

/** Numbers copied between two looks at the clock. */
const SLICE_NUMBERS = 256 * 1024

/**
 * Bytes of a `.ccxv` companion, version 1.
 *
 * @throws {RangeError} When documents are out of order, a number is not finite, or lengths disagree.
 */
export function encodeCcxv(content: CcxvContent): Uint8Array {
  return runNow(encodeSteps(content))
}

/** {@link encodeCcxv} with pauses, so that other work goes on meanwhile; the same bytes. */
export async function encodeCcxvInSlices(
  content: CcxvContent,
  pause: Pause = noPause,
): Promise<Uint8Array> {
  return await runInSlices(encodeSteps(content), pause)
}

/**
 * Read a `.ccxv` companion. The format has no checksum: what is refused is what cannot be.
 *
 * @param bytes - The whole file; copied.
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, or `LENGTH_OUT_OF_RANGE` with
 *   `data.field` `dim`, `count`, `doc_id` (out of order) or `vector` (a number that is not finite).
 */
export function openCcxv(bytes: Uint8Array): CcxvVectors {
  return runNow(openSteps(bytes))
}

/** {@link openCcxv} with pauses, so that other work goes on meanwhile. */
export async function openCcxvInSlices(
  bytes: Uint8Array,
  pause: Pause = noPause,
): Promise<CcxvVectors> {
  return await runInSlices(openSteps(bytes), pause)
}

function* encodeSteps({ dim, docIds, vectors }: CcxvContent): Steps<Uint8Array> {
  const count = docIds.length
  if (checkUint(dim, 32, 'dim') === 0) throw new RangeError('dim: expected 1 or more, got 0')
  if (vectors.length !== count * dim) {
    throw new RangeError(`${count} vectors of ${dim} numbers, got ${vectors.length} numbers`)
  }
  const rowBytes = 4 + dim * 4
  const bytes = new Uint8Array(HEADER_BYTES + count * rowBytes)
  const view = viewOf(bytes)
  view.setUint32(HEADER.magic, MAGIC, true)
  view.setUint16(HEADER.version, VERSION, true)
  view.setUint32(HEADER.dim, dim, true)
  view.setUint32(HEADER.count, checkUint(count, 32, 'count'), true)
  // Little-endian like every platform that Node runs on, so that numbers are copied as they lie.
  const numbers = new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength)
  let left = SLICE_NUMBERS
  for (let row = 0; row < count; row++) {
    const id = docIds[row] as number // below `count`
    if (row > 0 && id <= (docIds[row - 1] as number)) {
      throw new RangeError(`documents must ascend: ${id} follows ${docIds[row - 1]}`)
    }
    const odd = firstNotFinite(vectors, row * dim, dim)
    if (odd >= 0) {
      throw new RangeError(`number ${odd} of document ${id} is ${vectors[row * dim + odd]}`)
    }
    const at = HEADER_BYTES + row * rowBytes
    view.setUint32(at, id, true)
    bytes.set(numbers.subarray(row * dim * 4, (row + 1) * dim * 4), at + 4)
    left -= dim
    if (left <= 0) {
      left = SLICE_NUMBERS
      yield
    }
  }
  return bytes
}

function* openSteps(bytes: Uint8Array): Steps<CcxvVectors> {
  requireLength('a .ccxv file', HEADER_BYTES, bytes.length, bytes.length)
  const view = viewOf(bytes)
  requireMagic('.ccxv file', MAGIC, view.getUint32(HEADER.magic, true), HEADER.magic)
  requireVersion('ccxv', VERSION, view.getUint16(HEADER.version, true), HEADER.version)
  const dim = view.getUint32(HEADER.dim, true)
  const count = view.getUint32(HEADER.count, true)
  requireRange(dim > 0, 'dim', '0, expected 1 or more', HEADER.dim)
  const rowBytes = 4 + dim * 4
  // Checked before anything is allocated.
  const needed = HEADER_BYTES + count * rowBytes
  requireLength(`a .ccxv file of ${count} vectors`, needed, bytes.length, bytes.length)
  requireRange(
    needed === bytes.length,
    'count',
    `${count} vectors of ${dim} numbers end before the file's ${bytes.length} bytes do`,
    needed,
  )
  const docIds = new Uint32Array(count)
  const vectors = new Float32Array(count * dim)
  const numbers = new Uint8Array(vectors.buffer)
  let left = SLICE_NUMBERS
  for (let row = 0; row < count; row++) {
    const at = HEADER_BYTES + row * rowBytes
    const id = view.getUint32(at, true)
    if (row > 0 && id <= (docIds[row - 1] as number)) {
      throw outOfRange('doc_id', `${id} follows ${docIds[row - 1]}`, at)
    }
    docIds[row] = id
    numbers.set(bytes.subarray(at + 4, at + rowBytes), row * dim * 4)
    const odd = firstNotFinite(vectors, row * dim, dim)
    if (odd >= 0) {
      const value = vectors[row * dim + odd]
      throw outOfRange('vector', `number ${odd} of document ${id} is ${value}`, at + 4 + odd * 4)
    }
    left -= dim
    if (left <= 0) {
      left = SLICE_NUMBERS
      yield
    }
  }
  return { dim, count, docIds, vectors }
}

/** Place within the vector of the first number that is not finite, or -1. */
function firstNotFinite(vectors: Float32Array, start: number, dim: number): number {
  // Zero times a finite number is zero; anything else stays in the sum as NaN.
  let sum = 0
  for (let i = start; i < start + dim; i++) sum += (vectors[i] as number) * 0
  if (sum === 0) return -1
  return vectors.subarray(start, start + dim).findIndex((value) => !Number.isFinite(value))
}
