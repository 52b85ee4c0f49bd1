import { loadHashes, openCcxf, openTrustedCcxi, tenantHash } from 'crux-segment'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIndexBuilder } from '../lexical/index-builder.js'
import { createLexicalIndex } from '../lexical/lexical-index.js'
import { createFusedSearch, type FusedSearch } from './fused-search.js'
import type { DenseLane, DocGraph, FusedHit, FusedQuery } from './fused-types.js'
import { SegmentWords } from './segment-words.js'
import { TUNED_FUSION } from './tuned-fusion.js'
import { DEFAULT_FUSION_WEIGHTS, type FusionWeights } from './weights.js'

const hashes = await loadHashes()
const TENANT = 'ours'

interface Text {
  readonly text: string
  readonly tenant?: string
}

interface Corpus {
  readonly search: FusedSearch
  readonly index: ReturnType<typeof createLexicalIndex>
  find(query: string, options?: Partial<FusedQuery>): Promise<readonly FusedHit[]>
}

/** One segment a list of texts, keyed `s0`, `s1`, ...; document numbers are places in the list. */
async function corpusOf(
  segments: readonly (readonly (string | Text)[])[],
  options: { graph?: DocGraph; withoutWords?: boolean } = {},
): Promise<Corpus> {
  const index = createLexicalIndex(hashes)
  const words = new Map<string, SegmentWords>()
  for (const [i, texts] of segments.entries()) {
    const builder = createIndexBuilder(hashes, { words: true })
    for (const [docId, one] of texts.entries()) {
      const { text, tenant = TENANT } = typeof one === 'string' ? { text: one } : one
      builder.add(docId, text, tenantHash(tenant, hashes), docId + 1)
    }
    const files = builder.finishWithWords({ shardId: 0, segmentSeq: i + 1, epoch: 1 })
    if (files === undefined) continue
    const reader = openTrustedCcxi(files.ccxi)
    index.addSegment(`s${i}`, reader)
    words.set(`s${i}`, new SegmentWords(await openCcxf(files.ccxf, hashes), reader, hashes))
  }
  const search = createFusedSearch({
    index,
    hashes,
    ...(options.withoutWords === true
      ? {}
      : { words: { of: (key) => words.get(key), all: () => words.values() } }),
    ...(options.graph === undefined ? {} : { graph: options.graph }),
  })
  const find = async (query: string, more: Partial<FusedQuery> = {}) =>
    (await search.search({ query, tenant: TENANT, limit: 10, ...more })).hits
  return { search, index, find }
}

/** A graph in which each document stands beside the one before and the one after. */
function chain(docs: number, nodes = docs): DocGraph {
  return {
    nodes: () => nodes,
    walk: ({ segment, docId }, _tenant, hops, visit) => {
      for (let hop = 1; hop <= hops; hop++) {
        if (docId - hop >= 0) visit(segment, docId - hop, hop, 1)
        if (docId + hop < docs) visit(segment, docId + hop, hop, 1)
      }
    },
  }
}

function denseOf(scores: Readonly<Record<number, number>>): DenseLane {
  const nearest = Object.entries(scores)
    .map(([docId, score]) => ({ segment: 's0', docId: Number(docId), score }))
    .sort((a, b) => b.score - a.score)
  return {
    nearest: async (limit) => nearest.slice(0, limit),
    score: (_segment, docId) => scores[docId],
  }
}

const only = (lane: keyof FusionWeights, weight = 1): FusionWeights => ({
  bm25: 0,
  graph: 0,
  dense: 0,
  sparse: 0,
  [lane]: weight,
})

const ids = (hits: readonly FusedHit[]): number[] => hits.map(({ docId }) => docId)

