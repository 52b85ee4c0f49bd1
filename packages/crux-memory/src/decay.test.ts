import { describe, expect, it } from 'vitest'
import {
  ageHours,
  defaultHorizonClass,
  effectiveConfidence,
  freshnessAt,
  horizonStretch,
  horizonsOf,
  parseHorizon,
} from './decay.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe('defaultHorizonClass', () => {
  it.each([
    ['__ops::coverage', 'volatile'],
    ['__ops__::x', 'none'],
    ['bench:1', 'stable'],
    ['__bootstrap__::doc:x', 'stable'],
    ['execplan:a', 'medium'],
    ['incident:2026-01-15', 'medium'],
    ['__candidate_fact__::x', 'medium'],
    ['service:api', 'none'],
    ['Bench:1', 'none'],
  ])('gives %s the class %s', (entity, expected) => {
    expect(defaultHorizonClass(entity)).toBe(expected)
  })
})

describe('parseHorizon', () => {
  it.each([
    ['12 HOURS', 'volatile'],
    ['stable', 'stable'],
    ['Frozen forever', 'stable'],
    ['architecture decision', 'stable'],
    ['1 year', 'stable'],
    ['two months', 'medium'],
    ['1 week', 'medium'],
    ['2 days', 'volatile'],
    ['3 days', 'medium'],
    ['a day or so', 'medium'],
    ['within 10 days', 'medium'],
    ['', 'none'],
    ['soon', 'none'],
    ['hourly, this year', 'volatile'],
  ])('reads %j as %s', (text, expected) => {
    expect(parseHorizon(text)).toBe(expected)
  })
})

describe('freshnessAt', () => {
  const horizons = horizonsOf()
  it.each([
    ['volatile', 24 * HOUR_MS],
    ['medium', 35 * DAY_MS],
    ['stable', 365 * DAY_MS],
  ] as const)('keeps a %s fact fresh up to its horizon, the end included', (horizonClass, ms) => {
    const anchor = 1_000_000
    expect(freshnessAt(horizons, horizonClass, anchor, anchor + ms)).toBe('fresh')
    expect(freshnessAt(horizons, horizonClass, anchor, anchor + ms + 1)).toBe('stale')
  })

  it('keeps a fact without a horizon fresh, whatever its times', () => {
    expect(freshnessAt(horizons, 'none', 9e15, 0)).toBe('fresh')
  })

  it('does not know when times make no sense', () => {
    for (const [anchor, now] of [
      [0, 5],
      [-1, 5],
      [5, 0],
      [6, 5],
    ] as const) {
      expect(freshnessAt(horizons, 'volatile', anchor, now)).toBe('unknown')
    }
  })

  it('takes other horizons', () => {
    const short = horizonsOf({ volatileHours: 1, mediumDays: 2, stableDays: 3 })
    expect(freshnessAt(short, 'volatile', 1, 2 + HOUR_MS)).toBe('stale')
    expect(freshnessAt(short, 'medium', 1, 2 + 2 * DAY_MS)).toBe('stale')
    expect(freshnessAt(short, 'stable', 1, 1 + 3 * DAY_MS)).toBe('fresh')
  })
})

describe('effectiveConfidence', () => {
  it('is halved once when stale and as stored otherwise', () => {
    expect(effectiveConfidence(0.9, 'stale')).toBe(0.45)
    expect(effectiveConfidence(0.9, 'fresh')).toBe(0.9)
    expect(effectiveConfidence(0.9, 'unknown')).toBe(0.9)
  })
})

describe('ageHours', () => {
  it('counts whole hours from 0', () => {
    expect(ageHours(1000, 1000 + HOUR_MS - 1)).toBe(0)
    expect(ageHours(1000, 1000 + HOUR_MS)).toBe(1)
    expect(ageHours(5000, 1000)).toBe(0)
  })
})

describe('horizonStretch', () => {
  it('grows with the logarithm of the recalls, from 1 to 4', () => {
    expect(horizonStretch(0)).toBe(1)
    expect(horizonStretch(1)).toBeCloseTo(1.1733, 4)
    expect(horizonStretch(100)).toBeCloseTo(2.1538, 4)
    expect(horizonStretch(162_753)).toBeLessThan(4)
    expect(horizonStretch(162_755)).toBe(4)
    expect(horizonStretch(10_000_000)).toBe(4)
  })

  it('moves the end of a horizon to a whole millisecond', () => {
    const horizons = horizonsOf()
    const end = Math.trunc(24 * HOUR_MS * horizonStretch(3))
    expect(freshnessAt(horizons, 'volatile', 1, 1 + end, 3)).toBe('fresh')
    expect(freshnessAt(horizons, 'volatile', 1, 2 + end, 3)).toBe('stale')
    expect(freshnessAt(horizons, 'none', 1, 2 + end, 3)).toBe('fresh')
  })
})
