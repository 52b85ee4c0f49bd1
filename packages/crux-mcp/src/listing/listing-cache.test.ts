import { describe, expect, it } from 'vitest'
import { ListingCache } from './listing-cache.js'

describe('ListingCache', () => {
  it('writes a list once', () => {
    const cache = new ListingCache<{ text: string }>()
    const first = cache.get('a', () => ({ text: 'first' }))
    expect(cache.get('a', () => ({ text: 'second' }))).toBe(first)
  })

  it('holds 64 lists and drops the one that was not used for longest', () => {
    const cache = new ListingCache<{ text: string }>()
    for (let i = 0; i < 64; i++) cache.get(`list ${i}`, () => ({ text: `${i}` }))
    cache.get('list 0', () => ({ text: 'written again' }))
    cache.get('one more', () => ({ text: '' }))
    expect(cache.size).toBe(64)
    expect(cache.get('list 0', () => ({ text: 'written again' })).text).toBe('0')
    expect(cache.get('list 1', () => ({ text: 'written again' })).text).toBe('written again')
  })

  it('holds 16 Mi characters at most, and gives what is longer without keeping it', () => {
    const cache = new ListingCache<{ text: string }>()
    cache.get('small', () => ({ text: 'x' }))
    const large = 'y'.repeat(16 * 1024 * 1024)
    cache.get('large', () => ({ text: large }))
    expect(cache.size).toBe(1)
    expect(cache.get('larger', () => ({ text: `${large}z` })).text).toHaveLength(large.length + 1)
    expect(cache.size).toBe(0)
  })
})
