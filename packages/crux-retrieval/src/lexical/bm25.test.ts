import { describe, expect, it } from 'vitest'
import { BM25_B, BM25_K1, bm25Idf, bm25LengthNorm, bm25TermFrequency } from './bm25.js'

const tfNorm = (tf: number, length: number, mean: number): number =>
  bm25TermFrequency(tf, bm25LengthNorm(length, mean))

describe('BM25', () => {
  it('uses k1 1.2 and b 0.75 (RET-11.4-bm25-constants)', () => {
    expect(BM25_K1).toBe(1.2)
    expect(BM25_B).toBe(0.75)
    expect(tfNorm(2, 50, 50)).toBeCloseTo(1.375, 10)
    expect(tfNorm(2, 100, 50)).toBeCloseTo(1.07317, 5)
  })

  it('weighs rare terms more and common ones still above zero (RET-11.4-bm25-idf)', () => {
    expect(bm25Idf(3, 1)).toBeCloseTo(0.980829, 6)
    expect(bm25Idf(3, 3)).toBeCloseTo(Math.log(8 / 7), 12)
    for (const n of [1, 10, 1e6]) expect(bm25Idf(n, n)).toBeGreaterThan(0)
    expect(bm25Idf(3, 0)).toBeCloseTo(Math.log(8), 12)
  })

  it('saturates with frequency and falls with length (RET-11.4-bm25-tfnorm)', () => {
    // Worked out by hand: tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean)).
    expect(tfNorm(1, 50, 50)).toBeCloseTo(2.2 / 2.2, 12)
    expect(tfNorm(1, 25, 50)).toBeCloseTo(2.2 / 1.75, 12)
    expect(tfNorm(1, 200, 50)).toBeCloseTo(2.2 / 4.9, 12)
    expect(tfNorm(3, 50, 50)).toBeCloseTo(6.6 / 4.2, 12)
    expect(tfNorm(3, 0, 50)).toBeCloseTo(6.6 / 3.3, 12)
    expect(tfNorm(1000, 50, 50)).toBeLessThan(2.2)
  })
})
