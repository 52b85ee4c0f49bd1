import type { ScoredTerm } from './scored-term.js'
import type { ScratchPool } from './scratch-pool.js'
import { keepsShares, type LengthNorm, type TermList } from './term-list.js'
import type { TopHits } from './top-hits.js'

/** Hits from which it pays to look first how high they score. */
const MANY_HITS = 32
/** Sizes that scores are told apart by. */
const SIZES = 256

/** Documents that were scored. */
export interface ScoreCounts {
  /** Documents that hold a term. */
  readonly candidates: number
  /** How many of them scored below the floor. */
  readonly belowFloor: number
}

/** The documents that terms are scored in, as both ways of scoring need them. */
export interface ScoredDocs {
  /** Documents numbered. */
  readonly size: number
  /** Tokens of each. */
  readonly lengths: Uint16Array
  readonly norm: LengthNorm
}

/** Zeros to add scores up in, with the same bytes as halves, to tell zeros apart without a branch. */
export interface ScoreScratch {
  readonly length: number
  readonly scores: Float64Array
  readonly halves: Int32Array
}

/** Zeros for so many documents. */
export function makeScoreScratch(length: number): ScoreScratch {
  const scores = new Float64Array(length)
  return { length, scores, halves: new Int32Array(scores.buffer) }
}

/**
 * Add up the scores of all documents that hold a term and offer those that reach the floor to `top`.
 * In one go: for short lists.
 *
 * When the lists hold many of the documents, the scores are gathered by one walk from the first
 * document of any to the last; else by a second walk over the lists, so that a rare term costs little in a large index.
 * Either walk leaves zeros behind.
 *
 * @param terms - In the order in which their weights are added.
 */
export function scoreAll(
  terms: readonly ScoredTerm[],
  docs: ScoredDocs,
  minScore: number | undefined,
  top: TopHits,
  pool: ScratchPool<ScoreScratch>,
): ScoreCounts {
  const { size, norm } = docs
  const scratch = pool.take(size)
  const { scores } = scratch
  const hasShares = keepsShares(size)
  // A tenant's documents mostly stand together, and others' may stand before and behind them.
  const range = { from: size, to: 0, postings: 0 }
  for (const { list, weight } of terms) {
    extend(range, list)
    if (hasShares) addShares(scores, list.docs, list.sharesAt(norm, docs.lengths), weight)
    else addComputed(scores, list, weight, norm, docs.lengths)
  }
  const counts = gather(scratch, terms, range, minScore, top)
  pool.give(scratch)
  return counts
}

/** Where the documents of lists stand, and how many postings they have. */
interface ListedRange {
  from: number
  to: number
  postings: number
}

function extend(range: ListedRange, { docs, length }: TermList): void {
  if (length === 0) return
  const first = docs[0] as number // the list is not empty
  const last = docs[length - 1] as number
  if (first < range.from) range.from = first
  if (last >= range.to) range.to = last + 1
  range.postings += length
}

function gather(
  scratch: ScoreScratch,
  terms: readonly ScoredTerm[],
  range: ListedRange,
  minScore: number | undefined,
  top: TopHits,
): ScoreCounts {
  const { scores } = scratch
  if (range.postings <= (range.to - range.from) / 4) {
    return gatherListed(scores, terms, minScore ?? 0, top)
  }
  if (minScore !== undefined) return gatherAbove(scores, range, minScore, top)
  return { candidates: gatherAll(scratch, range, top), belowFloor: 0 }
}

// In the loops below every index is under the length of its array.

function addShares(
  scores: Float64Array,
  docs: Uint32Array,
  shares: Float64Array,
  weight: number,
): void {
  for (let i = 0; i < shares.length; i++) {
    const doc = docs[i] as number
    scores[doc] = (scores[doc] as number) + weight * (shares[i] as number)
  }
}

function addComputed(
  scores: Float64Array,
  { docs, tfs, length }: TermList,
  weight: number,
  { constant, slope }: LengthNorm,
  lengths: Uint16Array,
): void {
  for (let i = 0; i < length; i++) {
    const doc = docs[i] as number
    const tf = tfs[i] as number
    const share = tf / (tf + (constant + slope * (lengths[doc] as number)))
    scores[doc] = (scores[doc] as number) + weight * share
  }
}

/**
 * Most scores are not among the best and half of them may be zero, in no order that a processor can
 * learn: so zeros are told apart by arithmetic on their bits, and the one branch is rarely taken. A
 * third of the time of a loop that asks for zero.
 */
function gatherAll(
  { scores, halves }: ScoreScratch,
  { from, to }: ListedRange,
  top: TopHits,
): number {
  let candidates = 0
  const least = top.limit < MANY_HITS ? 0 : leastOfBest(scores, from, to, top.limit)
  let entry = Math.max(least, top.entry)
  for (let doc = from; doc < to; doc++) {
    const bits = (halves[doc * 2] as number) | (halves[doc * 2 + 1] as number)
    candidates += (bits | -bits) >>> 31
    const score = scores[doc] as number
    // Documents come by ascending number, so that an equal score cannot displace an earlier one.
    if (score > entry) {
      top.offer(doc, score)
      entry = Math.max(least, top.entry)
    }
  }
  scores.fill(0, from, to)
  return candidates
}

/**
 * A score that all of the best `limit` documents exceed, not far below the last of them: found by
 * counting scores by size. Most documents then need not be offered, which costs far more than counting.
 */
function leastOfBest(scores: Float64Array, from: number, to: number, limit: number): number {
  let most = 0
  for (let doc = from; doc < to; doc++) {
    const score = scores[doc] as number
    if (score > most) most = score
  }
  if (most === 0) return 0
  const counts = new Uint32Array(SIZES + 1)
  const scale = SIZES / most
  for (let doc = from; doc < to; doc++) {
    const size = ((scores[doc] as number) * scale) | 0
    counts[size] = (counts[size] as number) + 1
  }
  let found = 0
  for (let size = SIZES; size > 0; size--) {
    found += counts[size] as number
    // A little less, since the division may round up.
    if (found >= limit) return (size / scale) * (1 - 1e-9)
  }
  return 0
}

function gatherAbove(
  scores: Float64Array,
  { from, to }: ListedRange,
  floor: number,
  top: TopHits,
): ScoreCounts {
  let candidates = 0
  let belowFloor = 0
  for (let doc = from; doc < to; doc++) {
    const score = scores[doc] as number
    if (score === 0) continue
    candidates += 1
    if (score < floor) belowFloor += 1
    else if (score >= top.entry) top.offer(doc, score)
  }
  scores.fill(0, from, to)
  return { candidates, belowFloor }
}

function gatherListed(
  scores: Float64Array,
  terms: readonly ScoredTerm[],
  floor: number,
  top: TopHits,
): ScoreCounts {
  let candidates = 0
  let belowFloor = 0
  for (const { list } of terms) {
    const { docs, length } = list
    for (let i = 0; i < length; i++) {
      const doc = docs[i] as number
      const score = scores[doc] as number
      if (score === 0) continue // gathered with an earlier term
      scores[doc] = 0
      candidates += 1
      if (score < floor) belowFloor += 1
      else if (score >= top.entry) top.offer(doc, score)
    }
  }
  return { candidates, belowFloor }
}
