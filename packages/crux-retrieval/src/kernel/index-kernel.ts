import { KERNEL_BASE64 } from './kernel-bytes.js'

/**
 * The index kernel: counts the terms of documents and encodes their index, in WebAssembly. One
 * instance makes one index and is dropped with it, as its memory never shrinks. Its sources are in
 * `kernel/` of this package.
 *
 * Addresses are offsets in `memory`, whose buffer is replaced when it grows. Any call may trap
 * with a `WebAssembly.RuntimeError` when the memory's limit is reached; the instance is then
 * spent.
 */
export interface IndexKernel {
  readonly memory: { readonly buffer: ArrayBuffer }
  /**
   * Prepare the instance; call it first, and once.
   *
   * @param seed - Random; spreads terms over the tables.
   * @param keepsWords - 1 to keep each document's words in order, else 0.
   * @param mostPages - Limit of the memory in pages of 64 KiB.
   */
  start(seed: bigint, keepsWords: number, mostPages: number): void
  /** Address of the text at hand: `INPUT_BYTES` long. */
  readonly input: KernelNumber
  /** Address of tokens to be added: `TOKENS_BYTES` long. */
  readonly tokens: KernelNumber
  /** Make the words of `bytes` bytes of `tokens` stop words: {@link STOP_WORD_BYTES} each, zero behind. */
  addStopWords(bytes: number): void
  /** Begin with a document. */
  beginDoc(doc: number): void
  /**
   * Count the terms of `bytes` bytes of `input`, UTF-8 that begins and ends between words.
   *
   * @param isAscii - 1 when every byte is below 128, else 0.
   * @returns 0 when all were read. 1 at pieces with other characters, which are passed: their terms
   *   are to be added by {@link addTokens}, then {@link resume} goes on.
   */
  read(bytes: number, isAscii: number): number
  /** Go on after pieces that were passed; returns as {@link read} does. */
  resume(): number
  /** Where the passed pieces start and end in the text, in UTF-16 units from that of `input`. */
  readonly passedStart: KernelNumber
  readonly passedEnd: KernelNumber
  /** Count terms of `bytes` bytes of `tokens`: each a length, flags ({@link TOKEN_FLAGS}) and UTF-8. */
  addTokens(bytes: number): void
  /** End the document at hand. @returns Its words. */
  endDoc(frameOffset: number, owner: bigint): number
  /** End the last document; then {@link encodeSome} until it returns 0. */
  finish(): void
  /** Pass about `budget` terms, postings or documents. @returns 1 when more are left. */
  encodeSome(budget: number): number
  /** The areas of the index: vocabulary, postings, documents, one after the other. */
  readonly vocab: KernelNumber
  readonly postings: KernelNumber
  readonly postingsEnd: KernelNumber
  readonly frames: KernelNumber
  readonly terms: KernelNumber
  readonly totalPostings: KernelNumber
  /** Texts of the terms by rank: addresses of a length and UTF-8. Only where words are kept. */
  readonly texts: KernelNumber
  /** Stop words that were met, and the first of them: see {@link STOP_RECORD}. */
  readonly stops: KernelNumber
  readonly firstStop: KernelNumber
  /** Words kept. */
  readonly words: KernelNumber
  /** Number the words of the next page: by rank of the term, stop words behind. @returns Its address. */
  numberPage(): number
}

/** A global of the kernel, as it is now. */
export interface KernelNumber {
  readonly value: number
}

/** Bytes of the text at hand. */
export const INPUT_BYTES = 0x10000
/** Bytes of tokens that are added at once. */
export const TOKENS_BYTES = 0x4000
/** Words of a page; the last one may hold fewer. */
export const PAGE_WORDS = 4096
/** Room for a stop word. */
export const STOP_WORD_BYTES = 16
/** Bits of a token's flags. */
export const TOKEN_FLAGS = { isWord: 1, isStop: 2 } as const
/** Where the record of a stop word holds the address of its text and of the next record. */
export const STOP_RECORD = { text: 36, next: 40 } as const

// The libraries of the compiler that this project uses do not describe WebAssembly.
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (compiled: object, imports: object) => { readonly exports: unknown }
  readonly RuntimeError: new () => Error
}

let compiled: object | undefined

/** A new instance of the kernel, compiled at first use, which takes under 1 ms. */
export function createIndexKernel(): IndexKernel {
  const { Module, Instance } = webAssembly()
  compiled ??= new Module(Buffer.from(KERNEL_BASE64, 'base64'))
  // The kernel's exports are those of kernel/index.ts, which a test holds against this interface.
  return new Instance(compiled, {}).exports as IndexKernel
}

/** Whether a call ended because the memory's limit is reached. */
export function isKernelTrap(error: unknown): boolean {
  return error instanceof webAssembly().RuntimeError
}

function webAssembly(): WebAssemblyApi {
  // Every Node.js of the range that packages state has it.
  return (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly
}
