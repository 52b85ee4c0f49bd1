import {
  type CcxiContent,
  encodeCcxi,
  encodeCcxiInSlices,
  type Hashes,
  type IndexedDoc,
  type TermPostings,
} from 'crux-segment'
import { CruxError, type Pause } from 'crux-types'
import { TermTable } from '../analyser/term-table.js'
import type { RetrievalErrorCode } from '../errors.js'
import { orderByHash } from './order-by-hash.js'

/** Which segment the index belongs to. */
export interface IndexTarget {
  readonly shardId: number
  readonly segmentSeq: number
  readonly epoch: number
}

/** Collects documents and gives the bytes of their index, once. */
export interface IndexBuilder {
  /** Documents added so far. */
  readonly docs: number
  /**
   * Index one document; an empty text is passed over. Takes about 30 ms per MiB of text: give the
   * event loop back between calls, and use `addInSlices` where one text may be long.
   *
   * @param docId - Number of the document's frame in its segment; above every number before it.
   * @param tenantHash - 64-bit hash of the owner's name.
   * @param frameOffset - Byte at which the frame starts in the segment's file.
   * @throws {CruxError} `INDEX_DOC_ORDER`, `INDEX_FINISHED`.
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
   * @throws {CruxError} `INDEX_FINISHED`.
   */
  finish(target: IndexTarget): Uint8Array | undefined
  /** {@link finish} with pauses; the same bytes. */
  finishInSlices(target: IndexTarget, pause: Pause): Promise<Uint8Array | undefined>
}

/** Start an index of one segment's documents. */
export function createIndexBuilder(hashes: Hashes): IndexBuilder {
  return new PostingsCollector(hashes)
}

/** Version of the analyser whose terms the table gives. */
const ANALYSER_VERSION = 1
/** UTF-16 units of text between two looks at the clock: about 1 ms. */
const TEXT_SLICE = 32 * 1024
/** UTF-16 units of text loaded between two looks at the clock. */
const LOAD_SLICE = 256 * 1024
/**
 * Room at first. Small on purpose: arrays then grow while the engine still interprets, which keeps it
 * from compiling code for arrays that never grow and throwing that away (a third of a first build).
 */
const FIRST_ROOM = 16
/** Postings between two looks at the clock: they are put in places far apart, each slow to reach. */
const POSTING_SLICE = 8 * 1024
/** Postings in one piece. */
const PIECE_POSTINGS = 32 * 1024
/** Numbers of a posting: term, document, times. */
const POSTING_NUMBERS = 3
/** Stored times and lengths are no higher. */
const MAX_U16 = 0xffff
/** Terms hashed between two looks at the clock. */
const HASH_SLICE = 2048

/**
 * Postings in the order of the documents, sorted by term only at the end. The terms of the document
 * at hand are counted in an array by term; its postings are written when it ends, into pieces, so
 * that growing copies nothing.
 */
class PostingsCollector implements IndexBuilder {
  private readonly table = new TermTable()
  private readonly docEntries: (IndexedDoc | undefined)[] = []
  /** By term: times in the document at hand. */
  private counts = new Uint32Array(FIRST_ROOM)
  /** By term: documents that hold it. */
  private frequencies = new Uint32Array(FIRST_ROOM)
  /** Terms of the document at hand, in order of first sight. */
  private seen = new Uint32Array(FIRST_ROOM)
  private seenTerms = 0
  private readonly pieces: Uint32Array[] = []
  private pieceEnd = 0
  private postings = 0
  private docId = -1
  private docTokens = 0
  private isFinished = false
  docs = 0

  constructor(private readonly hashes: Hashes) {}

  add(docId: number, text: string, tenantHash: bigint, frameOffset: number): void {
    if (text === '') return
    this.startDoc(docId)
    this.table.open(text)
    this.table.load(text.length)
    this.table.read(text.length, this.count)
    this.writePostings(0, this.seenTerms)
    this.endDoc(tenantHash, frameOffset)
  }

  async addInSlices(
    docId: number,
    text: string,
    tenantHash: bigint,
    frameOffset: number,
    pause: Pause,
  ): Promise<void> {
    if (text === '') return
    this.startDoc(docId)
    this.table.open(text)
    while (this.table.load(LOAD_SLICE)) await pause()
    while (this.table.read(TEXT_SLICE, this.count)) await pause()
    for (let from = 0; from < this.seenTerms; from += POSTING_SLICE) {
      if (from > 0) await pause()
      this.writePostings(from, Math.min(from + POSTING_SLICE, this.seenTerms))
    }
    this.endDoc(tenantHash, frameOffset)
  }

  finish(target: IndexTarget): Uint8Array | undefined {
    this.spend()
    if (this.docs === 0) return undefined
    const steps = this.sortByTerm()
    for (;;) {
      const step = steps.next()
      if (step.done) return encodeCcxi(this.content(step.value, target), this.hashes)
    }
  }

  async finishInSlices(target: IndexTarget, pause: Pause): Promise<Uint8Array | undefined> {
    this.spend()
    if (this.docs === 0) return undefined
    const steps = this.sortByTerm()
    for (;;) {
      const step = steps.next()
      if (step.done) {
        return encodeCcxiInSlices(this.content(step.value, target), this.hashes, pause)
      }
      await pause()
    }
  }

  private startDoc(docId: number): void {
    this.requireOpen()
    if (!(docId > this.docId)) {
      throw new CruxError<RetrievalErrorCode>(
        'INDEX_DOC_ORDER',
        `document ${docId} was added after ${this.docId}; add documents by ascending number`,
        { data: { docId } },
      )
    }
    this.docId = docId
    this.docTokens = 0
    this.seenTerms = 0
  }

