import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, compactJsonSteps } from './canonical-json.js'
import { runNow } from './slices.js'

describe('canonicalJson', () => {
  it('sorts the members of every object by the bytes of their names', () => {
    const value = JSON.parse('{"b":[{"z":1,"a":null}],"10":2,"9":"x","__proto__":{"y":1,"x":2}}')
    expect(canonicalJson(value)).toBe(
      '{"10":2,"9":"x","__proto__":{"x":2,"y":1},"b":[{"a":null,"z":1}]}',
    )
    expect(canonicalJson({ '\u{1f600}': 1, '\uffff': 2 })).toBe('{"\uffff":2,"\u{1f600}":1}')
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}')
  })

  it('says the same for the same value, however its members were ordered, and loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value)
        const parsed: unknown = JSON.parse(text)
        expect(parsed).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(parsed))).toBe(text)
      }),
    )
  })
})

describe('compactJsonSteps', () => {
  it('writes what JSON.stringify writes, however deep', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(runNow(compactJsonSteps(value))).toBe(JSON.stringify(value))
      }),
    )
    const deep: unknown = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000))
    expect(runNow(compactJsonSteps(deep))).toHaveLength(40_000)
  })
})

/** The same value with the members of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).reverse()
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]))
}
