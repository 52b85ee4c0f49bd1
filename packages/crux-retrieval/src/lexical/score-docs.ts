import type { TermList } from './tenant-view.js'
import type { TopHits } from './top-hits.js'

/** Postings or documents handled between two looks at the clock: under 1 ms. */
const SLICE = 128 * 1024

/** Arrays of zeros to add scores up in, shared by the queries of an index. */
export interface ScratchPool {
  /** An array of at least `size` zeros. */
  take(size: number): Float32Array
  /** Give an array back once it holds zeros only. */
  give(scores: Float32Array): void
}

/** A pool that keeps one array; queries that overlap because of pauses make their own. */
export function createScratchPool(): ScratchPool {
  let free: Float32Array | undefined
  return {
    take: (size) => {
      const scores = free
      free = undefined
      if (scores !== undefined && scores.length >= size) return scores
      // Some room to grow, so that a growing index does not make a new array for each query.
      return new Float32Array(Math.ceil(size * 1.25))
    },
    give: (scores) => {
      if (free === undefined || free.length < scores.length) free = scores
    },
  }
}

/**
 * Add up the weights of the terms for each document and offer all that reach the floor to `top`.
 *
 * When the lists hold many of the documents, the scores are gathered by one walk over all
 * documents; else by a second walk over the lists, so that a rare term costs little in a large index.
 * Either walk leaves zeros behind.
 *
 * @param terms - Each term of the query once, with its number of occurrences there.
 * @param size - Documents of the view.
 * @returns How many documents hold a term, and how many of them scored below the floor.
 */
export function* scoreDocs(
  terms: readonly { readonly list: TermList; readonly count: number }[],
  size: number,
  minScore: number | undefined,
  top: TopHits,
  pool: ScratchPool,
): Generator<void, { candidates: number; belowFloor: number }> {
  const floor = minScore ?? Number.NEGATIVE_INFINITY
  const scores = pool.take(size)
  let postings = 0
  for (const { list, count } of terms) {
    const { length } = list.docs
    postings += length
    for (let from = 0; from < length; from += SLICE) {
      addWeights(scores, list, count, from, Math.min(from + SLICE, length))
      if (length > SLICE) yield
    }
    if (postings > SLICE) yield
  }
  const counted = { candidates: 0, belowFloor: 0 }
  if (postings > size / 4) {
    for (let from = 0; from < size; from += SLICE) {
      gatherAll(scores, from, Math.min(from + SLICE, size), floor, top, counted)
      if (size > SLICE) yield
    }
  } else {
    for (const { list } of terms) {
      const { length } = list.docs
      for (let from = 0; from < length; from += SLICE) {
        gatherListed(scores, list.docs, from, Math.min(from + SLICE, length), floor, top, counted)
        if (length > SLICE) yield
      }
    }
  }
  pool.give(scores)
  return counted
}

// In the loops below every index is under the length of its array.

function addWeights(
  scores: Float32Array,
  { docs, weights }: TermList,
  count: number,
  from: number,
  to: number,
): void {
  if (count === 1) {
    for (let i = from; i < to; i++) {
      const doc = docs[i] as number
      scores[doc] = (scores[doc] as number) + (weights[i] as number)
    }
  } else {
    for (let i = from; i < to; i++) {
      const doc = docs[i] as number
      scores[doc] = (scores[doc] as number) + (weights[i] as number) * count
    }
  }
}

function gatherAll(
  scores: Float32Array,
  from: number,
  to: number,
  floor: number,
  top: TopHits,
  counted: { candidates: number; belowFloor: number },
): void {
  let candidates = 0
  let belowFloor = 0
  let entry = top.entry
  for (let doc = from; doc < to; doc++) {
    const score = scores[doc] as number
    if (score === 0) continue
    candidates += 1
    if (score < floor) belowFloor += 1
    // Documents come by ascending number, so that an equal score cannot displace an earlier one.
    else if (score > entry) {
      top.offer(doc, score)
      entry = top.entry
    }
  }
  scores.fill(0, from, to)
  counted.candidates += candidates
  counted.belowFloor += belowFloor
}

function gatherListed(
  scores: Float32Array,
  docs: Uint32Array,
  from: number,
  to: number,
  floor: number,
  top: TopHits,
  counted: { candidates: number; belowFloor: number },
): void {
  for (let i = from; i < to; i++) {
    const doc = docs[i] as number
    const score = scores[doc] as number
    if (score === 0) continue // gathered with an earlier term
    scores[doc] = 0
    counted.candidates += 1
    if (score < floor) counted.belowFloor += 1
    else if (score >= top.entry) top.offer(doc, score)
  }
}
