import type { ScoredTerm } from './scored-term.js'
import type { ScratchPool } from './scratch-pool.js'
import { keepsShares, type LengthNorm, type TermList } from './term-list.js'
import type { TopHits } from './top-hits.js'

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

/**
 * Add up the scores of all documents that hold a term and offer those that reach the floor to `top`.
 * In one go: for short lists.
 *
 * When the lists hold many of the documents, the scores are gathered by one walk over all
 * documents; else by a second walk over the lists, so that a rare term costs little in a large index.
 * Either walk leaves zeros behind.
 *
 * @param terms - In the order in which their weights are added.
 */
export function scoreAll(
  terms: readonly ScoredTerm[],
  docs: ScoredDocs,
  minScore: number | undefined,
  top: TopHits,
  pool: ScratchPool<Float64Array>,
): ScoreCounts {
  const { size, norm } = docs
  const scores = pool.take(size)
  const hasShares = keepsShares(size)
  let postings = 0
  for (const { list, weight } of terms) {
    postings += list.length
    if (hasShares) addShares(scores, list.docs, list.sharesAt(norm, docs.lengths), weight)
    else addComputed(scores, list, weight, norm, docs.lengths)
  }
  const floor = minScore ?? Number.NEGATIVE_INFINITY
  const counts =
    postings > size / 4
      ? gatherAll(scores, size, floor, top)
      : gatherListed(scores, terms, floor, top)
  pool.give(scores)
  return counts
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

function gatherAll(
  scores: Float64Array,
  size: number,
  floor: number,
  top: TopHits,
): { candidates: number; belowFloor: number } {
  let candidates = 0
  let belowFloor = 0
  let entry = top.entry
  for (let doc = 0; doc < size; doc++) {
    const score = scores[doc] as number
    if (score === 0) continue
    scores[doc] = 0
    candidates += 1
    if (score < floor) belowFloor += 1
    // Documents come by ascending number, so that an equal score cannot displace an earlier one.
    else if (score > entry) {
      top.offer(doc, score)
      entry = top.entry
    }
  }
  return { candidates, belowFloor }
}

function gatherListed(
  scores: Float64Array,
  terms: readonly ScoredTerm[],
  floor: number,
  top: TopHits,
): { candidates: number; belowFloor: number } {
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
