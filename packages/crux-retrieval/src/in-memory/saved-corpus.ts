import { type CcxiReader, type Hashes, openTrustedCcxi } from 'crux-segment'
import { CruxError, createPauser, type Pause } from 'crux-types'
import { DEFAULT_ANALYSER_VERSION } from '../analyser/analyser.js'
import type { RetrievalErrorCode } from '../errors.js'
import { MemoryCorpus } from './memory-corpus.js'
import {
  decodeSearchFile,
  encodeSearchFile,
  type ReadSearchFile,
  type SavedSegment,
} from './search-file.js'
import type { TextEntry } from './text-table.js'

/** Entries between two looks at the clock. */
const SLICE = 4096

/** A corpus as the bytes of a search file, as it is once everything added before is indexed. */
export async function saveCorpus<Fields>(
  corpus: MemoryCorpus<Fields>,
  hashes: Hashes,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  signal?.throwIfAborted()
  const pause = createPauser({ signal })
  // Taken in one go; what is in it does not change any more, but for becoming gone.
  const { entries, segments } = await corpus.read(
    async () => ({ entries: [...corpus.texts.all()], segments: [...corpus.segments.segments] }),
    signal,
  )
  const numbers = new Map<TextEntry<Fields>, number>()
  for (const [i, entry] of entries.entries()) {
    numbers.set(entry, i)
    if (i % SLICE === 0) await pause()
  }
  const saved: SavedSegment[] = []
  for (const segment of segments) {
    const docs = new Int32Array(segment.entries.length)
    for (const [docId, entry] of segment.entries.entries()) {
      docs[docId] = numbers.get(entry) ?? -1
      if (docId % SLICE === 0) await pause()
    }
    saved.push({ docs, files: segment.files })
  }
  const texts = entries.map(({ content }) => content)
  return await encodeSearchFile({ texts, segments: saved }, hashes, pause)
}

/** What a file was turned into. */
export interface RestoredCorpus<Fields> {
  readonly corpus: MemoryCorpus<Fields>
  /** Why its index was not taken; undefined when it was. */
  readonly reindexed: string | undefined
}

/**
 * A corpus of the bytes of a search file. Its index is taken as it is, unless another version of the
 * analyser made it or it lacks words that are to be kept: then the texts are indexed anew.
 *
 * @throws {CruxError} `SEARCH_FILE_INVALID`, `SEARCH_FILE_VERSION`; `data.offset`.
 */
export async function restoreCorpus<Fields>(
  bytes: Uint8Array,
  options: {
    readonly hashes: Hashes
    readonly words: boolean
    readonly signal: AbortSignal | undefined
  },
): Promise<RestoredCorpus<Fields>> {
  const { hashes, words, signal } = options
  const pause = createPauser({ signal })
  const file = await decodeSearchFile<Fields>(bytes, hashes, pause)
  const corpus = new MemoryCorpus<Fields>(hashes, words)
  const entries: TextEntry<Fields>[] = []
  for (const [i, content] of file.texts.entries()) {
    entries.push(corpus.texts.add(content))
    if (i % SLICE === 0) await pause()
  }
  const reindexed = whyNotTaken(file, words)
  if (reindexed === undefined) await takeSegments(corpus, file, entries, words, pause)
  await corpus.index(signal)
  return { corpus, reindexed }
}

function whyNotTaken<Fields>(
  { analyserVersion, segments }: ReadSearchFile<Fields>,
  words: boolean,
): string | undefined {
  if (analyserVersion !== DEFAULT_ANALYSER_VERSION) {
    return `the file was indexed with analyser version ${analyserVersion}, this is ${DEFAULT_ANALYSER_VERSION}`
  }
  if (words && segments.some(({ files }) => files.ccxf === undefined)) {
    return 'the file was saved without the words of its texts, which mode fused needs'
  }
  return undefined
}

async function takeSegments<Fields>(
  corpus: MemoryCorpus<Fields>,
  { segments }: ReadSearchFile<Fields>,
  entries: readonly TextEntry<Fields>[],
  words: boolean,
  pause: Pause,
): Promise<void> {
  for (const { docs, files, offset } of segments) {
    const held = Array.from(docs, (number) => entries[number] ?? goneEntry<Fields>())
    try {
      requireSameDocs(openTrustedCcxi(files.ccxi), docs.length)
      await corpus.segments.replace([], held, words ? files : { ccxi: files.ccxi }, pause)
      await corpus.segments.openWords(pause)
    } catch (cause) {
      if (!(cause instanceof CruxError)) throw cause
      throw new CruxError<RetrievalErrorCode>(
        'SEARCH_FILE_INVALID',
        `the search file cannot be loaded: a segment is damaged (${cause.message}); at byte ${offset}`,
        { cause, data: { offset } },
      )
    }
    for (const entry of held) corpus.texts.waiting.delete(entry)
  }
}

function requireSameDocs({ header, totalFrames }: CcxiReader, docs: number): void {
  const { tokenizerVersion } = header
  if (tokenizerVersion !== DEFAULT_ANALYSER_VERSION) {
    throw new CruxError<RetrievalErrorCode>(
      'ANALYSER_UNKNOWN',
      `its index is of analyser version ${tokenizerVersion}, the file says ${DEFAULT_ANALYSER_VERSION}`,
    )
  }
  if (totalFrames > docs) {
    throw new CruxError<RetrievalErrorCode>(
      'SEARCH_FILE_INVALID',
      `its index has ${totalFrames} documents, the file lists ${docs}`,
    )
  }
}

/** Stands for a text that was removed before the file was saved. */
function goneEntry<Fields>(): TextEntry<Fields> {
  return {
    content: { id: '', text: '' },
    segment: undefined,
    docId: 0,
    isGone: true,
    before: undefined,
    after: undefined,
  }
}
