import { encodeCcxv, openCcxv } from 'crux-segment'
import { CruxError, createPauser } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cosine } from '../embedding/embedder.js'
import { createVectorIndex } from './vector-index.js'
import type { AllowedDocs, VectorIndex, VectorRows } from './vector-types.js'

const everyone = (): AllowedDocs => true

/** Vectors of documents 0, 1, 2 ... unless their numbers are given. */
function rowsOf(
  vectors: readonly (readonly number[])[],
  options: { docIds?: readonly number[]; space?: string; dim?: number } = {},
): VectorRows {
  const { docIds = vectors.map((_, i) => i), space, dim = vectors[0]?.length ?? 1 } = options
  return {
    dim,
    docIds: Uint32Array.from(docIds),
    vectors: Float32Array.from(vectors.flat()),
    space,
  }
}

const ROUNDING = 1e-9
const vector = (...numbers: number[]) => Float32Array.from(numbers)

/** Small whole numbers: many ties, zero vectors and opposite directions. */
const numbers = (dim: number) =>
  fc.array(fc.integer({ min: -2, max: 2 }), { minLength: dim, maxLength: dim })
const SPACES = [undefined, 'x', 'y'] as const
const segment = fc.record({
  vectors: fc.array(numbers(5), { maxLength: 12 }),
  gap: fc.integer({ min: 1, max: 9 }),
  space: fc.constantFrom(...SPACES),
  hidden: fc.array(fc.nat(40), { maxLength: 5 }),
  owners: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
})
const corpus = fc.array(segment, { maxLength: 5 })
const query = fc.record({
  vector: numbers(5),
  space: fc.constantFrom(...SPACES),
  limit: fc.nat(20),
})

interface Given {
  readonly vectors: readonly (readonly number[])[]
  readonly gap: number
  readonly space: string | undefined
  readonly hidden: readonly number[]
  readonly owners: readonly boolean[]
}

function indexOf(given: readonly Given[], approximateAbove: number): VectorIndex {
  const index = createVectorIndex({ approximateAbove })
  for (const [i, { vectors, gap, space, hidden }] of given.entries()) {
    const docIds = vectors.map((_, row) => row * gap)
    const rows = rowsOf(vectors, { docIds, dim: 5 })
    index.addSegment(`s${i}`, space === undefined ? rows : { ...rows, space })
    index.hide(`s${i}`, hidden)
  }
  return index
}

/** The owner's documents as a predicate or as bits, which must say the same. */
function allowOf(given: readonly Given[], asBits: boolean): (key: string) => AllowedDocs {
  return (key) => {
    const { owners, gap, vectors } = given[Number(key.slice(1))] as Given
    const isOwn = (docId: number): boolean => owners[docId / gap] === true
    if (!asBits) return isOwn
    const bits = new Uint8Array(Math.ceil((vectors.length * gap) / 8))
    for (const [row] of vectors.entries()) {
      const docId = row * gap
      if (isOwn(docId)) bits[docId >>> 3] = (bits[docId >>> 3] ?? 0) | (1 << (docId & 7))
    }
    return bits
  }
}

/** Every allowed document that has something in common with the query, by a plain sort. */
function naive(given: readonly Given[], wanted: Float32Array, space: string | undefined) {
  return given
    .flatMap(({ vectors, gap, space: own, hidden, owners }, i) =>
      vectors.map((one, row) => ({
        segment: `s${i}`,
        docId: row * gap,
        score: Math.max(0, cosine(Float32Array.from(one), wanted)),
        isSeen:
          (own === undefined || own === space) &&
          !hidden.includes(row * gap) &&
          owners[row] === true,
      })),
    )
    .filter(({ isSeen, score }) => isSeen && score > ROUNDING)
    .map(({ segment: key, docId, score }) => ({ segment: key, docId, score }))
}

