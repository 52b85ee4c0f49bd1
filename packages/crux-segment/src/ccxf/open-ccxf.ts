import { noPause, type Pause, runInSlices, type Steps } from 'crux-types'
import { crc32c } from '../checksum.js'
import {
  outOfRange,
  requireCrc,
  requireHash,
  requireLength,
  requireMagic,
  requireRange,
  requireVersion,
  tooShort,
} from '../errors.js'
import { blake3Steps } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { bufferOf, readU64, readUtf8, viewOf } from '../little-endian.js'
import {
  CCXF_MAGIC,
  CCXF_VERSION,
  FOOTER_BYTES,
  HEADER,
  HEADER_BYTES,
  MAX_VARINT_BYTES,
} from './layout.js'

/** Words of documents, read where they lie. */
export interface CcxfReader {
  readonly tokenizerVersion: number
  /** Documents, unindexed ones included. */
  readonly totalFrames: number
  /** Terms; their numbers are those of the `.ccxi` of the same segment. */
  readonly terms: number
  /** Words that are no terms; their numbers follow those of the terms. */
  readonly stopTerms: number
  /** Words of all documents together. */
  readonly totalWords: number
  /** A term or stop word by number. @throws {RangeError} When there is none. @throws {CruxError} `INVALID_UTF8`. */
  string(n: number): string
  /** Words of a document; 0 when it is not indexed. @throws {RangeError} When there is no such document. */
  wordCount(doc: number): number
  /**
   * Put the numbers of a document's words into an array of the caller, in order, allocating nothing.
   *
   * @returns Words written.
   * @throws {RangeError} When there is no such document, or too little room.
   * @throws {CruxError} `BUFFER_TOO_SMALL`, `LENGTH_OUT_OF_RANGE` when the words are damaged.
   */
  readWords(doc: number, into: Uint32Array): number
}

/** Strings or offsets looked at between two looks at the clock. */
const SLICE = 32 * 1024

/**
 * Open a `.ccxf` companion and check its hash, string table and offsets.
 *
 * @param bytes - The whole file; kept and read for as long as the reader is used.
 * @throws {CruxError} `BUFFER_TOO_SMALL`, `INVALID_MAGIC`, `UNSUPPORTED_VERSION`, `CRC_MISMATCH`, `HASH_MISMATCH` or
 *   `LENGTH_OUT_OF_RANGE`, with `data.offset`.
 */
