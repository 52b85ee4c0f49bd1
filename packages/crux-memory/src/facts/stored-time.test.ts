import { parseTime, toStoredTime } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyTimeMs, storedTimeMs } from './stored-time.js'

describe('storedTimeMs', () => {
  it('reads every time that is written, to the millisecond', () => {
    const times = fc.date({
      min: new Date(0),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(times, (time) => {
        expect(storedTimeMs(toStoredTime(time.getTime()))).toBe(time.getTime())
      }),
      { numRuns: 2000 },
    )
    for (const text of [
      '0000-03-01T00:00:00.000Z',
      '2000-02-29T23:59:59.999Z',
      '1900-02-28T00:00:00.000Z',
    ]) {
      expect(storedTimeMs(text)).toBe(Date.parse(text))
    }
  })

  it.each([
    '2026-01-15T12:00:00Z',
    '2026-01-15T12:00:00.000000Z',
    '2026-01-15T12:00:00.000+0',
    '2026-01-15t12:00:00.000Z',
    '2026-13-15T12:00:00.000Z',
    '2026-00-15T12:00:00.000Z',
    '2026-02-29T12:00:00.000Z',
    '1900-02-29T12:00:00.000Z',
    '2026-04-31T12:00:00.000Z',
    '2026-01-00T12:00:00.000Z',
    '2026-01-15T24:00:00.000Z',
    '2026-01-15T12:60:00.000Z',
    '2026-01-15T12:00:60.000Z',
    '2026-01-1xT12:00:00.000Z',
    '2026-01-15T12:00:00.0 0Z',
  ])('leaves %s to others', (text) => {
    expect(storedTimeMs(text)).toBeNaN()
    expect(anyTimeMs(text)).toBe(parseTime(text))
  })
})
