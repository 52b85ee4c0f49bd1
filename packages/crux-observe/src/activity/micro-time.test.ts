import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseMicroTime, toMicroTime } from './micro-time.js'

describe('toMicroTime and parseMicroTime', () => {
  it('write six decimals and read as many as there are', () => {
    expect(toMicroTime(Date.UTC(2026, 2, 1, 12) * 1000 + 42)).toBe('2026-03-01T12:00:00.000042Z')
    const noon = Date.UTC(2026, 2, 1, 12) * 1000
    expect(parseMicroTime('2026-03-01T12:00:00Z')).toBe(noon)
    expect(parseMicroTime('2026-03-01T13:00:00.5+01:00')).toBe(noon + 500_000)
    expect(parseMicroTime('2026-03-01T12:00:00.0000019Z')).toBe(noon + 1)
    expect(parseMicroTime('noon')).toBeUndefined()
  })

  it('are each other’s inverse', () => {
    fc.assert(
      fc.property(fc.nat({ max: 4_000_000_000_000_000 }), (micros) => {
        expect(parseMicroTime(toMicroTime(micros))).toBe(micros)
      }),
    )
  })
})
