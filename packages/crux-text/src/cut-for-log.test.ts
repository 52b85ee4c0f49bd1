import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutForLog } from './cut-for-log.js'

const isWellFormed = (text: string): boolean => Buffer.from(text).toString() === text

describe('cutForLog', () => {
  it('keeps a short text', () => {
    expect(cutForLog('all of it', 20)).toBe('all of it')
  })

  it('says how much it left out', () => {
    expect(cutForLog('0123456789', 4)).toBe('0123… (6 more)')
    expect(cutForLog('abc', 0)).toBe('… (3 more)')
  })

  it('does not split a character', () => {
    expect(cutForLog('ab😀cd', 3)).toBe('ab… (4 more)')
    expect(cutForLog('ab😀cd', 4)).toBe('ab😀… (2 more)')
  })

  it('writes control characters as escapes', () => {
    expect(cutForLog('a\nb\tc\u0000d\u001b[31m\u2028', 50)).toBe(
      'a\\nb\\tc\\u0000d\\u001b[31m\\u2028',
    )
  })

  it('gives one line without control characters for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, max) => {
        const line = cutForLog(text, max)
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
        expect(isWellFormed(line)).toBe(isWellFormed(text))
      }),
    )
  })
})
