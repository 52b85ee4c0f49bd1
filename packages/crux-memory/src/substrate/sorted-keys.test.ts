import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SortedKeys } from './sorted-keys.js'

function all(keys: SortedKeys, place: string): string[] {
  const found: string[] = []
  for (let piece = keys.from(place); piece.length > 0; piece = keys.after(found.at(-1) ?? '')) {
    found.push(...piece)
  }
  return found
}

describe('SortedKeys', () => {
  it('gives what a sorted array would, from any place', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ maxLength: 3 }), { maxLength: 50 }),
        fc.string({ maxLength: 3 }),
        (texts, place) => {
          const keys = new SortedKeys()
          for (const text of texts) keys.add(text)
          const sorted = texts.toSorted()
          expect(all(keys, place)).toEqual(sorted.filter((text) => text >= place))
          expect(keys.after(place)).toEqual(sorted.filter((text) => text > place))
        },
      ),
    )
  })

  it('keeps the order through many buckets, whatever the order of adding', () => {
    const keys = new SortedKeys()
    const texts = Array.from({ length: 5000 }, (_, i) => `k${(i * 3571) % 5000}`)
    for (const text of texts) keys.add(text)
    expect(all(keys, '')).toEqual(texts.toSorted())
    expect(all(keys, 'k4999')).toEqual(texts.filter((text) => text >= 'k4999').toSorted())
    expect(keys.after('z')).toEqual([])
  })

  it('goes on after the last text when more were added', () => {
    const keys = new SortedKeys()
    for (const text of ['b', 'd', 'f']) keys.add(text)
    const first = keys.from('')
    for (const text of ['a', 'c', 'e', 'g']) keys.add(text)
    expect(first).toEqual(['b', 'd', 'f'])
    expect(keys.after('d')).toEqual(['e', 'f', 'g'])
  })
})
