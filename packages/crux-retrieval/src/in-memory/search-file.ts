import { blake3InSlices, crc32c, type Hashes } from 'crux-segment'
import type { Pause } from 'crux-types'
import { DEFAULT_ANALYSER_VERSION } from '../analyser/analyser.js'
import type { IndexFiles } from '../lexical/term-collector.js'
import { FileReader } from './file-reader.js'
import { FileWriter, textBytes } from './file-writer.js'
import type { SearchText } from './search-types.js'

/** What a search file holds; see `docs/formats/search-file.md`. */
export interface SearchFileContent<Fields> {
  /** In the order in which they were added, each id once. */
  readonly texts: readonly SearchText<Fields>[]
  readonly segments: readonly SavedSegment[]
}

/** A segment in a search file. */
export interface SavedSegment {
  /** By number of the document: number of its text, or -1 when that is not held any more. */
  readonly docs: Int32Array
  readonly files: IndexFiles
}

/** What was read. */
export interface ReadSearchFile<Fields> extends SearchFileContent<Fields> {
  /** Version of the analyser that made the segments, and that alone can use them. */
  readonly analyserVersion: number
  readonly segments: readonly ReadSegment[]
}

/** A segment with the byte of the file at which it starts. */
export interface ReadSegment extends SavedSegment {
  readonly offset: number
}

/** First bytes of a search file. */
const MAGIC = 'CRUXSRCH'
const VERSION = 1
const HEADER_BYTES = 64
const HASH_BYTES = 32
/** Places in the header. */
const AT = {
  magic: 0,
  version: 8,
  analyserVersion: 10,
  texts: 12,
  segments: 16,
  textsLength: 20,
  segmentsLength: 28,
  crc: 60,
} as const
const HAS = { title: 1, group: 2, fields: 4 } as const
/** Texts or documents between two looks at the clock. */
const SLICE = 256
/** Bytes of a segment before its documents. */
const SEGMENT_HEAD_BYTES = 20
/** Bytes of the smallest text. */
const LEAST_TEXT_BYTES = 9

/**
 * The bytes of a search file.
 *
 * @throws {TypeError} When JSON cannot hold the fields of a text.
 */
export async function encodeSearchFile<Fields>(
  { texts, segments }: SearchFileContent<Fields>,
  hashes: Hashes,
  pause: Pause,
): Promise<Uint8Array> {
  let textsLength = 0
  const fieldsOf: (string | undefined)[] = []
  for (const [i, { id, text, title, group, fields }] of texts.entries()) {
    const json = fields === undefined ? undefined : toJson(id, fields)
    fieldsOf.push(json)
    textsLength += 1
    for (const part of [id, text, title, group, json]) {
      if (part !== undefined) textsLength += textBytes(part)
    }
    if (i % SLICE === SLICE - 1) await pause()
  }
  const segmentsLength = segments.reduce((sum, segment) => sum + segmentBytes(segment), 0)
  const writer = new FileWriter(HEADER_BYTES + textsLength + segmentsLength + HASH_BYTES)
  writer.bytes.set(Buffer.from(MAGIC), AT.magic)
  writer.u16At(AT.version, VERSION)
  writer.u16At(AT.analyserVersion, DEFAULT_ANALYSER_VERSION)
  writer.u32At(AT.texts, texts.length)
  writer.u32At(AT.segments, segments.length)
  writer.u64At(AT.textsLength, textsLength)
  writer.u64At(AT.segmentsLength, segmentsLength)
  writer.u32At(AT.crc, crc32c(writer.bytes.subarray(0, AT.crc)))
  writer.at = HEADER_BYTES
  for (const [i, { id, text, title, group }] of texts.entries()) {
    const json = fieldsOf[i]
    writer.u8(
      (title === undefined ? 0 : HAS.title) |
        (group === undefined ? 0 : HAS.group) |
        (json === undefined ? 0 : HAS.fields),
    )
    for (const part of [id, title, group, json, text]) {
      if (part !== undefined) writer.text(part)
    }
    if (i % SLICE === SLICE - 1) await pause()
  }
  for (const { docs, files } of segments) {
    writer.u32(docs.length)
    writer.u64(files.ccxi.length)
    writer.u64(files.ccxf?.length ?? 0)
    for (const text of docs) writer.u32(text + 1)
    await pause()
    writer.put(files.ccxi)
    if (files.ccxf !== undefined) writer.put(files.ccxf)
    await pause()
  }
  const content = writer.bytes.subarray(HEADER_BYTES, writer.at)
  writer.put(await blake3InSlices(content, hashes, pause))
  return writer.bytes
}

/**
 * Read and check a search file; what is given is a copy.
 *
 * @throws {CruxError} `SEARCH_FILE_INVALID`, `SEARCH_FILE_VERSION`; `data.offset`.
 */
