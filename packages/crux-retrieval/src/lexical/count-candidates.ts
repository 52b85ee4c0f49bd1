import { type BitRanks, bitsIn } from './bit-ranks.js'
import type { ScoredTerm } from './scored-term.js'
import type { ScratchPool } from './scratch-pool.js'
import type { TermList } from './term-list.js'

/**
 * Documents that hold at least one of the terms, without scoring any. Yields after each list.
 *
 * Long lists are united as bits, if those were made; the documents of other ones are looked up there.
 *
 * @param size - Documents of the view.
 */
export function* countCandidates(
  terms: readonly ScoredTerm[],
  size: number,
  pool: ScratchPool<Uint32Array>,
): Generator<void, number> {
  const lists = terms.map(({ list }) => list).sort((a, b) => b.length - a.length)
  const [longest, ...others] = lists
  if (longest === undefined) return 0
  if (others.length === 0) return longest.length
  const words = (size + 31) >>> 5
  const seen = pool.take(words)
  const first = longest.bitRanks()
  if (first !== undefined) seen.set(first.bits)
  let count = first === undefined ? mark(longest, seen) : longest.length
  yield
  for (const list of others) {
    const bits = list.bitRanks()
    count += bits === undefined ? mark(list, seen) : unite(bits, words, seen)
    yield
  }
  if (first !== undefined) seen.fill(0, 0, words)
  else for (const list of lists) clear(list, seen)
  pool.give(seen)
  return count
}

// In the loops below every index is under the length of its array.

/** Set the bits of a list. @returns How many were not set. */
function mark({ docs, length }: TermList, seen: Uint32Array): number {
  let fresh = 0
  for (let i = 0; i < length; i++) {
    const doc = docs[i] as number
    const word = seen[doc >>> 5] as number
    const bit = 1 << (doc & 31)
    if ((word & bit) !== 0) continue
    seen[doc >>> 5] = word | bit
    fresh += 1
  }
  return fresh
}

function unite({ bits }: BitRanks, words: number, seen: Uint32Array): number {
  let fresh = 0
  for (let word = 0; word < words; word++) {
    const old = seen[word] as number
    const more = (bits[word] as number) & ~old
    if (more === 0) continue
    seen[word] = old | more
    fresh += bitsIn(more)
  }
  return fresh
}

function clear({ docs, length }: TermList, seen: Uint32Array): void {
  for (let i = 0; i < length; i++) seen[(docs[i] as number) >>> 5] = 0
}
