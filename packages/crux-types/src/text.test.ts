import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assertText, cutUtf8, isWellFormed } from './text.js'
import { dispatchTokens, storeTokens } from './tokens.js'

const anyText = fc.string({ unit: 'binary' })

describe('assertText', () => {
  const rule = { field: 'key', maxBytes: 8, allowControl: false }

  it('names the field and the reason', () => {
    expect(() => assertText('a\ud800', rule)).toThrow('key holds an unpaired surrogate')
    expect(() => assertText('a\u0000', rule)).toThrow('key holds a control character')
    expect(() => assertText('ééééé', rule)).toThrow('key has 10 bytes; at most 8 are allowed')
  })

  it('allows exactly the limit, and control characters where the rule does', () => {
    expect(() => assertText('éééé', rule)).not.toThrow()
    expect(() => assertText('a\u0000\n', { ...rule, allowControl: true })).not.toThrow()
  })
})

describe('isWellFormed', () => {
  it('agrees with a round trip through UTF-8', () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
    const texts = fc
      .array(fc.oneof(unit, fc.constantFrom('\ud83d', '\ude00')))
      .map((u) => u.join(''))
    fc.assert(
      fc.property(texts, (text) => {
        expect(isWellFormed(text)).toBe(Buffer.from(text).toString() === text)
      }),
    )
  })
})

describe('cutUtf8', () => {
  it('gives the longest whole-character prefix that fits', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, max) => {
        const cut = cutUtf8(text, max)
        expect(text.startsWith(cut)).toBe(true)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max)
        const [next] = text.slice(cut.length)
        if (next !== undefined) expect(Buffer.byteLength(cut + next)).toBeGreaterThan(max)
      }),
    )
  })
})

describe('token estimates', () => {
  it('round up for the store and down for dispatch (RET-11.8-two-estimators)', () => {
    expect([storeTokens('12345'), dispatchTokens('12345')]).toEqual([2, 1])
    expect([storeTokens(''), dispatchTokens('')]).toEqual([0, 1])
    expect(dispatchTokens('x'.repeat(402))).toBe(100)
  })
})
