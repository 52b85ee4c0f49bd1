import { type BitRanks, placeOf } from './bit-ranks.js'
import { lowerBound } from './lower-bound.js'
import type { ScoredDocs } from './score-all.js'
import type { ScoredTerm } from './scored-term.js'
import type { ScratchPool } from './scratch-pool.js'
import { BLOCK_POSTINGS, type LengthNorm, shareAt, type TermList } from './term-list.js'
import type { TopHits } from './top-hits.js'

/** Documents scored together; a power of two, at least 32, so that bits of a list start on a word. */
const WINDOW_DOCS = 4096
/** Postings and lists handled between two looks at the clock: under 1 ms. */
const SLICE = 64 * 1024
/** What a window costs beside its postings, in postings. */
const WINDOW_COST = 32
/**
 * Bounds are raised and compared by this much: sums of upper bounds are rounded in other places than
 * sums of scores. Far above the error of either, far below any difference of scores that matters.
 */
const SLACK = 1 + 1e-9

/**
 * Find the same best documents as `scoreAll`, with the same scores, and score few others.
 *
 * The documents are taken in windows. Within a window each list has an upper bound: its weight times
 * the largest share in the blocks that reach into it. The lightest lists, as long as their bounds
 * together stay below the score needed, cannot make a hit alone: only the documents of the
 * other lists are scored, and the light lists looked up for those that can still get in. A
 * window whose bounds are all together too low is passed over.
 *
 * Yields where a pause may be taken.
 *
 * @param terms - In the order in which their weights are added: heaviest first.
 * @param limit - Most documents that `top` keeps.
 * @param windowDocs - For tests: documents of a window.
 * @returns Documents that reach `minScore`; without one the number says nothing.
 * @see Turtle & Flood, "Query Evaluation: Strategies and Optimizations" (1995), for the split into
 *   lists that must be walked and lists that need not; Ding & Suel, "Faster Top-k Document Retrieval
 *   Using Block-Max Indexes" (2011), for the bounds per block.
 */
export function* scorePruned(
  terms: readonly ScoredTerm[],
  docs: ScoredDocs,
  limit: number,
  minScore: number | undefined,
  top: TopHits,
  pool: ScratchPool<Float64Array>,
  windowDocs: number = WINDOW_DOCS,
): Generator<void, number> {
  if (limit === 0 && minScore === undefined) return 0
  const cursors: Cursor[] = []
  for (const term of terms) {
    yield* term.list.prepare(docs.norm, docs.lengths)
    cursors.push(new Cursor(term, docs))
  }
  const scores = pool.take(windowDocs)
  const run = new PrunedRun(cursors, docs, top, scores, windowDocs)
  run.need = minScore ?? (yield* firstThreshold(cursors, limit, docs))
  run.isFixed = minScore !== undefined
  let work = 0
  for (;;) {
    const cost = run.nextWindow()
    if (cost === 0) break
    work += cost
    if (work < SLICE) continue
    work = 0
    yield
  }
  pool.give(scores)
  return run.reached
}

/** One list of a query and how far it has been walked. */
class Cursor {
  readonly list: TermList
  readonly weight: number
  readonly bits: BitRanks | undefined
  /** Upper bounds of each block, before `scale`. */
  readonly maxima: Float64Array
  /** What makes a score of a block's bound. */
  readonly scale: number
  /** What makes a lower bound of a score that is reached of it. */
  readonly surely: number
  /** No document at all scores more for this term. */
  readonly overall: number
  /** Postings before the window. */
  from = 0
  /** Postings before the end of the window. */
  to = 0
  /** No document of the window scores more for this term. */
  bound = 0

  constructor({ list, weight }: ScoredTerm, { norm }: ScoredDocs) {
    this.list = list
    this.weight = weight
    this.bits = list.bitRanks()
    const { maxima, largest, above, below } = list.blockBounds(norm)
    this.maxima = maxima
    this.scale = weight * above
    this.surely = weight * below
    this.overall = largest * this.scale
  }

