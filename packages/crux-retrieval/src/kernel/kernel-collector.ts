import {
  assembleCcxi,
  type CcxfContent,
  encodeCcxf,
  encodeCcxfInSlices,
  type Hashes,
} from 'crux-segment'
import { CruxError, type Pause, runInSlices, runNow, type Steps } from 'crux-types'
import type { Analyser, Token } from '../analyser/analyser.js'
import { STOP_CONTRACTIONS, STOP_WORDS } from '../analyser/stop-words.js'
import type { RetrievalErrorCode } from '../errors.js'
import type { IndexFiles, IndexTarget, TermCollector } from '../lexical/term-collector.js'
import {
  createIndexKernel,
  INPUT_BYTES,
  type IndexKernel,
  isKernelTrap,
  PAGE_WORDS,
  STOP_RECORD,
  STOP_WORD_BYTES,
  TOKEN_FLAGS,
  TOKENS_BYTES,
} from './index-kernel.js'

/** UTF-16 units of text given to the kernel at once: in UTF-8 they fit its input, and take under 1 ms. */
const TEXT_SLICE = 16 * 1024
/** UTF-16 units between two looks at the clock where the analyser reads instead of the kernel. */
const PASSED_SLICE = 1024
/** UTF-16 units searched for white space between two looks at the clock. */
const SEARCH_SLICE = 256 * 1024
/** Terms, postings or documents that the kernel encodes between two looks at the clock. */
const ENCODE_SLICE = 16 * 1024
/** Strings or pages of words read back between two looks at the clock. */
const READ_SLICE = 1024
/** A token's length and flags. */
const TOKEN_HEAD_BYTES = 2
/** Longest term in UTF-8. */
const MOST_TERM_BYTES = 128
/** Pages of a WebAssembly memory, less one so that addresses do not wrap. */
const MOST_PAGES = 0xffff

/**
 * Collects terms of analyser version 2 in the kernel, which reads ASCII text itself. Where other
 * characters stand between two white spaces, the analyser reads, and its tokens go to the kernel.
 */
export class KernelCollector implements TermCollector {
  private readonly kernel: IndexKernel
  private readonly encoder = new TextEncoder()
  /** Parts of the kernel's memory; made anew when it has grown. */
  private input = new Uint8Array(0)
  private tokens = Buffer.alloc(0)
  /** Bytes of `tokens` that wait to be added. */
  private waiting = 0
  private readonly wordEnds: number[] = []

  /**
   * @param options.words - Keep the words of documents in order.
   * @param options.mostPages - Limit of the kernel's memory in pages of 64 KiB; default 4 GiB.
   */
  constructor(
    private readonly hashes: Hashes,
    private readonly analyser: Analyser,
    private readonly options: { readonly words: boolean; readonly mostPages?: number },
  ) {
    const kernel = createIndexKernel()
    kernel.start(randomSeed(), options.words ? 1 : 0, options.mostPages ?? MOST_PAGES)
    this.kernel = kernel
    this.view()
    const stops = [...STOP_WORDS, ...STOP_CONTRACTIONS]
    const padded = stops.map((word) => word.padEnd(STOP_WORD_BYTES, '\0')).join('')
    kernel.addStopWords(this.tokens.write(padded, 'latin1'))
  }

  *add(docId: number, text: string, tenantHash: bigint, frameOffset: number): Steps<void> {
    const { kernel } = this
    try {
      kernel.beginDoc(docId)
      for (let at = 0; at < text.length; ) {
        if (at > 0) yield
        const end = sliceEnd(text, at)
        if (end > at) {
          yield* this.read(at === 0 && end === text.length ? text : text.slice(at, end))
          at = end
        } else {
          // More than a slice without white space: no kind of text that needs to be fast.
          const long = yield* nextSpace(text, at + TEXT_SLICE)
          yield* this.analyse(text.slice(at, long))
          at = long
        }
      }
      kernel.endDoc(frameOffset, tenantHash)
    } catch (error) {
      throw tooLarge(error)
    }
    if (!this.options.words) return
    while (this.wordEnds.length <= docId) this.wordEnds.push(this.wordEnds.at(-1) ?? 0)
    this.wordEnds.push(kernel.words.value)
  }

  finish(target: IndexTarget): IndexFiles {
    const ccxi = runNow(this.inverted(target))
    if (!this.options.words) return { ccxi }
    return { ccxi, ccxf: encodeCcxf(runNow(this.forward()), this.hashes) }
  }

  async finishInSlices(target: IndexTarget, pause: Pause): Promise<IndexFiles> {
    const ccxi = await runInSlices(this.inverted(target), pause)
    if (!this.options.words) return { ccxi }
    const forward = await runInSlices(this.forward(), pause)
    return { ccxi, ccxf: await encodeCcxfInSlices(forward, this.hashes, pause) }
  }

  /** Read a text that fits the kernel's input. */
  private *read(text: string): Steps<void> {
    const { kernel } = this
    this.view()
    const { written } = this.encoder.encodeInto(text, this.input)
    let isPassed = kernel.read(written, written === text.length ? 1 : 0)
    let passed = 0
    while (isPassed !== 0) {
      const piece = text.slice(kernel.passedStart.value, kernel.passedEnd.value)
      yield* this.analyse(piece)
      passed += piece.length
      if (passed >= PASSED_SLICE) {
        passed = 0
        yield
      }
      isPassed = kernel.resume()
    }
  }