export async function decodeSearchFile<Fields>(
  bytes: Uint8Array,
  hashes: Hashes,
  pause: Pause,
): Promise<ReadSearchFile<Fields>> {
  const file = new FileReader(bytes)
  const header = readHeader(file)
  const contentEnd = bytes.length - HASH_BYTES
  const hash = await blake3InSlices(bytes.subarray(HEADER_BYTES, contentEnd), hashes, pause)
  if (Buffer.compare(hash, bytes.subarray(contentEnd)) !== 0) {
    file.refuse('its content does not have the hash at its end: it is damaged', contentEnd)
  }
  file.moveTo(HEADER_BYTES, header.segmentsStart)
  const texts: SearchText<Fields>[] = []
  const ids = new Set<string>()
  for (let i = 0; i < header.texts; i++) {
    texts.push(readText(file, ids))
    if (i % SLICE === SLICE - 1) await pause()
  }
  file.requireEnd('texts')
  file.moveTo(header.segmentsStart, contentEnd)
  const segments: ReadSegment[] = []
  const isPlaced = new Uint8Array(texts.length)
  for (let i = 0; i < header.segments; i++) {
    segments.push(readSegment(file, isPlaced))
    await pause()
  }
  file.requireEnd('segments')
  return { analyserVersion: header.analyserVersion, texts, segments }
}

function readHeader(file: FileReader) {
  const { length } = file.bytes
  if (length < HEADER_BYTES + HASH_BYTES) {
    file.refuse(`it has ${length} bytes, fewer than any search file`, length)
  }
  const magic = file.ascii(AT.magic, MAGIC.length)
  if (magic !== MAGIC) file.refuse(`it begins with ${JSON.stringify(magic)}, not ${MAGIC}`, 0)
  file.requireVersion(file.u16At(AT.version), VERSION, AT.version)
  const crc = crc32c(file.bytes.subarray(0, AT.crc))
  if (crc !== file.u32At(AT.crc)) file.refuse('its header is damaged', AT.crc)
  const texts = file.u32At(AT.texts)
  const segments = file.u32At(AT.segments)
  const textsLength = file.u64At(AT.textsLength)
  const segmentsStart = HEADER_BYTES + textsLength
  const expected = segmentsStart + file.u64At(AT.segmentsLength) + HASH_BYTES
  if (expected !== length) {
    file.refuse(`it has ${length} bytes, its header says ${expected}`, Math.min(expected, length))
  }
  // Before anything is allocated for them.
  if (texts * LEAST_TEXT_BYTES > textsLength) {
    file.refuse(`${texts} texts do not fit ${textsLength} bytes`, AT.texts)
  }
  const analyserVersion = file.u16At(AT.analyserVersion)
  return { texts, segments, segmentsStart, analyserVersion }
}

function readText<Fields>(file: FileReader, ids: Set<string>): SearchText<Fields> {
  const start = file.at
  const has = file.u8('flags')
  if (has > 7) file.refuse(`flags of a text: ${has}, expected 0..7`, start)
  const id = file.text('id')
  if (ids.has(id)) file.refuse(`id ${JSON.stringify(id.slice(0, 80))} occurs twice`, start)
  ids.add(id)
  return {
    id,
    ...(has & HAS.title && { title: file.text('title') }),
    ...(has & HAS.group && { group: file.text('group') }),
    // What the caller put in: only the caller knows its type.
    ...(has & HAS.fields && { fields: file.json('fields') as Fields }),
    text: file.text('text'),
  }
}

function readSegment(file: FileReader, isPlaced: Uint8Array): ReadSegment {
  const offset = file.at
  const count = file.u32('documents')
  const ccxiLength = file.u64('index length')
  const ccxfLength = file.u64('length of words')
  file.requireRoom('documents', count * 4)
  const docs = new Int32Array(count)
  for (let doc = 0; doc < count; doc++) {
    const at = file.at
    const text = file.u32('document') - 1
    if (text >= isPlaced.length) {
      file.refuse(`document ${doc} is text ${text} of ${isPlaced.length}`, at)
    }
    if (text >= 0) {
      if (isPlaced[text] === 1) file.refuse(`text ${text} is in two documents`, at)
      isPlaced[text] = 1
    }
    docs[doc] = text
  }
  if (ccxiLength === 0) file.refuse('a segment has no index', offset)
  const ccxi = file.copy('index', ccxiLength)
  const files = ccxfLength === 0 ? { ccxi } : { ccxi, ccxf: file.copy('words', ccxfLength) }
  return { docs, files, offset }
}

function segmentBytes({ docs, files }: SavedSegment): number {
  return SEGMENT_HEAD_BYTES + docs.length * 4 + files.ccxi.length + (files.ccxf?.length ?? 0)
}

function toJson(id: string, fields: unknown): string {
  const json: string | undefined = JSON.stringify(fields)
  if (json !== undefined) return json
  throw new TypeError(`fields of ${JSON.stringify(id)}: JSON cannot hold ${typeof fields}`)
}
