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
