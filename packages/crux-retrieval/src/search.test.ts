import { describe, expect, it } from 'vitest'
import { createSearch } from './search.js'

describe('createSearch', () => {
  it('finds texts by id, replaces and removes them', async () => {
    const search = await createSearch()
    search.add('a', 'Slices are borrowed mutably in patterns')
    search.add('b', 'A journal is replayed at start')
    expect((await search.search('borrowed slice')).hits).toMatchObject([
      { id: 'a', text: 'Slices are borrowed mutably in patterns' },
    ])
    search.add('a', 'Segments are sealed')
    expect((await search.search('borrowed')).coverage.missingTokens).toEqual(['borrowed'])
    expect((await search.search('sealed segment')).hits.map(({ id }) => id)).toEqual(['a'])
    expect(search.remove('a')).toBe(true)
    expect(search.remove('a')).toBe(false)
    expect((await search.search('sealed')).hits).toEqual([])
    expect(search.size).toBe(1)
  })

  it('stays right over more changes than it keeps segments', async () => {
    const search = await createSearch()
    for (let i = 0; i < 100; i++) {
      // No two share a stem or a part.
      const word = `q${String(i).replace(/\d/g, (digit) => 'bcdfghjklm'.charAt(Number(digit)))}x`
      search.add(`n${i % 40}`, `common ${word}`)
      if (i % 3 === 0) search.remove(`n${(i + 1) % 40}`)
      const { hits, totalCandidates } = await search.search(word)
      expect(hits.map(({ id }) => id)).toEqual([`n${i % 40}`])
      expect(totalCandidates).toBe(1)
      expect((await search.search('common', { limit: 100 })).totalCandidates).toBe(search.size)
    }
  })

  it('answers searches that overlap with changes', async () => {
    const search = await createSearch()
    search.add('a', 'alpha one')
    const first = search.search('alpha')
    search.add('a', 'alpha two')
    const second = search.search('alpha')
    await first
    expect((await second).hits).toMatchObject([{ id: 'a', text: 'alpha two' }])
    expect((await search.search('one')).hits).toEqual([])
  })
})
