import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rerankDense } from './rerank-dense.js'

const cosines =
  (...values: (number | undefined)[]) =>
  (hit: { readonly at: number }) =>
    values[hit.at]

describe('rerankDense', () => {
  it('weighs wording 0.7 and vector 0.3 (RET-11.5-rerank-formula)', () => {
    const hits = [
      { at: 0, score: 8 },
      { at: 1, score: 4 },
    ]
    const [first, second] = rerankDense(hits, { score: cosines(0, 1) })
    expect(first).toMatchObject({ at: 0, breakdown: { bm25: 8, dense: 0 } })
    expect(first?.score).toBeCloseTo(0.7, 12)
    expect(second).toMatchObject({ at: 1, breakdown: { bm25: 4, dense: 1 } })
    expect(second?.score).toBeCloseTo(0.65, 12)
  })

  it('moves a hit up when its vector is nearer', () => {
    const hits = [
      { at: 0, score: 10 },
      { at: 1, score: 9 },
      { at: 2, score: 5 },
    ]
    const ranked = rerankDense(hits, { score: cosines(0.1, 0.5, 0.2) })
    expect(ranked.map(({ at }) => at)).toEqual([1, 0, 2])
    expect(ranked[0]?.score).toBeCloseTo(0.7 * 0.9 + 0.3 * 0.5, 12)
    expect(hits.map(({ score }) => score)).toEqual([10, 9, 5])
  })

  it('counts a hit without a vector as cosine 0', () => {
    const [hit] = rerankDense([{ at: 0, score: 3 }], { score: cosines(undefined) })
    expect(hit?.breakdown).toEqual({ bm25: 3, dense: 0 })
    expect(hit?.score).toBeCloseTo(0.7, 12)
  })

  it('divides by no less than 1e-9', () => {
    const [hit] = rerankDense([{ at: 0, score: 0 }], { score: cosines(0.5) })
    expect(hit?.score).toBeCloseTo(0.15, 12)
    const [tiny] = rerankDense([{ at: 0, score: 5e-10 }], { score: cosines(0) })
    expect(tiny?.score).toBeCloseTo(0.35, 12)
    expect(rerankDense([], { score: () => 1 })).toEqual([])
  })

  it('neither adds nor loses hits, and keeps equal ones in order', () => {
    const hit = fc.record({ score: fc.nat(3), cosine: fc.option(fc.constantFrom(0, 0.5, 1)) })
    fc.assert(
      fc.property(fc.array(hit, { maxLength: 20 }), (given) => {
        const hits = given.map((one, at) => ({ ...one, at }))
        const ranked = rerankDense(hits, { score: ({ cosine }) => cosine ?? undefined })
        const best = Math.max(1e-9, ...hits.map(({ score }) => score))
        const expected = hits
          .map((one) => ({ at: one.at, fused: 0.7 * (one.score / best) + 0.3 * (one.cosine ?? 0) }))
          .sort((a, b) => b.fused - a.fused || a.at - b.at)
        expect(ranked.map(({ at, score }) => ({ at, fused: score }))).toEqual(expected)
      }),
    )
  })
})