/** Same documents with the same scores, best first, equal ones in the order of documents. */
function expectRanking(
  hits: readonly { segment: string; docId: number; score: number }[],
  all: readonly { segment: string; docId: number; score: number }[],
  limit: number,
): void {
  const name = (hit: { segment: string; docId: number }): string => `${hit.segment}/${hit.docId}`
  const scores = new Map(all.map((hit) => [name(hit), hit.score]))
  expect(hits).toHaveLength(Math.min(limit, all.length))
  const best = [...scores.values()].sort((a, b) => b - a)
  for (const [i, hit] of hits.entries()) {
    expect(scores.get(name(hit))).toBeCloseTo(hit.score, 9)
    expect(Math.abs(hit.score - (best[i] as number))).toBeLessThan(ROUNDING)
    const before = hits[i - 1]
    if (before === undefined || before.score !== hit.score) continue
    const places = [before, hit].map((one) => all.findIndex((each) => name(each) === name(one)))
    expect(places[0]).toBeLessThan(places[1] as number)
  }
}

describe('createVectorIndex', () => {
  it('gives the cosine of a document’s vector, and none without one (RET-11.1-ccxv-provider)', () => {
    const index = createVectorIndex()
    const file = encodeCcxv({
      dim: 3,
      docIds: Uint32Array.of(2, 5, 9),
      vectors: vector(3, 4, 0, 0, 0, 0, -1, 0, 0),
    })
    index.addSegment('a', openCcxv(file))
    const score = index.scorer(vector(2, 0, 0))
    expect(score('a', 2)).toBeCloseTo(0.6, 12)
    expect(score('a', 5)).toBe(0)
    expect(score('a', 9)).toBe(0)
    expect(score('a', 3)).toBeUndefined()
    expect(score('b', 2)).toBeUndefined()
    expect(index.scorer(vector(1, 0))('a', 2)).toBeUndefined()
    expect(index.scorer(vector(0, 0, 0))('a', 2)).toBe(0)
    index.hide('a', [2])
    expect(score('a', 2)).toBeUndefined()
  })

  it('never scores above 1', () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
          minLength: 1,
          maxLength: 9,
        }),
        (one) => {
          const index = createVectorIndex()
          index.addSegment('a', rowsOf([one]))
          const score = index.scorer(Float32Array.from(one))('a', 0)
          const isZero = one.every((number) => Math.fround(number) === 0)
          expect(score).toBeLessThanOrEqual(1)
          expect(score).toBeGreaterThan(isZero ? -1 : 1 - ROUNDING)
        },
      ),
    )
  })

  it('finds what a plain sort finds, and nothing hidden, foreign or of another space', () => {
    fc.assert(
      fc.property(
        corpus,
        query,
        fc.boolean(),
        (given, { vector: wanted, space, limit }, asBits) => {
          const index = indexOf(given, Number.POSITIVE_INFINITY)
          const allow = allowOf(given, asBits)
          const target = Float32Array.from(wanted)
          const answer = index.searchNow(target, { limit, allow, space })
          expect(answer.method).toBe('exact')
          expectRanking(answer.hits, naive(given, target, space), limit)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('finds the same approximately when everything is a candidate', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, query, fc.boolean(), async (given, wanted, asBits) => {
        const exact = indexOf(given, Number.POSITIVE_INFINITY)
        const approximate = indexOf(given, 0)
        await approximate.prepare()
        const allow = allowOf(given, asBits)
        const { space, limit } = wanted
        const target = Float32Array.from(wanted.vector)
        const answer = approximate.searchNow(target, { limit, allow, space, candidates: 1000 })
        const reference = exact.searchNow(target, { limit, allow, space })
        expect(answer.hits).toEqual(reference.hits)
        expect(answer.compared).toBe(reference.compared)
        expect(answer.method).toBe(reference.compared > 0 ? 'approximate' : 'exact')
      }),
      { numRuns: 60 },
    )
  })

  it('finds nothing hidden or foreign approximately, however few are compared', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, query, fc.boolean(), async (given, wanted, asBits) => {
        const index = indexOf(given, 0)
        await index.prepare()
        const { space, limit } = wanted
        const target = Float32Array.from(wanted.vector)
        const allow = allowOf(given, asBits)
        const answer = await index.search(target, { limit, allow, space, candidates: 2 })
        const seen = new Set(
          naive(given, target, space).map((hit) => `${hit.segment}/${hit.docId}`),
        )
        for (const hit of answer.hits) expect(seen).toContain(`${hit.segment}/${hit.docId}`)
        expect(answer.compared).toBeLessThanOrEqual(Math.max(2, limit))
      }),
      { numRuns: 60 },
    )
  })

  it('says which vectors it could not compare, to those who may see them', () => {
    const index = createVectorIndex()
    index.addSegment('known', rowsOf([[1, 0]], { space: 'x' }))
    index.addSegment('legacy', rowsOf([[1, 1]]))
    index.addSegment('old', rowsOf([[1, 0]], { space: 'y' }))
    index.addSegment('older', rowsOf([[0, 1]], { space: 'y' }))
    index.addSegment('wide', rowsOf([[1, 0, 0]], { space: 'x' }))
    const answer = index.searchNow(vector(1, 0), { limit: 9, allow: everyone, space: 'x' })
    expect(answer.hits.map((hit) => hit.segment)).toEqual(['known', 'legacy'])
    expect(answer.skippedSegments).toBe(3)
    expect(answer.spaces).toEqual([
      { space: 'y', dim: 2, segments: 2 },
      { space: 'x', dim: 3, segments: 1 },
    ])
    const foreign = (key: string): AllowedDocs => (key === 'known' ? true : () => false)
    expect(index.searchNow(vector(1, 0), { limit: 9, allow: foreign, space: 'x' })).toMatchObject({
      skippedSegments: 0,
      spaces: [],
    })
    const unknown = index.searchNow(vector(1, 0), { limit: 9, allow: everyone })
    expect(unknown.hits.map((hit) => hit.segment)).toEqual(['legacy'])
    expect(index.scorer(vector(1, 0), { space: 'x' })('old', 0)).toBeUndefined()
    expect(index.scorer(vector(1, 0), { space: 'y' })('old', 0)).toBe(1)
  })

  it('sees segments come and go, and a search the index as it was', async () => {
    const index = createVectorIndex()
    index.addSegment(
      'a',
      rowsOf([
        [1, 0],
        [1, 1],
      ]),
    )
    await index.addSegmentInSlices('b', rowsOf([[1, 0]]), createPauser({ sliceMs: 0 }))
    expect(index.stats()).toMatchObject({ segments: 2, vectors: 3, encoded: 0 })
    const searching = index.search(vector(1, 0), { limit: 9, allow: everyone })
    expect(index.removeSegment('b')).toBe(true)
    index.hide('a', [0])
    expect((await searching).hits.map((hit) => `${hit.segment}${hit.docId}`)).toEqual([
      'a0',
      'b0',
      'a1',
    ])
    const { hits } = await index.search(vector(1, 0), { limit: 9, allow: everyone })
    expect(hits.map((hit) => `${hit.segment}${hit.docId}`)).toEqual(['a1'])
    expect(index.removeSegment('b')).toBe(false)
    expect(index.searchNow(vector(1, 0), { limit: 0, allow: everyone }).hits).toEqual([])
  })

  it('compares in full what has no codes yet, and makes them meanwhile', async () => {
    const index = createVectorIndex({ approximateAbove: 3 })
    index.addSegment(
      'a',
      rowsOf([
        [1, 0],
        [1, 1],
        [0, 1],
      ]),
    )
    await index.prepare()
    expect(index.stats().encoded).toBe(0)
    index.addSegment(
      'b',
      rowsOf([
        [1, 0.5],
        [1, 2],
      ]),
    )
    const wanted = { limit: 3, allow: everyone }
    const before = await index.search(vector(1, 0), wanted)
    expect(before.method).toBe('exact')
    await index.prepare()
    expect(index.stats().encoded).toBe(5)
    const after = await index.search(vector(1, 0), wanted)
    expect(after).toEqual({ ...before, method: 'approximate' })
    // A caller who may see few of them has them all compared.
    const own = (key: string): AllowedDocs => key === 'b'
    expect((await index.search(vector(1, 0), { limit: 3, allow: own })).method).toBe('exact')
    index.close()
    index.addSegment('c', rowsOf([[1, 0]]))
    await index.prepare()
    expect(index.stats().encoded).toBe(5)
    expect((await index.search(vector(1, 0), wanted)).hits[1]?.segment).toBe('c')
  })

  it('finds nearly all of the nearest of many', async () => {
    const count = 20_000
    const dim = 64
    let state = 7
    const random = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      return state / 0x7fffffff - 0.5
    }
    const vectors = Float32Array.from({ length: count * dim }, random)
    const docIds = Uint32Array.from({ length: count }, (_, i) => i)
    const rows = { dim, docIds, vectors }
    const exact = createVectorIndex()
    const approximate = createVectorIndex({ approximateAbove: 1000 })
    exact.addSegment('a', rows)
    approximate.addSegment('a', rows)
    await approximate.prepare()
    let found = 0
    for (let i = 0; i < 20; i++) {
      const target = Float32Array.from({ length: dim }, random)
      const wanted = { limit: 10, allow: everyone, candidates: 400 }
      const answer = approximate.searchNow(target, wanted)
      expect(answer).toMatchObject({ method: 'approximate', compared: 400 })
      const near = new Set(answer.hits.map(({ docId }) => docId))
      found += exact.searchNow(target, wanted).hits.filter(({ docId }) => near.has(docId)).length
    }
    expect(found).toBeGreaterThan(180)
  })

  it('stops when told to', async () => {
    const index = createVectorIndex()
    index.addSegment('a', rowsOf([[1, 0]]))
    const signal = AbortSignal.abort(new Error('stop'))
    const options = { limit: 1, allow: everyone, signal }
    await expect(index.search(vector(1, 0), options)).rejects.toThrow('stop')
  })

  it('refuses vectors that are none, and says what it expected', async () => {
    const index = createVectorIndex({ dims: 2 })
    const add = (rows: VectorRows) => () => index.addSegment('a', rows)
    const refused = (code: string, data: object) => expect.objectContaining({ code, data })
    expect(
      add(
        rowsOf(
          [
            [1, 2],
            [3, Number.NaN],
          ],
          { docIds: [4, 7] },
        ),
      ),
    ).toThrow(refused('DENSE_NOT_FINITE', { segment: 'a', docId: 7, at: 1, got: 'NaN' }))
    expect(add(rowsOf([[Number.NEGATIVE_INFINITY, 0]]))).toThrow(
      refused('DENSE_NOT_FINITE', { segment: 'a', docId: 0, at: 0, got: '-Infinity' }),
    )
    expect(add({ ...rowsOf([[1, 2]]), vectors: vector(1, 2, 3) })).toThrow(
      refused('DENSE_SHAPE', { segment: 'a', expected: 2, got: 3 }),
    )
    expect(add(rowsOf([[1, 2, 3]]))).toThrow(
      refused('DENSE_DIMENSION', { segment: 'a', expected: 2, got: 3 }),
    )
    expect(
      add(
        rowsOf(
          [
            [1, 2],
            [3, 4],
          ],
          { docIds: [4, 4] },
        ),
      ),
    ).toThrow(refused('INDEX_DOC_ORDER', { segment: 'a', docId: 4 }))
    expect(index.stats()).toMatchObject({ segments: 0, vectors: 0 })
    const find = (wanted: Float32Array) => index.search(wanted, { limit: 1, allow: everyone })
    await expect(find(vector(1))).rejects.toThrow(
      refused('DENSE_DIMENSION', { expected: 2, got: 1 }),
    )
    await expect(find(vector(0, Number.NaN))).rejects.toThrow(
      refused('DENSE_NOT_FINITE', { at: 1, got: 'NaN' }),
    )
    expect(() => createVectorIndex().scorer(vector())).toThrow(
      refused('DENSE_DIMENSION', { expected: 1, got: 0 }),
    )
    add(rowsOf([[1, 2]]))()
    expect(add(rowsOf([[1, 2]]))).toThrow(refused('INDEX_DUPLICATE_SEGMENT', { segment: 'a' }))
    expect(() => index.hide('b', [1])).toThrow(CruxError)
    expect(() => index.hide('b', [1])).toThrow(refused('INDEX_UNKNOWN_SEGMENT', { segment: 'b' }))
  })
})
