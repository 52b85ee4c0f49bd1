import { describe, expect, it } from 'vitest'
import { formatFigures, measureVectors } from './measure-vectors.js'
import { clusteredVectors, createRandom, hashedTexts } from './vector-sets.js'

describe('measureVectors', () => {
  it('finds all of the nearest when all are candidates, and says what it cost', async () => {
    const set = clusteredVectors(1200, 5)
    const figures = await measureVectors(set, { candidates: 1200 })
    expect(figures).toMatchObject({ vectors: 1200, dim: 384, queries: 5, recall10: 1 })
    expect(figures.codeBytes).toBe(1200 * 64)
    expect(figures.vectorBytes).toBe(1200 * (384 * 4 + 4 + 8))
    const table = formatFigures([figures])
    expect(table).toContain('| clustered Gaussian, 1200 x 384 | 1.000 | 1.0 |')
  })

  it('finds fewer when few are', async () => {
    const set = await hashedTexts(3000, 4)
    expect(set.queries).toHaveLength(4)
    const figures = await measureVectors(set, { candidates: 10 })
    expect(figures.recall10).toBeLessThan(1)
    expect(figures.recall10).toBeGreaterThan(0)
  })
})

describe('createRandom', () => {
  it('gives the same numbers for the same seed', () => {
    const [a, b, c] = [createRandom(5), createRandom(5), createRandom(6)]
    const first = Array.from({ length: 20 }, a)
    expect(Array.from({ length: 20 }, b)).toEqual(first)
    expect(Array.from({ length: 20 }, c)).not.toEqual(first)
    for (const number of first) expect(number >= 0 && number < 1).toBe(true)
  })
})
