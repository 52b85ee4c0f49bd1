import { describe, expect, it } from 'vitest'
import { createSearch } from './create-search.js'

/** Made-up text of words that differ, about 8 units each. */
function manyWords(words: number, seed: number): string {
  const parts: string[] = []
  let state = seed
  for (let i = 0; i < words; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    parts.push(
      `w${(state >>> 8) % 50_000}`.replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit))),
    )
  }
  return parts.join(' ')
}

describe('createSearch with much text', () => {
  it('takes a text of 50 MB', async () => {
    const search = await createSearch()
    const half = manyWords(4_200_000, 7)
    const text = `${half} the needle lies here ${half}`
    expect(text.length).toBeGreaterThan(50_000_000)
    search.add('long', text)
    search.add('short', 'no such thing')
    const found = await search.search('needle', { snippet: { length: 60 }, highlight: true })
    const at = half.length + 5
    expect(found.hits).toMatchObject([{ id: 'long', highlights: [{ start: at, end: at + 6 }] }])
    expect(found.hits[0]?.snippet?.text).toContain('the needle lies here')
    const loaded = await createSearch()
    expect((await loaded.load(await search.save())).reindexed).toBeUndefined()
    const fused = await loaded.search('needle lies', { mode: 'fused' })
    expect(fused.hits.map(({ id }) => id)).toEqual(['long'])
  })

  it('takes 10 million equal words', async () => {
    const search = await createSearch()
    search.add('equal', 'journal '.repeat(10_000_000))
    search.add('one', 'a journal')
    for (const mode of ['bm25', 'fused'] as const) {
      const { hits } = await search.search('journal', { mode, snippet: true })
      expect(hits.map(({ id }) => id).sort()).toEqual(['equal', 'one'])
      for (const hit of hits) expect(hit.snippet?.highlights.length).toBeGreaterThan(0)
    }
  })

  it('stays right over 100,000 texts that come one by one, with searches in between', async () => {
    const search = await createSearch()
    const texts = 100_000
    const wordOf = (i: number) =>
      `q${String(i).replace(/\d/g, (digit) => 'bcdfghjklm'.charAt(Number(digit)))}x`
    for (let i = 0; i < texts; i++) {
      search.add(`t${i}`, `common ${wordOf(i)} ${wordOf(i % 100)}`)
      if (i % 7 === 3) search.remove(`t${i - 2}`)
      const { hits } = await search.search(wordOf(i), { limit: 1 })
      expect(hits[0]?.id).toBe(`t${i}`)
    }
    const { totalCandidates } = await search.search('common')
    expect(totalCandidates).toBe(search.size)
    const rebuilt = await createSearch()
    const rest = Array.from({ length: texts }, (_, i) => search.get(`t${i}`) ?? [])
    await rebuilt.addAll(rest.flat())
    for (const query of [wordOf(5), `common ${wordOf(77)}`, `${wordOf(99_998)} ${wordOf(1)}`]) {
      const ids = (await search.search(query)).hits.map(({ id }) => id)
      expect((await rebuilt.search(query)).hits.map(({ id }) => id)).toEqual(ids)
    }
  })

  it('lets others run while it indexes, saves and loads', async () => {
    const search = await createSearch()
    const text = manyWords(500, 3)
    for (let i = 0; i < 20_000; i++) search.add(`t${i}`, `${text.slice(i % 97)} number ${i}`)
    const turnsOf = async (work: Promise<unknown>) => {
      let turns = 0
      let isDone = false
      const count = () => {
        turns += 1
        if (!isDone) setImmediate(count)
      }
      setImmediate(count)
      await work
      isDone = true
      return turns
    }
    expect(await turnsOf(search.search('number'))).toBeGreaterThan(100)
    const saving = search.save()
    expect(await turnsOf(saving)).toBeGreaterThan(10)
    const loaded = await createSearch()
    expect(await turnsOf(loaded.load(await saving))).toBeGreaterThan(10)
  })
})
