import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { narrowerSurface, parseSurfaceMode, type SurfaceMode } from './surface-mode.js'

const MODES: readonly SurfaceMode[] = ['minimal', 'dynamic', 'full']

describe('parseSurfaceMode', () => {
  it.each([
    [' Minimal ', 'minimal'],
    ['DYNAMIC', 'dynamic'],
    ['\tfull\n', 'full'],
  ])('reads %j in any letter case, trimmed (MCP-11.10-surface-parse)', (text, mode) => {
    expect(parseSurfaceMode(text)).toBe(mode)
  })

  it('takes everything else for full (MCP-11.10-surface-full)', () => {
    for (const text of [undefined, '', ' ', 'mini', 'on', '0', 'minimal,dynamic', 'constructor']) {
      expect(parseSurfaceMode(text)).toBe('full')
    }
  })
})

describe('narrowerSurface', () => {
  it('never widens what the operator set', () => {
    const mode = fc.constantFrom(...MODES)
    fc.assert(
      fc.property(mode, fc.option(mode, { nil: undefined }), (operator, client) => {
        const got = narrowerSurface(operator, client)
        expect(MODES.indexOf(got)).toBeLessThanOrEqual(MODES.indexOf(operator))
        expect([operator, client]).toContain(got)
      }),
    )
    expect(narrowerSurface('full', 'minimal')).toBe('minimal')
    expect(narrowerSurface('dynamic', 'full')).toBe('dynamic')
    expect(narrowerSurface('minimal', 'dynamic')).toBe('minimal')
  })
})