export async function openCcxf(
  bytes: Uint8Array,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<CcxfReader> {
  return await runInSlices(openSteps(bytes, hashes), pause)
}

function* openSteps(bytes: Uint8Array, hashes: Hashes): Steps<CcxfReader> {
  const header = readHeader(bytes)
  const { offsetsStart, streamsStart, footerStart, totalFrames } = header
  const hash = yield* blake3Steps(bytes.subarray(HEADER_BYTES, footerStart), hashes)
  requireHash('.ccxf content', bytes.subarray(footerStart), hash, HEADER_BYTES)
  const starts = yield* stringStarts(bytes, header)
  const view = viewOf(bytes)
  let previous = 0
  for (let doc = 0; doc <= totalFrames; doc++) {
    const at = offsetsStart + doc * 4
    const offset = view.getUint32(at, true)
    const isEnd = doc === totalFrames
    if (
      offset < previous ||
      (doc === 0 && offset !== 0) ||
      (isEnd && offset !== footerStart - streamsStart)
    ) {
      throw outOfRange('offsets', `${offset} of document ${doc} is out of order`, at)
    }
    previous = offset
    if (doc % SLICE === SLICE - 1) yield
  }
  return new FileReader(bytes, header, starts)
}

type Header = ReturnType<typeof readHeader>

function readHeader(bytes: Uint8Array) {
  requireLength('a .ccxf file', HEADER_BYTES + FOOTER_BYTES, bytes.length, bytes.length)
  const view = viewOf(bytes)
  requireMagic('.ccxf file', CCXF_MAGIC, view.getUint32(HEADER.magic, true), HEADER.magic)
  requireVersion('ccxf', CCXF_VERSION, view.getUint16(HEADER.version, true), HEADER.version)
  const crc = crc32c(bytes.subarray(0, HEADER.crc))
  requireCrc('.ccxf header', view.getUint32(HEADER.crc, true), crc, HEADER.crc)
  const totalFrames = view.getUint32(HEADER.totalFrames, true)
  const stringsLength = view.getUint32(HEADER.stringsLength, true)
  const streamsLength = view.getUint32(HEADER.streamsLength, true)
  const offsetsStart = HEADER_BYTES + stringsLength
  const streamsStart = offsetsStart + (totalFrames + 1) * 4
  const footerStart = streamsStart + streamsLength
  const needed = footerStart + FOOTER_BYTES
  requireLength('a .ccxf file', needed, bytes.length, bytes.length)
  requireRange(needed === bytes.length, 'file_len', `${bytes.length}, expected ${needed}`, needed)
  const terms = view.getUint32(HEADER.terms, true)
  const stopTerms = view.getUint32(HEADER.stopTerms, true)
  // Each takes a byte or more: checked before anything is allocated.
  requireRange(
    terms + stopTerms <= stringsLength,
    'terms',
    `${terms} terms and ${stopTerms} stop words do not fit ${stringsLength} bytes`,
    HEADER.terms,
  )
  const totalWords = readU64(view, HEADER.totalWords, 'total_words', HEADER.totalWords)
  requireRange(
    totalWords <= streamsLength,
    'total_words',
    `${totalWords} words do not fit ${streamsLength} bytes`,
    HEADER.totalWords,
  )
  const tokenizerVersion = view.getUint16(HEADER.tokenizerVersion, true)
  return {
    tokenizerVersion,
    totalFrames,
    terms,
    stopTerms,
    totalWords,
    offsetsStart,
    streamsStart,
    footerStart,
  }
}

/** Where each string's length stands, and the end of the last. */
function* stringStarts(
  bytes: Uint8Array,
  { terms, stopTerms, offsetsStart }: Header,
): Steps<Uint32Array> {
  const count = terms + stopTerms
  const starts = new Uint32Array(count + 1)
  let at = HEADER_BYTES
  for (let n = 0; n < count; n++) {
    starts[n] = at
    const length = varintAt(bytes, at, offsetsStart)
    const start = at + varintBytes(bytes, at)
    if (length > offsetsStart - start) {
      throw tooShort(`string ${n}`, length, offsetsStart - start, at)
    }
    at = start + length
    if (n % SLICE === SLICE - 1) yield
  }
  starts[count] = at
  requireRange(at === offsetsStart, 'strings_len', `strings end at ${at}`, at)
  return starts
}

class FileReader implements CcxfReader {
  readonly tokenizerVersion: number
  readonly totalFrames: number
  readonly terms: number
  readonly stopTerms: number
  readonly totalWords: number
  private readonly view: DataView
  private readonly buffer: Buffer

  constructor(
    private readonly bytes: Uint8Array,
    private readonly header: Header,
    private readonly starts: Uint32Array,
  ) {
    this.tokenizerVersion = header.tokenizerVersion
    this.totalFrames = header.totalFrames
    this.terms = header.terms
    this.stopTerms = header.stopTerms
    this.totalWords = header.totalWords
    this.view = viewOf(bytes)
    this.buffer = bufferOf(bytes)
  }

  string(n: number): string {
    const { starts, bytes } = this
    const at = starts[n]
    const end = starts[n + 1]
    if (at === undefined || end === undefined) {
      throw new RangeError(`string ${n} of ${starts.length - 1}`)
    }
    const start = at + varintBytes(bytes, at)
    return readUtf8(this.buffer, start, end, `string ${n}`, start)
  }

  wordCount(doc: number): number {
    const { bytes } = this
    const end = this.streamStart(doc + 1)
    let words = 0
    for (let at = this.streamStart(doc); at < end; at++) {
      if ((bytes[at] as number) < 0x80) words++ // within the file, by the header's check
    }
    return words
  }

  readWords(doc: number, into: Uint32Array): number {
    const { bytes } = this
    const known = this.terms + this.stopTerms
    let at = this.streamStart(doc)
    const end = this.streamStart(doc + 1)
    let words = 0
    while (at < end) {
      let word = bytes[at] as number // below the end of the file, here and below
      let next = at + 1
      if (word >= 0x80) {
        // Numbers of two and three bytes are nearly all there are.
        const second = bytes[next] as number
        const third = bytes[next + 1] as number
        if (second < 0x80 && next < end) {
          word = (word & 0x7f) | (second << 7)
          next += 1
        } else if (third < 0x80 && next + 1 < end) {
          word = (word & 0x7f) | ((second & 0x7f) << 7) | (third << 14)
          next += 2
        } else {
          word = varintAt(bytes, at, end)
          next = at + varintBytes(bytes, at)
        }
      }
      if (word >= known) throw outOfRange('word', `${word} of ${known} strings`, at)
      if (words === into.length) {
        throw new RangeError(`room for ${into.length} words, document ${doc} has more`)
      }
      into[words++] = word
      at = next
    }
    return words
  }

  /** @throws {RangeError} When there is no such document. */
  private streamStart(doc: number): number {
    const { offsetsStart, streamsStart, totalFrames } = this.header
    if (!(doc >= 0 && doc <= totalFrames)) {
      throw new RangeError(`document ${doc} of ${totalFrames}`)
    }
    return streamsStart + this.view.getUint32(offsetsStart + doc * 4, true)
  }
}

/** The number at `at`, seven bits to a byte, lowest first. @throws {CruxError} When it is cut or above 32 bits. */
function varintAt(bytes: Uint8Array, at: number, end: number): number {
  let value = 0
  for (let i = 0; i < MAX_VARINT_BYTES; i++) {
    if (at + i >= end) throw tooShort('a number', i + 1, i, at)
    const byte = bytes[at + i] as number // below the end
    value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) {
      if (value >= 2 ** 32) break
      return value
    }
  }
  throw outOfRange('varint', 'a number exceeds 32 bits', at)
}

/** Bytes of a number that was read. */
function varintBytes(bytes: Uint8Array, at: number): number {
  let end = at
  while ((bytes[end] as number) >= 0x80) end++ // ends within the bytes, as it was read
  return end + 1 - at
}