describe('createFusedSearch', () => {
  it('finds what BM25 finds when it is the only lane', async () => {
    const { find, index } = await corpusOf([
      ['the moon pulls the sea', 'a sea of words', 'moon and moon and sea', 'nothing here'],
    ])
    const settings = { feedbackWeight: 0, coverage: 0 }
    const hits = await find('moon sea', { weights: only('bm25'), settings })
    const plain = index.searchNow({ query: 'moon sea', tenant: TENANT, limit: 10 }).hits
    expect(ids(hits)).toEqual(plain.map(({ docId }) => docId))
    const best = plain[0]?.score ?? 0
    for (const [i, { score }] of hits.entries()) {
      expect(score).toBeCloseTo((plain[i]?.score ?? 0) / best, 10)
    }
  })

  it('gives the sum of the lanes by weight, each within 0..1', async () => {
    const word = fc.constantFrom(
      'tide',
      'tides',
      'moon',
      'sea',
      'of',
      'the',
      'wave',
      'waves',
      'salt',
    )
    const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '))
    const weight = fc.constantFrom(0, 0.1, 0.5, 1)
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 12 }),
        text,
        fc.record({ bm25: weight, graph: weight, dense: weight, sparse: weight }),
        async (texts, query, weights) => {
          const { search } = await corpusOf([texts], { graph: chain(texts.length, 100) })
          const dense = denseOf({ 0: 0.9, 1: 0.2 })
          const answer = await search.search({ query, tenant: TENANT, limit: 20, weights, dense })
          for (const { score, breakdown } of answer.hits) {
            const { bm25, graph, dense: vector, sparse } = breakdown
            for (const lane of [bm25, graph, vector, sparse]) {
              expect(lane).toBeGreaterThanOrEqual(-1e-9)
              expect(lane).toBeLessThanOrEqual(1 + 1e-9)
            }
            const sum =
              answer.weights.bm25 * bm25 +
              answer.weights.graph * graph +
              answer.weights.dense * vector +
              answer.weights.sparse * sparse
            expect(score).toBeCloseTo(sum, 8)
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('gives the weight of a graph of 99 nodes to BM25, and keeps it from 100 on (RET-11.6-fused-coldstart)', async () => {
    const weights = DEFAULT_FUSION_WEIGHTS
    const cold = await corpusOf([['moon', 'sea']], { graph: chain(2, 99) })
    const warm = await corpusOf([['moon', 'sea']], { graph: chain(2, 100) })
    const query = { query: 'moon', tenant: TENANT, limit: 5, weights }
    expect((await cold.search.search(query)).weights).toMatchObject({ bm25: 0.8, graph: 0 })
    expect((await warm.search.search(query)).weights).toMatchObject({ bm25: 0.5, graph: 0.3 })
    expect((await cold.search.search(query)).degraded).toContainEqual(expect.stringContaining('99'))
  })

  it('counts vectors when they are given, and finds documents by them alone (RET-11.6-fused-hook)', async () => {
    const { search } = await corpusOf([['moon', 'moon', 'sea']])
    const query = { query: 'moon', tenant: TENANT, limit: 5, weights: DEFAULT_FUSION_WEIGHTS }
    const without = await search.search(query)
    const withVectors = await search.search({ ...query, dense: denseOf({ 1: 0.8, 2: 0.9 }) })
    expect(without.hits.map(({ breakdown }) => breakdown.dense)).toEqual([0, 0])
    expect(without.stats.denseLaneActive).toBe(false)
    expect(without.degraded).toContainEqual(expect.stringContaining('no vectors'))
    expect(ids(withVectors.hits)).toEqual([1, 0, 2])
    expect(withVectors.hits.map(({ breakdown }) => breakdown.dense)).toEqual([0.8, 0, 0.9])
    expect(withVectors.stats.denseLaneActive).toBe(true)
  })

  it('lets neighbouring words count as much as the sparse lane weighs (RET-11.6-fused-sparse)', async () => {
    const texts = ['the lift of a wing beside drag', 'drag and wing and lift', 'other words']
    const { find } = await corpusOf([texts])
    const plain = await find('wing lift drag', { weights: { ...only('bm25'), sparse: 0 } })
    const paired = await find('lift wing', { weights: { ...only('bm25'), sparse: 1 } })
    expect(plain.every(({ breakdown }) => breakdown.sparse === 0)).toBe(true)
    expect(paired[0]?.docId).toBe(0) // `lift of a wing`: stop words do not part a pair
    expect(paired[0]?.breakdown.sparse).toBeGreaterThan(0)
  })

  it('finds words with a slip of the pen by their characters', async () => {
    const { find } = await corpusOf([['parliament sits today', 'the weather today']])
    const weights = { ...only('bm25'), sparse: 0.3 }
    expect(ids(await find('parliment', { weights }))).toEqual([0])
    expect(await find('parliment', { weights: only('bm25') })).toEqual([])
  })

  it('lets a document speak for its neighbours, and brings in those that hold no word', async () => {
    const texts = [
      'where did she go',
      'to the harbour of Lisbon',
      'and then',
      'home again',
      'sleep',
    ]
    const { find } = await corpusOf([texts], { graph: chain(texts.length, 100) })
    const weights = { bm25: 0.6, graph: 0.4, dense: 0, sparse: 0 }
    const hits = await find('Lisbon harbour', { weights, settings: { hops: 2, feedbackWeight: 0 } })
    expect(ids(hits).slice(0, 3)).toEqual([1, 0, 2])
    expect(hits.map(({ hopDistance }) => hopDistance)).toEqual([0, 1, 1, 2])
  })

  it('neither finds nor expands to documents of others or hidden ones', async () => {
    const texts = ['moon', { text: 'moon secret', tenant: 'theirs' }, 'moon old', 'sea']
    const careless: DocGraph = { nodes: () => 100, walk: chain(4).walk }
    const { find, index } = await corpusOf([texts], { graph: careless })
    index.hide('s0', [2])
    const dense = denseOf({ 0: 0.5, 1: 1, 2: 1, 3: 0.5 })
    const hits = await find('moon secret old', { dense })
    expect(ids(hits).sort()).toEqual([0, 3])
  })

  it('lets the best documents bring in words that set them apart', async () => {
    const about = ['heron wading marsh', 'heron wading reeds', 'marsh wading birds at dawn']
    const rest = Array.from({ length: 30 }, (_, i) => `other text number ${i} about trains`)
    const { find } = await corpusOf([[...about, ...rest]])
    const weights = only('bm25')
    expect(ids(await find('heron', { weights, settings: { feedbackWeight: 0 } }))).toEqual([0, 1])
    expect(ids(await find('heron', { weights, settings: { feedbackWeight: 0.5 } }))).toContain(2)
  })

  it('works over several segments, and with BM25 only where words are not at hand', async () => {
    const one = ['heron wading marsh', 'trains']
    const other = ['heron wading reeds', 'wading birds', 'trains']
    const split = await corpusOf([one, other])
    const joined = await corpusOf([[...one, ...other]])
    const scores = (hits: readonly FusedHit[]) => hits.map(({ score }) => score.toFixed(9))
    expect(scores(await split.find('heron wading'))).toEqual(
      scores(await joined.find('heron wading')),
    )
    const bare = await corpusOf([one], { withoutWords: true })
    const answer = await bare.search.search({ query: 'heron', tenant: TENANT, limit: 3 })
    expect(ids(answer.hits)).toEqual([0])
    expect(answer.degraded).toContainEqual(expect.stringContaining('sparse lane'))
  })

  it('counts what the floor leaves out, and gives no hits for stop words alone or nothing', async () => {
    const { search } = await corpusOf([['moon moon', 'moon and sea', 'sea']])
    const base = { tenant: TENANT, limit: 10, weights: only('bm25') }
    const all = await search.search({ ...base, query: 'moon sea' })
    const floor = all.hits[0]?.score ?? 0
    const floored = await search.search({ ...base, query: 'moon sea', minScore: floor })
    expect(floored.hits.length + floored.coverage.belowFloor).toBe(all.hits.length)
    expect(await search.search({ ...base, query: 'of the' })).toMatchObject({
      hits: [],
      onlyStopWords: true,
    })
    expect((await search.search({ ...base, query: '' })).hits).toEqual([])
  })

  it('stops when told to', async () => {
    const { search } = await corpusOf([['moon']])
    const signal = AbortSignal.abort(new Error('enough'))
    const query = { query: 'moon', tenant: TENANT, limit: 1 }
    await expect(search.search(query, { signal })).rejects.toThrow('enough')
  })

  it('ships weights of its own, beside those of a call that names none (RET-11.6-fused-weights)', () => {
    expect(DEFAULT_FUSION_WEIGHTS).toEqual({ bm25: 0.5, graph: 0.3, dense: 0.2, sparse: 0 })
    expect(TUNED_FUSION.weights.sparse).toBeGreaterThan(0)
  })
})
