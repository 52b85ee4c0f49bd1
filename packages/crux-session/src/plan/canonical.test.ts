import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Canonical, canonicalCbor, canonicalJson, decodeCbor, hex } from './canonical.js'

describe('canonicalCbor', () => {
  // Examples of RFC 8949, appendix A, that are within the subset.
  it.each<[Canonical, string]>([
    [0, '00'],
    [23, '17'],
    [24, '1818'],
    [1000, '1903e8'],
    [1_000_000, '1a000f4240'],
    [1_000_000_000_000, '1b000000e8d4a51000'],
    [false, 'f4'],
    [true, 'f5'],
    [null, 'f6'],
    ['', '60'],
    ['IETF', '6449455446'],
    ['ü', '62c3bc'],
    [new Uint8Array([1, 2, 3, 4]), '4401020304'],
    [[], '80'],
    [[1, [2, 3], [4, 5]], '8301820203820405'],
    [{ a: 1, b: [2, 3] }, 'a26161016162820203'],
  ])('writes %j as %s', (value, expected) => {
    expect(hex(canonicalCbor(value))).toBe(expected)
  })

  it('sorts keys by their encoded bytes: shorter ones first', () => {
    expect(hex(canonicalCbor({ aa: 1, b: 2, a: 3 }))).toBe('a3616103616202626161' + '01')
  })

  it.each([-1, 0.5, Number.NaN, 2 ** 53])('refuses %d', (value) => {
    expect(() => canonicalCbor({ value })).toThrow(RangeError)
    expect(() => canonicalJson({ value })).toThrow(RangeError)
  })

  it('leaves out what is undefined', () => {
    expect(hex(canonicalCbor({ a: undefined, b: 1 }))).toBe('a1616201')
  })

  const canonical = fc.letrec<{ value: Canonical }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.maxSafeNat(),
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array({ maxLength: 9 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string({ maxLength: 3 }), tie('value'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    ),
  })).value

  it('comes back equal, and does not depend on the order of members', () => {
    fc.assert(
      fc.property(canonical, (value) => {
        const bytes = canonicalCbor(value)
        const back = decodeCbor(bytes) as Canonical // of what this module wrote
        expect(canonicalJson(back)).toBe(canonicalJson(value))
        expect(hex(canonicalCbor(reversed(value)))).toBe(hex(bytes))
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
      }),
    )
  })
})

describe('canonicalJson', () => {
  it('sorts keys and writes bytes as hex', () => {
    expect(canonicalJson({ b: [new Uint8Array([0, 255])], a: { d: null, c: 'x' } })).toBe(
      '{"a":{"c":"x","d":null},"b":["00ff"]}',
    )
  })
})

describe('decodeCbor', () => {
  it.each(['', 'ff', 'a1', 'a2616101616102', '1bffffffffffffffff', 'f7'])('refuses %j', (bytes) => {
    expect(() => decodeCbor(Buffer.from(bytes, 'hex'))).toThrow()
  })
})

function reversed(value: Canonical): Canonical {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if (Array.isArray(value)) return value.map(reversed)
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member ?? null)]),
  )
}
