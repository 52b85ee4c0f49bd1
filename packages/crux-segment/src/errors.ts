import { CruxError } from 'crux-types'

/**
 * Codes thrown by crux-segment. `data.offset`, where present, is the byte at which reading stopped, which
 * the message names too; `data.file` the file, where {@link inFile} knew it.
 *
 * - `BUFFER_TOO_SMALL`: bytes end before the structure does; `data.needed`, `data.actual`.
 * - `INVALID_MAGIC`: the first bytes are not those of the format; `data.expected`, `data.actual`.
 * - `UNSUPPORTED_VERSION`: a version that this reader does not know; `data.format`, `data.version`.
 * - `UNSUPPORTED_TAG`: a frame header of another kind; `data.tag`.
 * - `UNSUPPORTED_CODEC`: a compressed segment; `data.codec`.
 * - `LENGTH_OUT_OF_RANGE`: a length or count contradicts its surroundings or exceeds its field; `data.field`.
 * - `DECLARED_LENGTH_OUT_OF_BOUNDS`: a string of a frame header runs past the header; `data.field`.
 * - `INVALID_UTF8`: a string of a frame header is not UTF-8, or text to encode holds an unpaired surrogate; `data.field`.
 * - `CRC_MISMATCH`: a checksum differs; `data.part`.
 * - `HASH_MISMATCH`: a BLAKE3 hash differs; `data.part`.
 * - `FILE_LENGTH_MISMATCH`: a segment's footer names another file length; `data.declared`, `data.actual`.
 * - `NOT_SEALED`: a segment's footer does not say that it is complete; `data.flags`.
 * - `TOC_NOT_SORTED`: entries of a table of contents are out of order; `data.index`.
 * - `TRAILER_SECTION_INVALID`: a trailer section is missing, doubled or malformed; `data.section`.
 * - `PROFILE_INVALID`: a semantic profile is not JSON of the documented form, or its ids do not follow from its values; `data.field`.
 * - `STREAM_PART_EMPTY`, `STREAM_PART_WHITESPACE`, `STREAM_PART_NUL`: a part of a stream's name is empty, has
 *   white space at an end, or holds NUL; `data.field`.
 */
export type SegmentFormatErrorCode =
  | 'BUFFER_TOO_SMALL'
  | 'INVALID_MAGIC'
  | 'UNSUPPORTED_VERSION'
  | 'UNSUPPORTED_TAG'
  | 'UNSUPPORTED_CODEC'
  | 'LENGTH_OUT_OF_RANGE'
  | 'DECLARED_LENGTH_OUT_OF_BOUNDS'
  | 'INVALID_UTF8'
  | 'CRC_MISMATCH'
  | 'HASH_MISMATCH'
  | 'FILE_LENGTH_MISMATCH'
  | 'NOT_SEALED'
  | 'TOC_NOT_SORTED'
  | 'TRAILER_SECTION_INVALID'
  | 'PROFILE_INVALID'
  | 'STREAM_PART_EMPTY'
  | 'STREAM_PART_WHITESPACE'
  | 'STREAM_PART_NUL'

/** An error of this package. A `data.offset` is put into the message. */
export function formatError(
  code: SegmentFormatErrorCode,
  message: string,
  data: Record<string, unknown> = {},
): CruxError<SegmentFormatErrorCode> {
  const { offset } = data
  return new CruxError(code, offset === undefined ? message : `${message}; at byte ${offset}`, {
    data,
  })
}

/**
 * Run a decoder and let what it refuses name the file: `<file>: <reason>; at byte <offset>`, with the
 * same code and `data.file`. Other errors pass.
 *
 * @param file - Path or name, as a reader of the message knows it.
 */
export async function inFile<T>(file: string, decode: () => T | Promise<T>): Promise<T> {
  try {
    return await decode()
  } catch (cause) {
    if (!(cause instanceof CruxError)) throw cause
    const data = { ...cause.data, file }
    throw new CruxError(cause.code, `${file}: ${cause.message}`, { cause, data })
  }
}

// Below, `offset` is where in the bytes the fault lies, when the caller knows it.

/** @throws {CruxError} `BUFFER_TOO_SMALL` unless `actual >= needed`, both in bytes. */
export function requireLength(what: string, needed: number, actual: number, offset?: number): void {
  if (actual < needed) throw tooShort(what, needed, actual, offset)
}

/** `BUFFER_TOO_SMALL`, for loops in which a message is to be made only when it is needed. */
export function tooShort(
  what: string,
  needed: number,
  actual: number,
  offset?: number,
): CruxError<SegmentFormatErrorCode> {
  return formatError('BUFFER_TOO_SMALL', `${what} needs ${needed} bytes, got ${actual}`, {
    needed,
    actual,
    ...at(offset),
  })
}

/** @throws {CruxError} `INVALID_MAGIC` unless the numbers are equal. */
export function requireMagic(
  what: string,
  expected: number,
  actual: number,
  offset?: number,
): void {
  if (actual !== expected) {
    throw formatError(
      'INVALID_MAGIC',
      `not a ${what}: magic 0x${hex32(actual)}, expected 0x${hex32(expected)}`,
      { expected, actual, ...at(offset) },
    )
  }
}

/**
 * @param format - File extension without the dot.
 * @throws {CruxError} `UNSUPPORTED_VERSION` unless the numbers are equal.
 */
export function requireVersion(
  format: string,
  supported: number,
  version: number,
  offset?: number,
): void {
  if (version !== supported) {
    throw formatError(
      'UNSUPPORTED_VERSION',
      `.${format} version ${version}, this reads ${supported}; rebuild it from its segment`,
      { format, version, ...at(offset) },
    )
  }
}

/** @throws {CruxError} `CRC_MISMATCH` unless the checksums are equal. */
export function requireCrc(part: string, expected: number, actual: number, offset?: number): void {
  if (actual !== expected) {
    throw formatError(
      'CRC_MISMATCH',
      `${part}: checksum 0x${hex32(actual)}, expected 0x${hex32(expected)}; the bytes are damaged`,
      { part, ...at(offset) },
    )
  }
}

/** @throws {CruxError} `HASH_MISMATCH` unless the bytes are equal. */
export function requireHash(
  part: string,
  expected: Uint8Array,
  actual: Uint8Array,
  offset?: number,
): void {
  if (Buffer.compare(expected, actual) !== 0) {
    throw formatError(
      'HASH_MISMATCH',
      `${part} hash mismatch: ${Buffer.from(actual).toString('hex')}, expected ${Buffer.from(expected).toString('hex')}`,
      { part, ...at(offset) },
    )
  }
}

/** @throws {CruxError} `LENGTH_OUT_OF_RANGE` unless `holds`. */
export function requireRange(
  holds: boolean,
  field: string,
  message: string,
  offset?: number,
): void {
  if (!holds) throw outOfRange(field, message, offset)
}

/** `LENGTH_OUT_OF_RANGE`, for loops in which a message is to be made only when it is needed. */
export function outOfRange(
  field: string,
  message: string,
  offset?: number,
): CruxError<SegmentFormatErrorCode> {
  return formatError('LENGTH_OUT_OF_RANGE', `${field}: ${message}`, { field, ...at(offset) })
}

function at(offset: number | undefined): { offset?: number } {
  return offset === undefined ? {} : { offset }
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0')
}
