import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { globTest, parseScope, renderScope, SCOPE_TYPES, scopeTest } from './scope.js'

describe('globTest', () => {
  it.each([
    ['*', '', true],
    ['a*', 'abc', true],
    ['a*', 'ba', false],
    ['*c', 'abc', true],
    ['a*c', 'ac', true],
    ['a*c', 'a', false],
    ['a*a', 'a', false],
    ['a**b*c', 'axbxc', true],
    ['a.c', 'abc', false],
    ['', '', true],
    ['', 'a', false],
  ])('%s against %s is %s', (pattern, text, isMatch) => {
    expect(globTest(pattern)(text)).toBe(isMatch)
  })

  it('agrees with a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
    const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 })
    fc.assert(
      fc.property(letters, texts, (pattern, text) => {
        const want = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text)
        expect(globTest(pattern)(text)).toBe(want)
      }),
    )
  })

  it('takes no time to speak of for a pattern of many stars', () => {
    expect(globTest(`${'a*'.repeat(200)}b`)('a'.repeat(10_000))).toBe(false)
  })
})

describe('scopeTest', () => {
  it('matches what is stored or what its owner sees, but only the owner named', () => {
    const stored = '__agent::anna::plan'
    const entity = (type: (typeof SCOPE_TYPES)[number], value: string) =>
      scopeTest({ type, value }).entity?.(stored, 'plan')
    expect(entity('entity_prefix', 'pl')).toBe(true)
    expect(entity('entity_prefix', '__agent::anna::')).toBe(true)
    expect(entity('entity_prefix', 'lan')).toBe(false)
    expect(entity('passport_id', 'anna')).toBe(true)
    expect(entity('passport_id', 'ann')).toBe(false)
    const tenant = scopeTest({ type: 'tenant_id', value: 'x' }).entity
    expect(tenant?.('personal::x::a', 'personal::x::a')).toBe(true)
    expect(tenant?.('personal::xy::a', 'personal::xy::a')).toBe(false)
  })

  it('matches nothing before what is no time', () => {
    const before = (value: string) => scopeTest({ type: 'before_timestamp', value }).storedAt
    expect(before('yesterday')?.(0)).toBe(false)
    expect(before('2026-01-01T00:00:00Z')?.(Date.UTC(2025, 11, 31))).toBe(true)
    expect(before('2026-01-01T00:00:00Z')?.(Date.UTC(2026, 0, 1))).toBe(false)
  })
})

describe('parseScope', () => {
  it('reads each type and says what is wrong with anything else', () => {
    for (const type of SCOPE_TYPES) {
      expect(renderScope(parseScope({ type, value: 'v', more: 1 }))).toBe(`${type}:v`)
    }
    for (const raw of [null, 'x', [], {}, { type: 'all', value: 'x' }, { type: 'key_glob' }]) {
      expect(() => parseScope(raw)).toThrow(/^invalid scope: /)
    }
  })
})
