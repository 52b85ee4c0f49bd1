import type { Hashes } from 'crux-segment'
import { CruxError, type Pause, runInSlices, runNow } from 'crux-types'
import { analyserOf, DEFAULT_ANALYSER_VERSION } from '../analyser/analyser.js'
import type { RetrievalErrorCode } from '../errors.js'
import { KernelCollector } from '../kernel/kernel-collector.js'
import { PostingsCollector } from './postings-collector.js'
import type { IndexFiles, IndexTarget, TermCollector } from './term-collector.js'

/** Files of an index whose builder kept the words. */
export type FilesWithWords = Required<IndexFiles>

/** Collects documents and gives the bytes of their index, once. */
export interface IndexBuilder {
  /** Documents added so far. */
  readonly docs: number
  /**
   * Index one document; an empty text is passed over. Takes about 10 ms per MiB of English text:
   * give the event loop back between calls, and use `addInSlices` where one text may be long.
   *
   * @param docId - Number of the document's frame in its segment; above every number before it.
   * @param tenantHash - 64-bit hash of the owner's name.
   * @param frameOffset - Byte at which the frame starts in the segment's file; 32 bits.
   * @throws {CruxError} `INDEX_DOC_ORDER`, `INDEX_FINISHED`, `INDEX_TOO_LARGE`.
   * @throws {RangeError} When a number does not fit its field.
   */
  add(docId: number, text: string, tenantHash: bigint, frameOffset: number): void
  /** {@link add} with pauses within the text. Wait for it before the next call. */
  addInSlices(
    docId: number,
    text: string,
    tenantHash: bigint,
    frameOffset: number,
    pause: Pause,
  ): Promise<void>
  /**
   * The bytes of a `.ccxi` file; undefined when no document was added. The builder is spent.
   *
   * @throws {CruxError} `INDEX_FINISHED`, `INDEX_TOO_LARGE`.
   */
  finish(target: IndexTarget): Uint8Array | undefined
  /** {@link finish} with pauses; the same bytes. */
  finishInSlices(target: IndexTarget, pause: Pause): Promise<Uint8Array | undefined>
  /**
   * {@link finish} with the forward companion; only of a builder that was made with `words`.
   *
   * @throws {CruxError} `INDEX_WITHOUT_WORDS`, `INDEX_FINISHED`, `INDEX_TOO_LARGE`.
   */
  finishWithWords(target: IndexTarget): FilesWithWords | undefined
  /** {@link finishWithWords} with pauses; the same bytes. */
  finishWithWordsInSlices(target: IndexTarget, pause: Pause): Promise<FilesWithWords | undefined>
}

/**
 * Start an index of one segment's documents. It takes 1 MiB, 3 to 4 bytes per posting (one term in
 * one document) and about 70 per term; `words` adds 4 bytes per word of text, and the end the size
 * of the file.
 *
 * @param options.analyserVersion - Rules by which texts become terms; default 2, several times
 *   faster than 1.
 * @param options.words - Keep the words of every document in order, for `finishWithWords`.
 * @throws {CruxError} `ANALYSER_UNKNOWN`.
 */
export function createIndexBuilder(
  hashes: Hashes,
  options: { analyserVersion?: number; words?: boolean } = {},
): IndexBuilder {
  const { analyserVersion = DEFAULT_ANALYSER_VERSION, words = false } = options
  const analyser = analyserOf(analyserVersion)
  const collector =
    analyser.version === 2
      ? new KernelCollector(hashes, analyser, { words })
      : new PostingsCollector(hashes, analyser, { words })
  return new CollectingBuilder(collector, words)
}

class CollectingBuilder implements IndexBuilder {
  private lastDocId = -1
  private isFinished = false
  docs = 0

  constructor(
    private readonly collector: TermCollector,
    private readonly keepsWords: boolean,
  ) {}

  add(docId: number, text: string, tenantHash: bigint, frameOffset: number): void {
    if (text === '') return
    this.startDoc(docId, frameOffset)
    runNow(this.collector.add(docId, text, tenantHash, frameOffset))
    this.docs += 1
  }

  async addInSlices(
    docId: number,
    text: string,
    tenantHash: bigint,
    frameOffset: number,
    pause: Pause,
  ): Promise<void> {
    if (text === '') return
    this.startDoc(docId, frameOffset)
    await runInSlices(this.collector.add(docId, text, tenantHash, frameOffset), pause)
    this.docs += 1
  }

  finish(target: IndexTarget): Uint8Array | undefined {
    this.spend()
    return this.docs === 0 ? undefined : this.collector.finish(target).ccxi
  }

  async finishInSlices(target: IndexTarget, pause: Pause): Promise<Uint8Array | undefined> {
    this.spend()
    if (this.docs === 0) return undefined
    return (await this.collector.finishInSlices(target, pause)).ccxi
  }

  finishWithWords(target: IndexTarget): FilesWithWords | undefined {
    this.requireWords()
    this.spend()
    return this.docs === 0 ? undefined : withWords(this.collector.finish(target))
  }

  async finishWithWordsInSlices(
    target: IndexTarget,
    pause: Pause,
  ): Promise<FilesWithWords | undefined> {
    this.requireWords()
    this.spend()
    if (this.docs === 0) return undefined
    return withWords(await this.collector.finishInSlices(target, pause))
  }

  private startDoc(docId: number, frameOffset: number): void {
    this.requireOpen()
    requireU32('docId', docId)
    requireU32('frameOffset', frameOffset)
    if (docId <= this.lastDocId) {
      throw new CruxError<RetrievalErrorCode>(
        'INDEX_DOC_ORDER',
        `document ${docId} was added after ${this.lastDocId}; add documents by ascending number`,
        { data: { docId } },
      )
    }
    this.lastDocId = docId
  }

  private spend(): void {
    this.requireOpen()
    this.isFinished = true
  }

  private requireOpen(): void {
    if (!this.isFinished) return
    throw new CruxError<RetrievalErrorCode>(
      'INDEX_FINISHED',
      'this index builder has given its bytes; create another one',
    )
  }

  private requireWords(): void {
    if (this.keepsWords) return
    throw new CruxError<RetrievalErrorCode>(
      'INDEX_WITHOUT_WORDS',
      'this index builder keeps no words; create it with `words: true`',
    )
  }
}

function withWords({ ccxi, ccxf }: IndexFiles): FilesWithWords {
  if (ccxf === undefined) throw new Error('a collector that keeps words gave none')
  return { ccxi, ccxf }
}

/** Above every number of a document and every offset: the index counts both with 32 bits. */
const U32_END = 0xffff_ffff

function requireU32(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 0 && value < U32_END) return
  throw new RangeError(`${name}: ${value}, expected 0..${U32_END - 1}`)
}
