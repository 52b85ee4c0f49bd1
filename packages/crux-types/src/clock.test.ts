import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ManualClock, parseTime, toResponseTime, toStoredTime } from './clock.js'

describe('parseTime', () => {
  it('takes RFC 3339 and nothing else', () => {
    expect(parseTime('2026-01-15T00:00:00Z')).toBe(Date.UTC(2026, 0, 15))
    expect(parseTime('2026-01-15T01:00:00.5+01:00')).toBe(Date.UTC(2026, 0, 15) + 500)
    for (const text of ['2026-01-15', 'yesterday', '2026-13-01T00:00:00Z', '', '1']) {
      expect(parseTime(text)).toBeUndefined()
    }
  })
})

describe('toStoredTime and toResponseTime', () => {
  it('differ in how they say UTC', () => {
    const clock = new ManualClock(0)
    clock.advance(1500)
    expect(toStoredTime(clock.now())).toBe('1970-01-01T00:00:01.500Z')
    expect(toResponseTime(clock.now())).toBe('1970-01-01T00:00:01.500+00:00')
  })
})

describe('toStoredTime', () => {
  it('writes what the platform writes, for every time of the calendar', () => {
    const time = fc.oneof(
      fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }),
      fc.integer({ min: 0, max: 4_102_444_800_000 }),
      fc.double({ min: -1e12, max: 1e13, noNaN: true }),
    )
    fc.assert(
      fc.property(time, (ms) => {
        expect(toStoredTime(ms)).toBe(new Date(ms).toISOString())
      }),
    )
  })

  it('refuses what is no time', () => {
    for (const ms of [Number.NaN, Infinity, 8_640_000_000_000_001]) {
      expect(() => toStoredTime(ms)).toThrow(RangeError)
      expect(toStoredTime(0)).toBe('1970-01-01T00:00:00.000Z')
    }
  })
})