  /** Move to a window; both ends are multiples of the window's size. */
  enter(start: number, end: number): void {
    this.from = this.placeOfFirst(start, this.to)
    this.to = this.placeOfFirst(end, this.from)
    let max = 0
    if (this.to > this.from) {
      const { maxima } = this
      const last = Math.floor((this.to - 1) / BLOCK_POSTINGS)
      for (let block = Math.floor(this.from / BLOCK_POSTINGS); block <= last; block++) {
        const bound = maxima[block] as number // `to` is within the list
        if (bound > max) max = bound
      }
    }
    this.bound = max * this.scale
  }

  /** Place of a document within the window, or -1. */
  find(doc: number): number {
    if (this.bits !== undefined) return placeOf(this.bits, doc)
    const { docs } = this.list
    const place = lowerBound(docs, this.from, this.to, doc)
    return place < this.to && docs[place] === doc ? place : -1
  }

  /** Place of the first posting of a document from `doc` on, which is not before `from`. */
  private placeOfFirst(doc: number, from: number): number {
    const { docs, length } = this.list
    if (this.bits !== undefined) return this.bits.ranks[doc >>> 5] ?? length
    // In growing steps, as the place is mostly near.
    let step = 1
    let low = from
    let high = from
    while (high < length && (docs[high] as number) < doc) {
      low = high + 1
      high += step
      step *= 2
    }
    return lowerBound(docs, low, Math.min(high, length), doc)
  }
}

/** Lists of at most this many postings are looked through for a first threshold. */
const MOST_FOR_THRESHOLD = 16 * 1024
/** The heaviest lists, among which that of the best threshold mostly is. */
const LISTS_FOR_THRESHOLD = 4

/**
 * A score that at least `limit` documents reach: the best such of any one term alone. Yields after
 * each list.
 */
function* firstThreshold(
  cursors: readonly Cursor[],
  limit: number,
  { norm, lengths }: ScoredDocs,
): Generator<void, number> {
  let threshold = 0
  const long = cursors.filter(({ list }) => list.length >= limit)
  for (const { list, weight, maxima, surely } of long.slice(0, LISTS_FOR_THRESHOLD)) {
    let reached = 0
    if (maxima.length >= limit) {
      // Each block's largest share is that of one document.
      reached = largest(maxima, limit) * surely
    } else if (list.length <= MOST_FOR_THRESHOLD) {
      const shares = new Float64Array(list.length)
      for (let i = 0; i < shares.length; i++) shares[i] = shareAt(list, norm, lengths, i)
      reached = largest(shares, limit) * weight
    }
    if (reached > threshold) threshold = reached
    yield
  }
  return threshold / SLACK
}

/** The `count`-th largest of the values; `count` is 1..values.length. */
function largest(values: Float64Array, count: number): number {
  // A heap of the largest, the least of them on top.
  const heap = values.slice(0, count).sort()
  for (let i = count; i < values.length; i++) {
    const value = values[i] as number // `i` is below the length, as every place in the heap
    if (value <= (heap[0] as number)) continue
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= count) break
      if (child + 1 < count && (heap[child + 1] as number) < (heap[child] as number)) child += 1
      if (value <= (heap[child] as number)) break
      heap[at] = heap[child] as number
      at = child
    }
    heap[at] = value
  }
  return heap[0] as number
}

/** The state of one query between two windows. */
class PrunedRun {
  /** Documents that score less are not looked for. */
  need = 0
  /** Whether `need` is a floor, which does not rise, and all that reach it are counted. */
  isFixed = false
  reached = 0
  private start = 0
  /** Lists from here on could not make a hit alone even with their bounds over all windows. */
  private walked: number
  /** Those bounds together. */
  private restOverall = 0

  constructor(
    private readonly cursors: readonly Cursor[],
    private readonly docs: ScoredDocs,
    private readonly top: TopHits,
    /** A window of zeros. */
    private readonly scores: Float64Array,
    private readonly windowDocs: number,
  ) {
    this.walked = cursors.length
  }

