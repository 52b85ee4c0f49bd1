import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRandomSource, createZipfVocabulary } from './retrieval-vocabulary.js'

describe('createRandomSource', () => {
  it('gives the same numbers for a seed, and others for another', () => {
    const drawn = (seed: number) => {
      const random = createRandomSource(seed)
      return Array.from({ length: 5 }, () => random.next())
    }
    expect(drawn(7)).toEqual(drawn(7))
    expect(drawn(7)).not.toEqual(drawn(8))
    expect(drawn(0)).not.toContain(0)
  })

  it('spreads evenly', () => {
    const random = createRandomSource(1)
    const counts = [0, 0, 0, 0]
    for (let i = 0; i < 40_000; i++) {
      const at = random.between(0, 3)
      counts[at] = (counts[at] ?? 0) + 1
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400)
  })
})

describe('createZipfVocabulary', () => {
  it('makes different words, the frequent ones short', () => {
    const { words } = createZipfVocabulary(120_000)
    expect(new Set(words).size).toBe(120_000)
    expect(words[0]).toMatch(/^[a-z]{4}$/)
    expect(words.at(-1)).toMatch(/^[a-z]{8}$/)
    expect(words.every((word) => /^([b-z][aou]){2,4}$/.test(word))).toBe(true)
  })

  it('finds the rank that a plain walk along the weights finds', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.nat(2 ** 32 - 1),
        fc.nat(59),
        fc.integer({ min: 1, max: 60 }),
        (size, bits, first, length) => {
          const at = bits / 2 ** 32
          const from = first % size
          const to = Math.min(from + length, size)
          const { rankAt } = createZipfVocabulary(size)
          expect(rankAt(at, from, to)).toBe(walkedRank(at, from, to))
        },
      ),
    )
  })

  it('uses the n-th word 1/n as often', () => {
    const { rankAt, usesIn } = createZipfVocabulary(1000)
    const random = createRandomSource(3)
    const drawn = new Uint32Array(1000)
    for (let i = 0; i < 100_000; i++) {
      const rank = rankAt(random.next())
      drawn[rank] = (drawn[rank] ?? 0) + 1
    }
    for (const rank of [0, 1, 9]) {
      const expected = usesIn(100_000, rank)
      expect(Math.abs((drawn[rank] ?? 0) - expected) / expected).toBeLessThan(0.1)
    }
    expect(usesIn(100, 0) / usesIn(100, 9)).toBeCloseTo(10, 12)
  })
})

function walkedRank(at: number, from: number, to: number): number {
  const sums = [0]
  for (let rank = 0; rank < to; rank++) sums.push((sums[rank] ?? 0) + 1 / (rank + 1))
  const low = sums[from] ?? 0
  const wanted = low + at * ((sums[to] ?? 0) - low)
  let rank = from
  while (rank < to - 1 && (sums[rank + 1] ?? 0) <= wanted) rank += 1
  return rank
}
