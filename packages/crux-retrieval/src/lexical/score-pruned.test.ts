import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countCandidates } from './count-candidates.js'
import { Layout } from './layout.js'
import { makeScoreScratch, type ScoredDocs, scoreAll } from './score-all.js'
import { scorePruned } from './score-pruned.js'
import { type ScoredTerm, sortByWeight, termWeight } from './scored-term.js'
import { createScratchPool } from './scratch-pool.js'
import { lengthNormOf, TermList } from './term-list.js'
import { TopHits } from './top-hits.js'

const scores = createScratchPool(makeScoreScratch)
const windows = createScratchPool((size) => new Float64Array(size))
const seen = createScratchPool((size) => new Uint32Array(size))

/** The same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Corpus {
  readonly docs: ScoredDocs
  readonly terms: readonly ScoredTerm[]
}

/**
 * Documents with lists of very different lengths.
 *
 * @param lengths - Different lengths of documents: with one there are many equal scores.
 */
function corpusOf(seed: number, size: number, lists: number, lengths: number): Corpus {
  const random = randomOf(seed)
  const tokens = Uint16Array.from({ length: size }, () => 1 + random(lengths) * 7)
  const mean = 1 + tokens.reduce((sum, each) => sum + each, 0) / Math.max(1, size)
  const layout = layoutOf(size)
  const terms: ScoredTerm[] = []
  for (let i = 0; i < lists; i++) {
    const oneIn = 2 ** random(9)
    const found: number[] = []
    for (let doc = 0; doc < size; doc++) if (random(oneIn) === 0) found.push(doc)
    if (found.length === 0) continue
    const tfs = Uint16Array.from(found, () => 1 + (random(4) === 0 ? random(20) : 0))
    const postings = { docs: Uint32Array.from(found), tfs, length: found.length }
    const list = new TermList(`t${i}`, postings, found.length, 1, layout, () => undefined)
    terms.push({ list, weight: termWeight(size, found.length, 1 + random(2)) })
  }
  sortByWeight(terms)
  return { docs: { size, lengths: tokens, norm: lengthNormOf(mean) }, terms }
}

/** A layout of so many documents. */
function layoutOf(size: number): Layout {
  const layout = new Layout([])
  Object.defineProperty(layout, 'size', { value: size })
  return layout
}

function finish<T>(steps: Generator<void, T>): T {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

function all({ docs, terms }: Corpus, limit: number, minScore: number | undefined) {
  const top = new TopHits(limit)
  const { candidates, belowFloor } = scoreAll(terms, docs, minScore, top, scores)
  return { hits: top.sorted(), candidates, belowFloor }
}

function pruned(
  { docs, terms }: Corpus,
  limit: number,
  minScore: number | undefined,
  windowDocs?: number,
) {
  const top = new TopHits(limit)
  const candidates = finish(countCandidates(terms, docs.size, seen))
  const reached = finish(scorePruned(terms, docs, limit, minScore, top, windows, windowDocs))
  const belowFloor = minScore === undefined ? 0 : candidates - reached
  return { hits: top.sorted(), candidates, belowFloor }
}

const seeds = fc.nat(2 ** 31)
const sizes = fc.oneof(fc.nat(40), fc.integer({ min: 100, max: 6000 }))
const limits = fc.oneof(fc.nat(3), fc.integer({ min: 4, max: 300 }))

describe('scorePruned', () => {
  it('gives the documents, scores and counts of scoring all', () => {
    fc.assert(
      fc.property(
        seeds,
        sizes,
        fc.nat(8),
        fc.constantFrom(1, 3, 60),
        limits,
        fc.constantFrom(32, 256, undefined),
        (seed, size, lists, lengths, limit, windowDocs) => {
          const corpus = corpusOf(seed, size, lists, lengths)
          const expected = all(corpus, limit, undefined)
          expect(pruned(corpus, limit, undefined, windowDocs)).toEqual(expected)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('counts exactly what stays below a floor, also one that is met exactly', () => {
    fc.assert(
      fc.property(seeds, sizes, fc.nat(6), limits, fc.nat(100), (seed, size, lists, limit, at) => {
        const corpus = corpusOf(seed, size, lists, 3)
        const { hits } = all(corpus, size, undefined)
        const floor = hits[Math.floor((hits.length * at) / 101)]?.score ?? 1
        for (const minScore of [floor, floor * 1.0001, 0, 1e9]) {
          expect(pruned(corpus, limit, minScore, 64)).toEqual(all(corpus, limit, minScore))
        }
      }),
      { numRuns: 60 },
    )
  })

  it('stays exact when documents are added and block maxima are those of an earlier mean', () => {
    fc.assert(
      fc.property(seeds, fc.double({ min: 0.85, max: 1.2, noNaN: true }), (seed, drift) => {
        const { docs, terms } = corpusOf(seed, 3000, 5, 60)
        pruned({ docs, terms }, 10, undefined) // finds the block maxima
        const moved = { ...docs, norm: lengthNormOf(docs.norm.meanLength * drift) }
        const corpus = { docs: moved, terms }
        expect(pruned(corpus, 10, undefined, 64)).toEqual(all(corpus, 10, undefined))
      }),
      { numRuns: 60 },
    )
  })

  it('scores few documents where a rare word decides', () => {
    const size = 200_000
    const layout = layoutOf(size)
    const listOf = (every: number, tf: number) => {
      const docs = Uint32Array.from({ length: size / every }, (_, i) => i * every)
      const tfs = new Uint16Array(docs.length).fill(tf)
      const postings = { docs, tfs, length: docs.length }
      return new TermList('t', postings, docs.length, 1, layout, () => undefined)
    }
    const terms = [listOf(1000, 3), listOf(2, 1)].map((list) => ({
      list,
      weight: termWeight(size, list.df, 1),
    }))
    const lengths = new Uint16Array(size).fill(10)
    const docs = { size, lengths, norm: lengthNormOf(10) }
    let offered = 0
    const top = new (class extends TopHits {
      override offer(doc: number, score: number): void {
        offered += 1
        super.offer(doc, score)
      }
    })(5)
    finish(scorePruned(terms, docs, 5, undefined, top, windows))
    expect(top.sorted()).toEqual(all({ docs, terms }, 5, undefined).hits)
    expect(offered).toBeLessThanOrEqual(200)
  })
})