  /** Score the next window that has documents of the lists that are walked. @returns What it cost; 0 at the end. */
  nextWindow(): number {
    const { cursors, windowDocs } = this
    const start = this.nextStart()
    if (start < 0) return 0
    const end = start + windowDocs
    this.start = end
    for (const cursor of cursors) cursor.enter(start, end)
    let rest = 0
    let walked = cursors.length
    for (; walked > 0; walked--) {
      const more = rest + (cursors[walked - 1] as Cursor).bound
      if (more * SLACK >= this.need) break
      rest = more
    }
    const cost = WINDOW_COST * cursors.length
    if (walked === 0) return cost
    const postings = this.addUp(walked, start)
    if (postings === 0) return cost
    if (postings * 4 > windowDocs) {
      this.gatherWindow(walked, rest, start, Math.min(end, this.docs.size))
      return cost + postings + windowDocs
    }
    this.gatherListed(walked, rest, start)
    return cost + postings * 2
  }

  /** First window from `start` on that has a posting of a walked list, or -1. */
  private nextStart(): number {
    const { cursors, start, windowDocs } = this
    for (; this.walked > 0; this.walked--) {
      const more = this.restOverall + (cursors[this.walked - 1] as Cursor).overall
      if (more * SLACK >= this.need) break
      this.restOverall = more
    }
    let next = Number.POSITIVE_INFINITY
    for (let i = 0; i < this.walked; i++) {
      const { list, to } = cursors[i] as Cursor // `walked` is at most their number
      if (to < list.length) next = Math.min(next, list.docs[to] as number)
    }
    if (next === Number.POSITIVE_INFINITY) return -1
    return Math.max(start, next - (next % windowDocs))
  }

  private addUp(walked: number, start: number): number {
    const { cursors, docs, scores } = this
    let postings = 0
    for (let i = 0; i < walked; i++) {
      const { list, weight, from, to } = cursors[i] as Cursor // `walked` is at most their number
      addRange(scores, list, weight, docs.norm, docs.lengths, from, to, start)
      postings += to - from
    }
    return postings
  }

  private gatherWindow(walked: number, rest: number, start: number, end: number): void {
    const { scores } = this
    const count = end - start
    for (let at = 0; at < count; at++) {
      const score = scores[at] as number
      // In this order: few documents reach what is needed, while about half may have no score.
      if ((score + rest) * SLACK < this.need || score === 0) continue
      this.complete(start + at, score, walked, rest)
    }
    scores.fill(0, 0, count)
  }

  private gatherListed(walked: number, rest: number, start: number): void {
    const { cursors, scores } = this
    for (let i = 0; i < walked; i++) {
      const { list, from, to } = cursors[i] as Cursor // `walked` is at most their number
      const { docs } = list
      for (let p = from; p < to; p++) {
        const doc = docs[p] as number
        const score = scores[doc - start] as number
        if (score === 0) continue // gathered with an earlier list
        scores[doc - start] = 0
        if ((score + rest) * SLACK >= this.need) this.complete(doc, score, walked, rest)
      }
    }
  }

  /** Add what the lists that were not walked give to a document, and offer it. */
  private complete(doc: number, partial: number, walked: number, restBound: number): void {
    const { cursors, docs, top } = this
    let score = partial
    let rest = restBound
    for (let i = walked; i < cursors.length; i++) {
      if ((score + rest) * SLACK < this.need) return
      const cursor = cursors[i] as Cursor // `i` is below their number
      rest -= cursor.bound
      if (cursor.from === cursor.to) continue
      const place = cursor.find(doc)
      if (place < 0) continue
      score += cursor.weight * shareAt(cursor.list, docs.norm, docs.lengths, place)
    }
    if (score < this.need) return
    this.reached += 1
    if (score < top.entry) return
    top.offer(doc, score)
    if (!this.isFixed && top.entry > this.need) this.need = top.entry
  }
}

// In the loop below every index is under the length of its array.

function addRange(
  scores: Float64Array,
  { docs, tfs }: TermList,
  weight: number,
  { constant, slope }: LengthNorm,
  lengths: Uint16Array,
  from: number,
  to: number,
  start: number,
): void {
  for (let i = from; i < to; i++) {
    const doc = docs[i] as number
    const tf = tfs[i] as number
    const share = tf / (tf + (constant + slope * (lengths[doc] as number)))
    scores[doc - start] = (scores[doc - start] as number) + weight * share
  }
}
