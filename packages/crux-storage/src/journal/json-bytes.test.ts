import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JSON_BYTES_PER_UNIT, putAscii, putInteger, putJsonString } from './json-bytes.js'

describe('JSON written as bytes', () => {
  const written = (space: number, put: (target: Buffer, offset: number) => number): string => {
    const target = Buffer.alloc(space + 1, '#')
    return target.toString('utf8', 1, put(target, 1))
  }

  it('is what JSON.stringify gives for any text', () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(unit).map((units) => units.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const space = text.length * JSON_BYTES_PER_UNIT + 2
        const json = written(space, (target, offset) => putJsonString(target, offset, text))
        expect(json).toBe(JSON.stringify(text))
      }),
    )
  })

  it('is what JSON.stringify gives for any integer from 0 on', () => {
    const near = [9, 10, 999_999_999, 1_000_000_000, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER]
    const integers = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(0, ...near))
    fc.assert(
      fc.property(integers, (value) => {
        expect(written(16, (target, offset) => putInteger(target, offset, value))).toBe(`${value}`)
      }),
    )
  })

  it('copies ASCII as it is', () => {
    expect(written(9, (target, offset) => putAscii(target, offset, '{"a":\n}'))).toBe('{"a":\n}')
  })
})
