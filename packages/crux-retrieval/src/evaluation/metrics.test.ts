import { describe, expect, it } from 'vitest'
import { ndcgAt, percentile, recallAt } from './metrics.js'

const relevance = new Map([
  ['a', 3],
  ['b', 1],
  ['c', 0],
])

describe('ndcgAt', () => {
  it('is 1 for the best order and falls with distance', () => {
    expect(ndcgAt(10, ['a', 'b', 'x'], relevance)).toBe(1)
    // Gains 7 and 1; best order 7 + 1/log2(3).
    const best = 7 + 1 / Math.log2(3)
    expect(ndcgAt(10, ['b', 'a'], relevance)).toBeCloseTo((1 + 7 / Math.log2(3)) / best, 12)
    expect(ndcgAt(1, ['x', 'a'], relevance)).toBe(0)
  })

  it('is undefined when nothing is relevant', () => {
    expect(ndcgAt(10, ['a'], new Map([['a', 0]]))).toBeUndefined()
  })
})

describe('recallAt', () => {
  it('is the share of relevant documents found', () => {
    expect(recallAt(10, ['b', 'c', 'x'], relevance)).toBe(0.5)
    expect(recallAt(1, ['x', 'a'], relevance)).toBe(0)
    expect(recallAt(10, [], new Map())).toBeUndefined()
  })
})

describe('percentile', () => {
  it('takes the nearest rank', () => {
    expect(percentile([4, 1, 3, 2], 0.5)).toBe(2)
    expect(percentile([4, 1, 3, 2], 0.95)).toBe(4)
    expect(percentile([7], 0)).toBe(7)
    expect(() => percentile([], 0.5)).toThrow(RangeError)
  })
})
