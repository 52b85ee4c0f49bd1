import { describe, expect, it } from 'vitest'
import { INVALID_SURFACE_BODY, readSurfaceChoice } from './surface-choice.js'

describe('readSurfaceChoice', () => {
  it.each([
    ['', undefined],
    ['other=1', undefined],
    ['surface=minimal', 'minimal'],
    ['a=b&surface=dynamic&c', 'dynamic'],
    ['surface=%20Minimal+', 'minimal'],
  ])('reads %j as %s', (query, choice) => {
    expect(readSurfaceChoice(query)).toBe(choice)
  })

  it.each([
    'surface',
    'surface=',
    'surface=full',
    'surface=tiny',
    'surface=minimal,dynamic',
    'surface=minimal&surface=dynamic',
    'surface=%ff',
  ])('takes %j for a mistake', (query) => {
    expect(readSurfaceChoice(query)).toBeNull()
  })

  it('names what there is', () => {
    expect(JSON.parse(INVALID_SURFACE_BODY)).toEqual({
      error: 'invalid_surface',
      hint: expect.stringContaining('minimal, dynamic'),
    })
  })
})
