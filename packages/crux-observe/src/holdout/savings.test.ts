import { dispatchTokens } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pairedSavings, unpairedSavings } from './savings.js'

describe('pairedSavings', () => {
  it('is the mean share saved, over pairs that cost something (RET-11.12-paired-formula)', () => {
    expect(
      pairedSavings([
        [100, 75],
        [200, 150],
        [0, 0],
      ]),
    ).toEqual({ reduction: 0.25, low: 0.25, high: 0.25, n: 2 })
    // Shares 0.5 and 0.1: mean 0.3, sample deviation 0.2828, standard error 0.2.
    const spread = pairedSavings([
      [10, 5],
      [10, 9],
    ])
    expect(spread.reduction).toBeCloseTo(0.3, 12)
    expect(spread.low).toBeCloseTo(0.3 - 1.96 * 0.2, 12)
    expect(spread.high).toBeCloseTo(0.3 + 1.96 * 0.2, 12)
  })

  it('has no width with one pair, and is nothing without any (RET-11.12-collapse-ci, RET-11.12-zero-empty)', () => {
    expect(pairedSavings([[8, 6]])).toEqual({ reduction: 0.25, low: 0.25, high: 0.25, n: 1 })
    expect(pairedSavings([])).toEqual({ reduction: 0, low: 0, high: 0, n: 0 })
    expect(pairedSavings([[0, 5]])).toEqual({ reduction: 0, low: 0, high: 0, n: 0 })
  })

  it('is never negative between indented and compact JSON (RET-11.12-compaction-nonneg)', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1, maxLength: 20 }), (values) => {
        const pairs = values.map((value): readonly [number, number] => [
          dispatchTokens(JSON.stringify(value, null, 2)),
          dispatchTokens(JSON.stringify(value)),
        ])
        expect(pairedSavings(pairs).reduction).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

describe('unpairedSavings', () => {
  it('compares means, with the error of a ratio (RET-11.12-net-formula)', () => {
    const { reduction, low, high } = unpairedSavings([100, 200], [90, 150])
    expect(reduction).toBeCloseTo(0.2, 12)
    expect(low).toBeCloseTo(-0.4533, 4)
    expect(high).toBeCloseTo(0.8533, 4)
  })

  it('may be negative (RET-11.12-net-unpaired)', () => {
    expect(unpairedSavings([100], [120]).reduction).toBeCloseTo(-0.2, 12)
  })

  it('is nothing for an empty arm or a control that costs nothing (RET-11.12-zero-empty, RET-11.12-zero-mean)', () => {
    const nothing = { reduction: 0, low: 0, high: 0 }
    expect(unpairedSavings([100, 200], [])).toEqual(nothing)
    expect(unpairedSavings([], [100, 200])).toEqual(nothing)
    expect(unpairedSavings([0, 0], [1, 2])).toEqual(nothing)
  })

  it('has no width with less than two samples in an arm (RET-11.12-collapse-ci)', () => {
    for (const [control, treatment] of [
      [[100], [75]],
      [[100], [60, 90]],
      [[90, 110], [75]],
    ] as const) {
      const { reduction, low, high } = unpairedSavings(control, treatment)
      expect(reduction).toBeCloseTo(0.25, 12)
      expect([low, high]).toEqual([reduction, reduction])
    }
  })

  it('gives finite numbers, with the reduction in the middle of its interval', () => {
    const arm = fc.array(fc.nat(1_000_000), { maxLength: 30 })
    fc.assert(
      fc.property(arm, arm, (control, treatment) => {
        const { reduction, low, high } = unpairedSavings(control, treatment)
        for (const value of [reduction, low, high]) expect(Number.isFinite(value)).toBe(true)
        expect(low).toBeLessThanOrEqual(reduction)
        expect(high).toBeGreaterThanOrEqual(reduction)
        expect(reduction).toBeLessThanOrEqual(1)
      }),
    )
  })
})
