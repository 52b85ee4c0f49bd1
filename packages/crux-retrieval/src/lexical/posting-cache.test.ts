import { describe, expect, it } from 'vitest'
import { type DroppableList, PostingCache } from './posting-cache.js'

function listsOf(dropped: string[]) {
  return (name: string, bytes = 10): DroppableList => ({
    bytes,
    wasUsed: false,
    drop: () => dropped.push(name),
  })
}

describe('PostingCache', () => {
  it('drops the oldest when the bound is passed', () => {
    const dropped: string[] = []
    const list = listsOf(dropped)
    const cache = new PostingCache(30)
    for (const name of ['a', 'b', 'c', 'd', 'e']) cache.add(list(name))
    expect(dropped).toEqual(['a', 'b'])
    expect(cache.bytes).toBe(30)
  })

  it('spares a list that was used since', () => {
    const dropped: string[] = []
    const list = listsOf(dropped)
    const cache = new PostingCache(30)
    const a = list('a')
    cache.add(a)
    for (const name of ['b', 'c']) cache.add(list(name))
    a.wasUsed = true
    cache.add(list('d'))
    cache.add(list('e'))
    expect(dropped).toEqual(['b', 'c'])
    cache.add(list('f'))
    expect(dropped).toEqual(['b', 'c', 'a'])
  })

  it('ends when every list was used, and keeps one that is larger than the bound', () => {
    const dropped: string[] = []
    const list = listsOf(dropped)
    const cache = new PostingCache(30)
    for (const name of ['a', 'b', 'c']) {
      const used = list(name)
      cache.add(used)
      used.wasUsed = true
    }
    cache.add(list('huge', 1000))
    expect(dropped).toEqual(['a', 'b', 'c'])
    expect(cache.bytes).toBe(1000)
    cache.add(list('d'))
    expect(dropped).toEqual(['a', 'b', 'c', 'huge'])
    expect(cache.bytes).toBe(10)
  })
})
