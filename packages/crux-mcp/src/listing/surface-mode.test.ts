import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { narrowerSurface, SURFACE_MODES } from './surface-mode.js'

describe('narrowerSurface', () => {
  it('never widens what the operator set', () => {
    const mode = fc.constantFrom(...SURFACE_MODES)
    fc.assert(
      fc.property(mode, fc.option(mode, { nil: undefined }), (operator, client) => {
        const got = narrowerSurface(operator, client)
        expect(SURFACE_MODES.indexOf(got)).toBeLessThanOrEqual(SURFACE_MODES.indexOf(operator))
        expect([operator, client]).toContain(got)
      }),
    )
    expect(narrowerSurface('full', 'minimal')).toBe('minimal')
    expect(narrowerSurface('dynamic', 'full')).toBe('dynamic')
    expect(narrowerSurface('minimal', 'dynamic')).toBe('minimal')
  })
})
