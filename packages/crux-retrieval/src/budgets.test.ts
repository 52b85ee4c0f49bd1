import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  emitWithinBudget,
  fullWithinBudget,
  greedyWithinBudget,
  POINTER_TOKENS,
  pointersWithinBudget,
} from './budgets.js'

const thirtyOf300 = Array.from({ length: 30 }, () => 300)
const costs = fc.array(fc.nat(400), { maxLength: 60 })
const budget = fc.nat(5000)

describe('pointersWithinBudget', () => {
  it('charges 40 tokens a pointer (RET-11.9-shape-b-price)', () => {
    expect(POINTER_TOKENS).toBe(40)
  })

  it('gives the whole pointers that fit and at least one (RET-11.9-shape-b-formula)', () => {
    const budgets = [0, 39, 40, 79, 80, 500, 2000, 4000]
    expect(budgets.map(pointersWithinBudget)).toEqual([1, 1, 1, 1, 2, 12, 50, 100])
  })
})

describe('fullWithinBudget', () => {
  it('counts the rows whose tokens fit, at least one (RET-11.9-shape-c-fullcount)', () => {
    expect(fullWithinBudget(thirtyOf300, 1000)).toBe(3)
    expect(fullWithinBudget([500, 80, 80], 100)).toBe(1)
    expect(fullWithinBudget([], 100)).toBe(0)
  })

  it('ends when the budget is used up exactly', () => {
    expect(fullWithinBudget([60, 40, 0, 0], 100)).toBe(2)
  })
})

describe('emitWithinBudget', () => {
  it('spends what remains on pointers (RET-11.9-shape-c-epitomes)', () => {
    expect(emitWithinBudget(thirtyOf300, 1000)).toEqual({ full: 3, emit: 5 })
    expect(emitWithinBudget([10, 10, 10], 1000)).toEqual({ full: 3, emit: 3 })
    expect(emitWithinBudget([500, 80, 80], 100)).toEqual({ full: 1, emit: 1 })
    expect(emitWithinBudget([], 1000)).toEqual({ full: 0, emit: 0 })
  })

  it('never charges more than the budget beyond the first row', () => {
    fc.assert(
      fc.property(costs, budget, (rows, most) => {
        const { full, emit } = emitWithinBudget(rows, most)
        const used = rows.slice(0, full).reduce((sum, cost) => sum + cost, 0)
        expect(full).toBeLessThanOrEqual(emit)
        expect(emit).toBeLessThanOrEqual(rows.length)
        expect(full).toBeGreaterThanOrEqual(Math.min(rows.length, 1))
        if (full > 1 || used <= most) {
          expect(used + (emit - full) * POINTER_TOKENS).toBeLessThanOrEqual(most)
        }
      }),
    )
  })
})

describe('greedyWithinBudget', () => {
  it('stops before the first row that would exceed and gives at least one', () => {
    expect(greedyWithinBudget([30, 30, 30], 70)).toBe(2)
    expect(greedyWithinBudget([30, 30, 30], 1)).toBe(1)
    expect(greedyWithinBudget([100, 100, 100], 250)).toBe(2)
    expect(greedyWithinBudget([], 250)).toBe(0)
  })

  it('takes the longest prefix that fits', () => {
    fc.assert(
      fc.property(costs, budget, (rows, most) => {
        let longest = Math.min(rows.length, 1)
        let sum = 0
        for (const [i, cost] of rows.entries()) {
          sum += cost
          if (sum > most) break
          longest = i + 1
        }
        expect(greedyWithinBudget(rows, most)).toBe(Math.max(longest, Math.min(rows.length, 1)))
      }),
    )
  })
})
