import { noPause, type Pause, runInSlices, runNow, type Steps } from 'crux-types'
import { crc32c } from '../checksum.js'
import { blake3Steps } from '../hash-in-slices.js'
import type { Hashes } from '../hashes.js'
import { bufferOf, checkUint, viewOf, writeU64 } from '../little-endian.js'
import { PieceWriter } from '../piece-writer.js'
import {
  CCXF_MAGIC,
  CCXF_VERSION,
  FOOTER_BYTES,
  HEADER,
  HEADER_BYTES,
  MAX_VARINT_BYTES,
} from './layout.js'

/** Content of a `.ccxf` companion: the words of every document, in order. */
export interface CcxfContent {
  /** Of the analyser that gave the words; 0..65,535. */
  readonly tokenizerVersion: number
  /** Terms in the order of the `.ccxi` of the same segment. An unpaired surrogate is stored as U+FFFD. */
  readonly strings: readonly string[]
  /** Words that are no terms of the index; numbered after `strings`. */
  readonly stopStrings: readonly string[]
  /** Start of each document's words, by number, and the end of the last: one more than documents. */
  readonly offsets: Uint32Array
  /** Numbers of strings, each below `strings.length + stopStrings.length`. */
  readonly words: Uint32Array
}

/** Words written between two looks at the clock. */
const WORD_SLICE = 8 * 1024
/** Strings written between two looks at the clock. */
const STRING_SLICE = 2048
/** Offsets written between two looks at the clock. */
const DOC_SLICE = 64 * 1024
/** UTF-8 takes at most so many bytes per UTF-16 unit. */
const MAX_UNIT_BYTES = 3

/**
 * Bytes of a `.ccxf` companion, version 1.
 *
 * @throws {RangeError} When offsets descend or a word has no string.
 */
export function encodeCcxf(content: CcxfContent, hashes: Hashes): Uint8Array {
  return runNow(encodeSteps(content, hashes))
}

/** {@link encodeCcxf} with pauses, so that other work goes on meanwhile; the same bytes. */
export async function encodeCcxfInSlices(
  content: CcxfContent,
  hashes: Hashes,
  pause: Pause = noPause,
): Promise<Uint8Array> {
  return await runInSlices(encodeSteps(content, hashes), pause)
}

function* encodeSteps(content: CcxfContent, hashes: Hashes): Steps<Uint8Array> {
  const { strings, stopStrings, offsets, words } = content
  const docs = offsets.length - 1
  if (offsets[0] !== 0 || offsets[docs] !== words.length) {
    throw new RangeError(
      `offsets run from ${offsets[0]} to ${offsets[docs]}, expected 0 to ${words.length}`,
    )
  }
  const text = new PieceWriter()
  yield* writeStrings(text, strings)
  yield* writeStrings(text, stopStrings)
  const streams = new PieceWriter()
  const ends = new Uint32Array(docs + 1)
  yield* writeStreams(streams, content, ends)
  checkUint(streams.length, 32, 'streams_len')

  const offsetsStart = HEADER_BYTES + text.length
  const streamsStart = offsetsStart + ends.byteLength
  const footerStart = streamsStart + streams.length
  const bytes = new Uint8Array(footerStart + FOOTER_BYTES)
  yield* text.copyTo(bytes, HEADER_BYTES)
  const view = viewOf(bytes)
  for (let doc = 0; doc <= docs; doc++) {
    view.setUint32(offsetsStart + doc * 4, ends[doc] as number, true) // below its length
    if (doc % DOC_SLICE === DOC_SLICE - 1) yield
  }
  yield* streams.copyTo(bytes, streamsStart)
  writeHeader(bytes, content, text.length, streams.length)
  bytes.set(yield* blake3Steps(bytes.subarray(HEADER_BYTES, footerStart), hashes), footerStart)
  return bytes
}

function* writeStrings(target: PieceWriter, strings: readonly string[]): Steps<void> {
  for (const [i, string] of strings.entries()) {
    target.reserve(MAX_VARINT_BYTES + string.length * MAX_UNIT_BYTES)
    const length = Buffer.byteLength(string)
    target.at = writeVarint(target.bytes, target.at, length)
    target.at += bufferOf(target.bytes).write(string, target.at, 'utf8')
    if (i % STRING_SLICE === STRING_SLICE - 1) yield
  }
}

/** @param ends - Set to the byte offset of each document's words, and the end of all. */
function* writeStreams(
  target: PieceWriter,
  { strings, stopStrings, offsets, words }: CcxfContent,
  ends: Uint32Array,
): Steps<void> {
  const known = strings.length + stopStrings.length
  let left = WORD_SLICE
  for (let doc = 0; doc + 1 < offsets.length; doc++) {
    let from = offsets[doc] as number // both are within the offsets
    const end = offsets[doc + 1] as number
    if (end < from) throw new RangeError(`document ${doc} ends before it starts`)
    while (from < end) {
      const to = Math.min(end, from + left)
      writeWords(target, words, from, to, known)
      left -= to - from
      from = to
      if (left > 0) continue
      left = WORD_SLICE
      yield
    }
    ends[doc + 1] = target.length
    // A document without words costs something too.
    left--
    if (left <= 0) {
      left = WORD_SLICE
      yield
    }
  }
}

function writeWords(
  target: PieceWriter,
  words: Uint32Array,
  from: number,
  to: number,
  known: number,
): void {
  target.reserve((to - from) * MAX_VARINT_BYTES)
  const { bytes } = target
  let { at } = target
  for (let i = from; i < to; i++) {
    const word = words[i] as number // within the words: offsets ascend to their length
    if (word >= known) throw new RangeError(`word ${word} of ${known} strings`)
    if (word < 0x80) bytes[at++] = word
    else at = writeVarint(bytes, at, word)
  }
  target.at = at
}

/** Seven bits to a byte, lowest first; the highest bit says that more follow. @returns Offset behind. */
function writeVarint(target: Uint8Array, start: number, value: number): number {
  let at = start
  let rest = value
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  target[at++] = rest
  return at
}

function writeHeader(
  bytes: Uint8Array,
  { tokenizerVersion, strings, stopStrings, offsets, words }: CcxfContent,
  stringsLength: number,
  streamsLength: number,
): void {
  const view = viewOf(bytes)
  view.setUint32(HEADER.magic, CCXF_MAGIC, true)
  view.setUint16(HEADER.version, CCXF_VERSION, true)
  view.setUint16(
    HEADER.tokenizerVersion,
    checkUint(tokenizerVersion, 16, 'tokenizer_version'),
    true,
  )
  view.setUint32(HEADER.totalFrames, checkUint(offsets.length - 1, 32, 'total_frames'), true)
  view.setUint32(HEADER.terms, checkUint(strings.length, 32, 'terms'), true)
  view.setUint32(HEADER.stopTerms, checkUint(stopStrings.length, 32, 'stop_terms'), true)
  writeU64(view, HEADER.totalWords, words.length)
  view.setUint32(HEADER.stringsLength, checkUint(stringsLength, 32, 'strings_len'), true)
  view.setUint32(HEADER.streamsLength, streamsLength, true)
  view.setUint32(HEADER.crc, crc32c(bytes.subarray(0, HEADER.crc)), true)
}