  private endDoc(tenantHash: bigint, frameOffset: number): void {
    while (this.docEntries.length < this.docId) this.docEntries.push(undefined)
    this.docEntries.push({ frameOffset, lengthTokens: this.docTokens, tenantHash })
    this.docs += 1
  }

  /** Count one token of the document at hand. */
  private readonly count = (term: number): void => {
    this.docTokens += 1
    if (term >= this.counts.length) {
      this.counts = doubled(this.counts)
      this.frequencies = doubled(this.frequencies)
    }
    const times = this.counts[term] as number // the lines above make room
    this.counts[term] = times + 1
    if (times > 0) return
    if (this.seenTerms === this.seen.length) this.seen = doubled(this.seen)
    this.seen[this.seenTerms] = term
    this.seenTerms += 1
  }

  /** Write the postings of some terms of the document at hand, and count them no more. */
  private writePostings(from: number, to: number): void {
    const { counts, frequencies, seen, docId } = this
    for (let i = from; i < to; i++) {
      let piece = this.pieces.at(-1)
      if (piece === undefined || this.pieceEnd === piece.length) {
        piece = new Uint32Array(nextPieceLength(piece?.length ?? 0))
        this.pieces.push(piece)
        this.pieceEnd = 0
      }
      const term = seen[i] as number // below `seenTerms`
      piece[this.pieceEnd] = term
      piece[this.pieceEnd + 1] = docId
      piece[this.pieceEnd + 2] = counts[term] as number
      this.pieceEnd += POSTING_NUMBERS
      counts[term] = 0
      frequencies[term] = (frequencies[term] as number) + 1
    }
    this.postings += to - from
  }

  /** Each term's documents together, terms by ascending hash. Yields where a pause may be taken. */
  private *sortByTerm(): Generator<void, Iterable<TermPostings>> {
    const { terms } = this.table
    const ends = new Uint32Array(terms.length)
    let end = 0
    for (let term = 0; term < ends.length; term++) {
      ends[term] = end // moves to the end while the postings are placed
      end += this.frequencies[term] as number
    }
    yield
    const docIds = new Uint32Array(this.postings)
    const tfs = new Uint16Array(this.postings)
    for (const [i, piece] of this.pieces.entries()) {
      const pieceEnd = i === this.pieces.length - 1 ? this.pieceEnd : piece.length
      for (let from = 0; from < pieceEnd; from += POSTING_SLICE * POSTING_NUMBERS) {
        const to = Math.min(from + POSTING_SLICE * POSTING_NUMBERS, pieceEnd)
        placeByTerm(piece, from, to, ends, docIds, tfs)
        yield
      }
    }
    const full = new BigUint64Array(terms.length)
    for (let from = 0; from < terms.length; from += HASH_SLICE) {
      hashEach(terms, from, Math.min(from + HASH_SLICE, terms.length), full, this.hashes)
      yield
    }
    return listsInOrder(yield* orderByHash(full), full, ends, docIds, tfs)
  }

  private content(terms: Iterable<TermPostings>, target: IndexTarget): CcxiContent {
    return { ...target, tokenizerVersion: ANALYSER_VERSION, terms, docs: this.docEntries }
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
}

function placeByTerm(
  postings: Uint32Array,
  from: number,
  to: number,
  ends: Uint32Array,
  docIds: Uint32Array,
  tfs: Uint16Array,
): void {
  for (let i = from; i < to; i += POSTING_NUMBERS) {
    const term = postings[i] as number // below `to`, as every index here
    const at = ends[term] as number
    docIds[at] = postings[i + 1] as number
    tfs[at] = Math.min(postings[i + 2] as number, MAX_U16)
    ends[term] = at + 1
  }
}

function hashEach(
  terms: readonly string[],
  from: number,
  to: number,
  full: BigUint64Array,
  hashes: Hashes,
): void {
  for (let term = from; term < to; term++) full[term] = hashes.xxh64Text(terms[term] as string)
}

/** @param ends - End of each term's postings, by number of the term. */
function* listsInOrder(
  order: Uint32Array,
  full: BigUint64Array,
  ends: Uint32Array,
  docIds: Uint32Array,
  tfs: Uint16Array,
): Generator<TermPostings> {
  let last: TermPostings | undefined
  for (const term of order) {
    const start = term === 0 ? 0 : (ends[term - 1] as number)
    const list = {
      hash: full[term] as bigint, // `order` holds numbers of terms
      docIds: docIds.subarray(start, ends[term]),
      tfs: tfs.subarray(start, ends[term]),
    }
    if (last?.hash === list.hash) last = united(last, list)
    else {
      if (last !== undefined) yield last
      last = list
    }
  }
  if (last !== undefined) yield last
}

/** Two terms of one hash are one term to every reader of the index. */
function united(a: TermPostings, b: TermPostings): TermPostings {
  const counts = new Map<number, number>()
  for (const { docIds, tfs } of [a, b]) {
    docIds.forEach((docId, i) => {
      counts.set(docId, (counts.get(docId) ?? 0) + (tfs[i] ?? 0))
    })
  }
  const sorted = [...counts].sort(([one], [other]) => one - other)
  return {
    hash: a.hash,
    docIds: Uint32Array.from(sorted, ([docId]) => docId),
    tfs: Uint32Array.from(sorted, ([, tf]) => tf),
  }
}

function doubled(old: Uint32Array): Uint32Array<ArrayBuffer> {
  const wide = new Uint32Array(old.length * 2)
  wide.set(old)
  return wide
}

/** Small at first, so that a small index does not take a whole piece. */
function nextPieceLength(last: number): number {
  const most = PIECE_POSTINGS * POSTING_NUMBERS
  return Math.min(Math.max(last * 2, FIRST_ROOM * POSTING_NUMBERS), most)
}
