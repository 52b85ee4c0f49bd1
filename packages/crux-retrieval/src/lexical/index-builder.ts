import {
  type CcxiContent,
  encodeCcxi,
  encodeCcxiInSlices,
  type Hashes,
  type IndexedDoc,
  type Pause,
  type TermPostings,
} from 'crux-segment'
import { CruxError } from 'crux-types'
import { TermTable } from '../analyser/term-table.js'
import type { RetrievalErrorCode } from '../errors.js'

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

/** UTF-16 units of text between two looks at the clock: about 1 ms. */
const TEXT_SLICE = 32 * 1024
/**
 * Room at first. Small on purpose: arrays then grow while the engine still interprets, which keeps it
 * from compiling code for arrays that never grow and throwing that away (a third of a first build).
 */
const FIRST_ROOM = 16
/** Postings between two looks at the clock. */
const POSTING_SLICE = 64 * 1024
/** Terms hashed between two looks at the clock. */
const HASH_SLICE = 2048
/** Terms whose number fits a double beside half a hash. */
const MOST_NUMBERED = 2 ** 21

/**
 * Postings in the order of the documents, three numbers each, sorted by term only at the end. A
 * term's newest posting is known, so that counting a token again costs two array reads.
 */
class PostingsCollector implements IndexBuilder {
  private readonly table = new TermTable()
  private readonly docEntries: (IndexedDoc | undefined)[] = []
  private newest = new Int32Array(FIRST_ROOM).fill(-1)
  private postingTerms = new Uint32Array(FIRST_ROOM)
  private postingDocs = new Uint32Array(FIRST_ROOM)
  private postingTfs = new Uint32Array(FIRST_ROOM)
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
    this.table.read(text.length, this.count)
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
    while (this.table.read(TEXT_SLICE, this.count)) await pause()
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
  }

  private endDoc(tenantHash: bigint, frameOffset: number): void {
    while (this.docEntries.length < this.docId) this.docEntries.push(undefined)
    this.docEntries.push({ frameOffset, lengthTokens: this.docTokens, tenantHash })
    this.docs += 1
  }

  /** Count one token of the document at hand. */
  private readonly count = (term: number): void => {
    this.docTokens += 1
    if (term >= this.newest.length) this.newest = grown(this.newest, -1)
    const newest = this.newest[term] as number // the line above makes room
    if (newest >= 0 && this.postingDocs[newest] === this.docId) {
      this.postingTfs[newest] = (this.postingTfs[newest] as number) + 1
      return
    }
    const posting = this.postings
    if (posting === this.postingTerms.length) {
      this.postingTerms = doubled(this.postingTerms)
      this.postingDocs = doubled(this.postingDocs)
      this.postingTfs = doubled(this.postingTfs)
    }
    this.postingTerms[posting] = term
    this.postingDocs[posting] = this.docId
    this.postingTfs[posting] = 1
    this.newest[term] = posting
    this.postings = posting + 1
  }

  /** Each term's documents together, terms by ascending hash. Yields where a pause may be taken. */
  private *sortByTerm(): Generator<void, TermPostings[]> {
    const { terms } = this.table
    const ends = new Uint32Array(terms.length)
    for (let from = 0; from < this.postings; from += POSTING_SLICE) {
      countEach(
        this.postingTerms.subarray(from, Math.min(from + POSTING_SLICE, this.postings)),
        ends,
      )
      yield
    }
    let end = 0
    for (let term = 0; term < ends.length; term++) {
      const start = end
      end += ends[term] as number
      ends[term] = start // moves to the end while the postings are placed
    }
    const docIds = new Uint32Array(this.postings)
    const tfs = new Uint32Array(this.postings)
    for (let from = 0; from < this.postings; from += POSTING_SLICE) {
      this.placeByTerm(from, Math.min(from + POSTING_SLICE, this.postings), ends, docIds, tfs)
      yield
    }
    const order = yield* hashedInOrder(terms, this.hashes)
    const sorted: TermPostings[] = []
    for (const { hash, term } of order) {
      const start = term === 0 ? 0 : (ends[term - 1] as number)
      const list = {
        hash,
        docIds: docIds.subarray(start, ends[term]),
        tfs: tfs.subarray(start, ends[term]),
      }
      const last = sorted.at(-1)
      if (last?.hash === hash) sorted[sorted.length - 1] = united(last, list)
      else sorted.push(list)
      if (sorted.length % 4096 === 0) yield
    }
    return sorted
  }

  private placeByTerm(
    from: number,
    to: number,
    ends: Uint32Array,
    docIds: Uint32Array,
    tfs: Uint32Array,
  ): void {
    const { postingTerms, postingDocs, postingTfs } = this
    for (let i = from; i < to; i++) {
      const term = postingTerms[i] as number // below `postings`, as every index here
      const at = ends[term] as number
      docIds[at] = postingDocs[i] as number
      tfs[at] = postingTfs[i] as number
      ends[term] = at + 1
    }
  }

  private content(terms: readonly TermPostings[], target: IndexTarget): CcxiContent {
    return { ...target, terms, docs: this.docEntries }
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

/**
 * Terms by ascending hash.
 *
 * Sorting numbers is far faster than sorting big integers by a comparison, so that the upper half
 * of the hash is sorted with the term's number in the lower bits (32 + 21 bits fit a double), and
 * only the rare equal halves are compared in full.
 */
function* hashedInOrder(
  terms: readonly string[],
  hashes: Hashes,
): Generator<void, { hash: bigint; term: number }[]> {
  const full = new BigUint64Array(terms.length)
  for (let from = 0; from < terms.length; from += HASH_SLICE) {
    hashEach(terms, from, Math.min(from + HASH_SLICE, terms.length), full, hashes)
    yield
  }
  const order = terms.length > MOST_NUMBERED ? orderOfMany(full) : orderOf(full)
  yield
  return order.map((term) => ({ hash: full[term] as bigint, term }))
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

function orderOf(full: BigUint64Array): number[] {
  // Little-endian like every platform that Node runs on: the upper half is the second word.
  const halves = new Uint32Array(full.buffer)
  const keys = new Float64Array(full.length)
  for (let term = 0; term < keys.length; term++) {
    keys[term] = (halves[term * 2 + 1] as number) * MOST_NUMBERED + term
  }
  keys.sort()
  const order: number[] = []
  for (const key of keys) {
    const term = key % MOST_NUMBERED
    let at = order.length
    // Nearly sorted: only what differs in the lower half alone moves.
    for (; at > 0; at--) {
      const before = order[at - 1] as number
      if (halves[before * 2 + 1] !== halves[term * 2 + 1]) break
      if ((halves[before * 2] as number) <= (halves[term * 2] as number)) break
      order[at] = before
    }
    order[at] = term
  }
  return order
}

function orderOfMany(full: BigUint64Array): number[] {
  const hashOf = (term: number): bigint => full[term] as bigint
  return Array.from(full, (_, term) => term).sort((a, b) =>
    hashOf(a) < hashOf(b) ? -1 : hashOf(a) > hashOf(b) ? 1 : a - b,
  )
}

function countEach(terms: Uint32Array, counts: Uint32Array): void {
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i] as number // i is below the length
    counts[term] = (counts[term] as number) + 1
  }
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

function grown(old: Int32Array, fill: number): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(old.length * 2).fill(fill, old.length)
  wide.set(old)
  return wide
}
