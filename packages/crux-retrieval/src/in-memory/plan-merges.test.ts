import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PlannedPart, planMerges } from './plan-merges.js'

/** Sizes of the segments after the plan was carried out, and units that were indexed for it. */
function carryOut(parts: readonly PlannedPart[]): { sizes: number[]; indexed: number } {
  const sizes: number[] = []
  let indexed = 0
  let at = 0
  for (const { from, to } of planMerges(parts)) {
    sizes.push(...parts.slice(at, from).map(({ units }) => units))
    const units = parts.slice(from, to).reduce((sum, part) => sum + part.units, 0)
    sizes.push(units)
    indexed += units
    at = to
  }
  sizes.push(...parts.slice(at).map(({ units }) => units))
  return { sizes, indexed }
}

const stays = (units: number) => ({ units, isDue: false })

/** Add batches one after the other. */
function addAll(batches: readonly number[]): { most: number; indexed: number; sizes: number[] } {
  let sizes: number[] = []
  let indexed = 0
  let most = 0
  for (const units of batches) {
    const done = carryOut([...sizes.map(stays), { units, isDue: true }])
    sizes = done.sizes
    indexed += done.indexed
    most = Math.max(most, sizes.length)
  }
  return { most, indexed, sizes }
}

describe('planMerges', () => {
  it('leaves what is not due alone', () => {
    expect(planMerges([])).toEqual([])
    expect(planMerges([stays(10_000), stays(100)])).toEqual([])
    expect(planMerges([stays(10_000), { units: 10_000, isDue: true }])).toEqual([
      { from: 1, to: 2 },
    ])
    expect(planMerges([{ units: 0, isDue: true }, stays(0)])).toEqual([{ from: 0, to: 1 }])
  })

  it('merges the fourth of a level with the three before', () => {
    const three = [stays(100), stays(100), stays(100)]
    expect(planMerges([...three, { units: 100, isDue: true }])).toEqual([{ from: 0, to: 4 }])
  })

  it('takes smaller ones along when a larger batch comes', () => {
    const batch = { units: 5000, isDue: true }
    expect(planMerges([stays(1_000_000), stays(100), stays(70), batch])).toEqual([
      { from: 1, to: 4 },
    ])
  })

  it('does not merge what is full', () => {
    const full = 40_000_000
    expect(addAll(Array.from({ length: 20 }, () => full)).sizes).toHaveLength(20)
  })

  it('keeps few segments, and indexes each text few times, when texts come one by one', () => {
    const texts = 20_000
    const { most, indexed } = addAll(Array.from({ length: texts }, () => 100))
    expect(most).toBeLessThanOrEqual(3 * 9)
    expect(indexed / (texts * 100)).toBeLessThan(9)
  })

  it('keeps every unit, few segments, and none before a larger one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 2_000_000 }), { maxLength: 60 }),
        (batches) => {
          const { sizes, most } = addAll(batches)
          const total = batches.reduce((sum, units) => sum + units, 0)
          expect(sizes.reduce((sum, units) => sum + units, 0)).toBe(total)
          expect(most).toBeLessThanOrEqual(3 * 14)
          const small = sizes.filter((units) => units < 16 * 1024 * 1024)
          for (const [i, units] of small.entries()) {
            if (i > 0) expect(units).toBeLessThan((small[i - 1] ?? 0) * 4)
          }
        },
      ),
    )
  })
})
