import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sortInSlices } from './sort-in-slices.js'

describe('sortInSlices', () => {
  it('sorts like a plain sort and keeps the order of equal things', async () => {
    const numbers = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 6000, size: 'max' })
    await fc.assert(
      fc.asyncProperty(numbers, async (keys) => {
        const items = keys.map((key, place) => ({ key, place }))
        const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key
        expect(await sortInSlices(items, byKey, () => undefined)).toEqual([...items].sort(byKey))
      }),
      { numRuns: 40 },
    )
  })
})