  /** Read text that the kernel does not. */
  private *analyse(text: string): Steps<void> {
    const stream = this.analyser.stream(text)
    while (stream.read(PASSED_SLICE, this.put)) yield
    this.kernel.addTokens(this.waiting)
    this.waiting = 0
  }

  private readonly put = (token: Token): void => {
    if (this.waiting + TOKEN_HEAD_BYTES + MOST_TERM_BYTES > TOKENS_BYTES) {
      this.kernel.addTokens(this.waiting)
      this.waiting = 0
    }
    this.view()
    const { tokens, waiting } = this
    const isWord = token.kind === 'word' || token.kind === 'part'
    const bytes = tokens.write(token.term, waiting + TOKEN_HEAD_BYTES, MOST_TERM_BYTES)
    tokens[waiting] = bytes
    tokens[waiting + 1] =
      (isWord ? TOKEN_FLAGS.isWord : 0) | (token.isStop ? TOKEN_FLAGS.isStop : 0)
    this.waiting = waiting + TOKEN_HEAD_BYTES + bytes
  }

  private *inverted(target: IndexTarget): Steps<Uint8Array> {
    const { kernel, hashes, analyser } = this
    try {
      kernel.finish()
      while (kernel.encodeSome(ENCODE_SLICE) !== 0) yield
    } catch (error) {
      throw tooLarge(error)
    }
    const { buffer } = kernel.memory
    const { vocab, postings, postingsEnd } = kernel
    const area = (start: number, end: number): Uint8Array =>
      new Uint8Array(buffer, start, end - start)
    const docsEnd = postingsEnd.value + kernel.frames.value * DOC_ENTRY_BYTES
    const areas = {
      ...target,
      tokenizerVersion: analyser.version,
      totalPostings: kernel.totalPostings.value,
      vocab: area(vocab.value, postings.value),
      postings: area(postings.value, postingsEnd.value),
      docs: area(postingsEnd.value, docsEnd),
    }
    return yield* assembleCcxi(areas, hashes)
  }

  /** The words of all documents; call after {@link inverted}, which gives terms their numbers. */
  private *forward(): Steps<CcxfContent> {
    const { kernel } = this
    const { buffer } = kernel.memory
    const numbers = new DataView(buffer)
    const bytes = Buffer.from(buffer)
    const textAt = (address: number): string =>
      bytes.toString('utf8', address + 1, address + 1 + numbers.getUint8(address))
    const strings: string[] = []
    for (let i = 0; i < kernel.terms.value; i++) {
      if (i % READ_SLICE === 0) yield
      strings.push(textAt(numbers.getUint32(kernel.texts.value + i * 4, true)))
    }
    const stopStrings: string[] = []
    let record = kernel.firstStop.value
    while (record !== 0) {
      stopStrings.push(textAt(numbers.getUint32(record + STOP_RECORD.text, true)))
      record = numbers.getUint32(record + STOP_RECORD.next, true)
    }
    const words = new Uint32Array(kernel.words.value)
    for (let from = 0; from < words.length; from += PAGE_WORDS) {
      const count = Math.min(PAGE_WORDS, words.length - from)
      words.set(new Uint32Array(buffer, kernel.numberPage(), count), from)
      yield
    }
    const offsets = Uint32Array.from(this.wordEnds)
    return { tokenizerVersion: this.analyser.version, strings, stopStrings, offsets, words }
  }

  /** See the kernel's memory as it is now. */
  private view(): void {
    const { buffer } = this.kernel.memory
    if (this.input.buffer === buffer) return
    this.input = new Uint8Array(buffer, this.kernel.input.value, INPUT_BYTES)
    this.tokens = Buffer.from(buffer, this.kernel.tokens.value, TOKENS_BYTES)
  }
}

/** Bytes of a document's entry in the index. */
const DOC_ENTRY_BYTES = 16

/** Not to be guessed by who chooses the texts, which is all that is asked of it. */
function randomSeed(): bigint {
  return BigInt(Math.floor(Math.random() * Number.MAX_SAFE_INTEGER))
}

/** Where the next slice of a text ends, after white space; `at` when there is none in reach. */
function sliceEnd(text: string, at: number): number {
  if (text.length - at <= TEXT_SLICE) return text.length
  let end = at + TEXT_SLICE
  while (end > at && !isSpace(text.charCodeAt(end - 1))) end -= 1
  return end
}

/** Where the next ASCII white space is, from `at` on; else the end. */
function* nextSpace(text: string, at: number): Steps<number> {
  for (let end = at; end < text.length; end++) {
    if (isSpace(text.charCodeAt(end))) return end
    if (end % SEARCH_SLICE === 0) yield
  }
  return text.length
}

/** ASCII white space, which no token spans. */
function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function tooLarge(error: unknown): unknown {
  if (!isKernelTrap(error)) return error
  return new CruxError<RetrievalErrorCode>(
    'INDEX_TOO_LARGE',
    'the index of this segment takes more memory than its limit; index fewer documents at once',
    { cause: error },
  )
}
