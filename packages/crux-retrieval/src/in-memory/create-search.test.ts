import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyserOf } from '../analyser/analyser.js'
import { createSearch } from './create-search.js'
import type { Search, SearchAnswer } from './search-types.js'

const ids = ({ hits }: SearchAnswer) => hits.map(({ id }) => id)

describe('createSearch', () => {
  it('finds texts by id, replaces and removes them', async () => {
    const search = await createSearch()
    search.add('a', 'Slices are borrowed mutably in patterns')
    search.add('b', 'A journal is replayed at start')
    const found = await search.search('borrowed slice')
    expect(found.hits).toMatchObject([{ id: 'a', text: 'Slices are borrowed mutably in patterns' }])
    expect(found).toMatchObject({ totalCandidates: 1, coverage: { score: 1 } })
    search.add('a', 'Segments are sealed')
    expect((await search.search('borrowed')).coverage.missingTokens).toEqual(['borrowed'])
    expect(ids(await search.search('sealed segment'))).toEqual(['a'])
    expect(search.remove('a')).toBe(true)
    expect(search.remove('a')).toBe(false)
    expect((await search.search('sealed')).hits).toEqual([])
    expect(search.size).toBe(1)
  })

  it('gives back what stands beside a text, and searches titles', async () => {
    const search = await createSearch<{ url: string }>()
    const fields = { url: '/journal' }
    search.add('a', 'It is replayed at start.', { title: 'The journal', group: 'docs', fields })
    const { hits } = await search.search('journal', { highlight: true })
    expect(hits).toMatchObject([
      { id: 'a', title: 'The journal', group: 'docs', fields, highlights: [] },
    ])
    expect(hits[0]?.titleHighlights).toEqual([{ start: 4, end: 11 }])
    expect(search.get('a')).toEqual({
      id: 'a',
      text: 'It is replayed at start.',
      title: 'The journal',
      group: 'docs',
      fields,
    })
    expect(search.has('a')).toBe(true)
    expect(search.get('b')).toBeUndefined()
    expect(search.has('b')).toBe(false)
  })

  it('answers an empty corpus and an empty query', async () => {
    const search = await createSearch()
    const nothing = { hits: [], totalCandidates: 0, onlyStopWords: false }
    expect(await search.search('journal')).toMatchObject(nothing)
    expect(await search.search('journal', { mode: 'fused', group: 'g' })).toMatchObject(nothing)
    search.add('a', 'some text')
    search.add('b', '')
    expect(await search.search('')).toMatchObject({ ...nothing, coverage: { missingTokens: [] } })
    expect(await search.search(' \n ', { mode: 'fused' })).toMatchObject(nothing)
    expect(search.size).toBe(2)
  })

  it('says that a query has stop words only', async () => {
    const search = await createSearch()
    search.add('a', 'to be or not to be')
    for (const mode of ['bm25', 'fused'] as const) {
      const answer = await search.search('to be or not', { mode })
      expect(answer).toMatchObject({ hits: [], onlyStopWords: true, coverage: { score: 0 } })
    }
  })

  it('keeps groups apart, with the statistics of all texts', async () => {
    const search = await createSearch()
    for (let i = 0; i < 6; i++) {
      const facts = i % 3 === 2 ? {} : { group: `g${i % 3}` }
      search.add(`t${i}`, `journal number ${i} ${i % 2 === 0 ? 'journal' : ''}`, facts)
    }
    const all = await search.search('journal')
    for (const mode of ['bm25', 'fused'] as const) {
      expect(ids(await search.search('journal', { group: 'g0', mode })).sort()).toEqual([
        't0',
        't3',
      ])
      expect(ids(await search.search('journal', { group: 'g1', mode })).sort()).toEqual([
        't1',
        't4',
      ])
      expect(ids(await search.search('journal', { group: 'none', mode }))).toEqual([])
    }
    const some = await search.search('journal', { group: 'g0' })
    expect(some.totalCandidates).toBe(2)
    for (const { id, score } of some.hits) {
      expect(all.hits.find((hit) => hit.id === id)?.score).toBeCloseTo(score, 6)
    }
    search.remove('t0')
    search.add('t9', 'journal', { group: 'g0' })
    expect(ids(await search.search('journal', { group: 'g0' }))).toEqual(['t9', 't3'])
    expect(ids(await search.search('journal'))).not.toContain('t0')
  })

  it('lets the neighbours of a group speak for a text in mode fused', async () => {
    const search = await createSearch()
    for (let i = 0; i < 200; i++) {
      search.add(`t${i}`, i === 100 ? 'the harbour is closed' : `weather number ${i}`, {
        group: 'g',
      })
    }
    const { hits } = await search.search('harbour', { mode: 'fused', limit: 7 })
    expect(hits[0]).toMatchObject({ id: 't100', hopDistance: 0 })
    expect(hits[0]?.breakdown?.bm25).toBeGreaterThan(0)
    const around = hits.slice(1).map(({ id, hopDistance }) => [id, hopDistance])
    expect(around).toContainEqual(['t99', 1])
    expect(around).toContainEqual(['t101', 1])
    expect(around).toContainEqual(['t102', 2])
    search.remove('t101')
    const after = await search.search('harbour', { mode: 'fused', limit: 7 })
    expect(after.hits.find(({ id }) => id === 't102')).toMatchObject({ hopDistance: 1 })
  })

  it('says which lanes of mode fused have nothing to go by', async () => {
    const search = await createSearch({ words: false })
    search.add('a', 'one journal')
    const { hits, degraded } = await search.search('journal', { mode: 'fused' })
    expect(hits).toMatchObject([{ id: 'a' }])
    expect(degraded.join('\n')).toMatch(/graph lane went to bm25.*\n.*sparse lane was left out/)
    expect((await search.search('journal')).degraded).toEqual([])
  })

  it('counts hits below the floor, and keeps to the limit', async () => {
    const search = await createSearch()
    for (let i = 1; i <= 20; i++) search.add(`t${i}`, 'journal '.repeat(i))
    const { hits } = await search.search('journal', { limit: 20 })
    expect(hits).toHaveLength(20)
    const minScore = hits[4]?.score ?? 0
    const floored = await search.search('journal', { minScore })
    expect(floored.hits).toEqual(hits.slice(0, 5))
    expect(floored.coverage.belowFloor).toBe(15)
    expect((await search.search('journal', { limit: 0 })).totalCandidates).toBe(20)
    expect((await search.search('journal')).hits).toHaveLength(10)
  })

  it('breaks ties in the order of adding, whatever was merged', async () => {
    const search = await createSearch()
    for (let i = 0; i < 60; i++) {
      search.add(`t${i}`, 'quite similar words')
      if (i % 3 === 0) await search.search('similar')
    }
    const wanted = Array.from({ length: 60 }, (_, i) => `t${i}`)
    expect(ids(await search.search('similar', { limit: 60 }))).toEqual(wanted)
  })

  it('refuses options out of range, and what is no text', async () => {
    const search = await createSearch()
    search.add('a', 'text')
    for (const limit of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(search.search('text', { limit })).rejects.toThrow(RangeError)
    }
    await expect(search.search('text', { snippet: { length: 3 } })).rejects.toThrow(RangeError)
    const weights = { bm25: -1 }
    await expect(search.search('text', { mode: 'fused', weights })).rejects.toThrow(RangeError)
    // What a caller without types may do.
    const untyped: { add(id: unknown, text: unknown): void; search(query: unknown): unknown } =
      search as never
    expect(() => untyped.add(7, 'text')).toThrow('id: expected a string, got number')
    expect(() => untyped.add('b', null)).toThrow('text: expected a string, got null')
    await expect(untyped.search(undefined)).rejects.toThrow(TypeError)
    expect(search.size).toBe(1)
  })

  it('takes any string as an id', async () => {
    const search = await createSearch()
    const odd = ['__proto__', 'constructor', '', ' ', '\0', '\ud800', 'ü', '0', 'toString']
    for (const [i, id] of odd.entries()) search.add(id, `word${i} common`, { group: id })
    expect(search.size).toBe(odd.length)
    expect(ids(await search.search('common', { limit: 20 }))).toEqual(odd)
    for (const id of odd) {
      expect(search.get(id)?.id).toBe(id)
      expect(ids(await search.search('common', { group: id }))).toEqual([id])
      expect(search.remove(id)).toBe(true)
    }
    expect((await search.search('common')).totalCandidates).toBe(0)
  })

  it.each([
    ['lone surrogates', '\ud800 journal \udfff\ud83d', 'journal'],
    ['right-to-left text', 'שלום עולם ‏journal مرحبا بالعالم', 'مرحبا'],
    [
      'combining marks',
      `cafe\u0301 ${'e\u0301'.repeat(50)} n\u0303${'\u0300'.repeat(300)}`,
      'café',
    ],
    ['control characters', '\0\x01journal\x1b[31m\x7f \u202ered\u2066', 'journal'],
    ['scripts without spaces', '検索エンジンは文書を探す', '検索'],
  ])('takes %s', async (_, text, query) => {
    const search = await createSearch()
    search.add('a', text)
    for (const mode of ['bm25', 'fused'] as const) {
      const { hits } = await search.search(query, {
        mode,
        highlight: true,
        snippet: { length: 20 },
      })
      expect(hits).toMatchObject([{ id: 'a', text }])
      for (const { start, end } of hits[0]?.highlights ?? []) {
        const marked = text.slice(start, end)
        const terms = analyserOf(2)
          .analyse(query)
          .map(({ term }) => term)
        expect(
          analyserOf(2)
            .analyse(marked)
            .some(({ term }) => terms.includes(term)),
        ).toBe(true)
      }
      expect(hits[0]?.highlights?.length).toBeGreaterThan(0)
    }
    const loaded = await createSearch()
    await loaded.load(await search.save())
    expect(loaded.get('a')?.text).toBe(text)
  })

  it('answers a query of 100,000 words', async () => {
    const search = await createSearch()
    search.add('a', 'one journal')
    search.add('b', 'nothing of it')
    const query = `${'unknown words '.repeat(50_000)}journal`
    for (const mode of ['bm25', 'fused'] as const) {
      const answer = await search.search(query, { mode, snippet: true, highlight: true })
      expect(answer.hits).toMatchObject([{ id: 'a', highlights: [{ start: 4, end: 11 }] }])
    }
  })

  it('finds the needle in a text of 5 MB', async () => {
    const search = await createSearch()
    const filler = 'the weather is fine today. '.repeat(100_000)
    search.add('a', `${filler}A needle lies here. ${filler}`)
    search.add('b', 'needlework')
    const { hits } = await search.search('needle', { snippet: { length: 40 }, highlight: true })
    expect(hits).toHaveLength(1)
    expect(hits[0]?.highlights).toEqual([{ start: filler.length + 2, end: filler.length + 8 }])
    expect(hits[0]?.snippet?.text).toContain('A needle lies here')
  })

  it('answers searches that overlap with changes', async () => {
    const search = await createSearch()
    search.add('a', 'alpha one')
    const first = search.search('alpha')
    search.add('a', 'alpha two')
    const second = search.search('alpha')
    const gone = search.search('alpha', { mode: 'fused' })
    await first
    expect((await second).hits).toMatchObject([{ id: 'a', text: 'alpha two' }])
    search.remove('a')
    expect((await gone).hits.every(({ text }) => text === 'alpha two')).toBe(true)
    expect((await search.search('one')).hits).toEqual([])
  })

  it('sees one state from begin to end while texts are merged', async () => {
    const search = await createSearch()
    const searches: Promise<SearchAnswer>[] = []
    for (let i = 0; i < 120; i++) {
      search.add(`t${i}`, `common word${i}`, { group: `g${i % 2}` })
      const mode = i % 2 === 0 ? 'fused' : 'bm25'
      const group = i % 3 === 0 ? { group: `g${i % 2}` } : {}
      searches.push(search.search(`word${i}`, { mode, ...group }))
      if (i % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    for (const [i, answer] of (await Promise.all(searches)).entries()) {
      expect(ids(answer)[0]).toBe(`t${i}`)
    }
  })

  it('forgets everything at once, also for what is under way', async () => {
    const search = await createSearch()
    search.add('a', 'alpha')
    const running = search.search('alpha')
    search.clear()
    expect(search.size).toBe(0)
    expect(ids(await running)).toEqual(['a'])
    expect((await search.search('alpha')).hits).toEqual([])
    search.add('a', 'beta')
    expect(ids(await search.search('beta'))).toEqual(['a'])
  })
})

describe('addAll', () => {
  it('takes lists and streams, and says how far it is', async () => {
    const search = await createSearch()
    const texts = Array.from({ length: 3000 }, (_, i) => ({ id: `t${i}`, text: `text ${i} zebra` }))
    const seen: number[] = []
    const onProgress = ({ added }: { added: number }) => seen.push(added)
    expect(await search.addAll(texts, { onProgress })).toBe(3000)
    expect(seen.at(-1)).toBe(3000)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    async function* stream() {
      for (const { id, text } of texts.slice(0, 10)) {
        await Promise.resolve()
        yield { id: `more ${id}`, text, group: 'more' }
      }
    }
    expect(await search.addAll(stream())).toBe(10)
    expect(search.size).toBe(3010)
    expect(ids(await search.search('7', { group: 'more' }))).toEqual(['more t7'])
  })

  it('keeps what was read when it is aborted or the source fails', async () => {
    const search = await createSearch()
    const controller = new AbortController()
    async function* endless() {
      for (let i = 0; ; i++) {
        if (i === 500) controller.abort(new Error('enough'))
        if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5))
        yield { id: `t${i}`, text: 'common' }
      }
    }
    await expect(search.addAll(endless(), { signal: controller.signal })).rejects.toThrow('enough')
    expect(search.size).toBeGreaterThanOrEqual(500)
    function* broken() {
      yield { id: 'last', text: 'read before' }
      throw new Error('the source failed')
    }
    await expect(search.addAll(broken())).rejects.toThrow('the source failed')
    expect(ids(await search.search('read'))).toEqual(['last'])
    const aborted = AbortSignal.abort(new Error('not now'))
    await expect(search.search('read', { signal: aborted })).rejects.toThrow('not now')
  })

  it('ends a waiting search when it is aborted, while the work goes on', async () => {
    const search = await createSearch()
    for (let i = 0; i < 2000; i++) search.add(`t${i}`, `common words of text ${i} `.repeat(20))
    const controller = new AbortController()
    const waiting = search.search('common', { signal: controller.signal })
    const other = search.search('common')
    setImmediate(() => controller.abort(new Error('enough')))
    await expect(waiting).rejects.toThrow('enough')
    expect((await other).totalCandidates).toBe(2000)
  })
})

// Few words, so that they meet; stop words, compounds and other scripts among them.
const word = fc.constantFrom(
  'alpha',
  'beta',
  'gamma',
  'delta',
  'running',
  'runs',
  'the',
  'of',
  'getUserById',
  'user_id',
  '検索',
  'x',
)
const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '))
const change = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      id: fc.nat(12),
      text,
      group: fc.nat(2),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), id: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('search' as const), query: text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const) }) },
)

type Model = Map<string, { text: string; group: string }>

/** Texts that share a scored term with the query, by plain comparison. */
function matching(model: Model, query: string, group?: string): string[] {
  const termsOf = (of: string) =>
    analyserOf(2)
      .analyse(of)
      .flatMap(({ term, isStop }) => (isStop ? [] : [term]))
  const wanted = new Set(termsOf(query))
  return [...model]
    .filter(([, one]) => group === undefined || one.group === group)
    .filter(([, one]) => termsOf(one.text).some((term) => wanted.has(term)))
    .map(([id]) => id)
}

async function rebuilt(model: Model): Promise<Search> {
  const search = await createSearch()
  for (const [id, { text, group }] of model) search.add(id, text, { group })
  return search
}

describe('a search under random changes', () => {
  it('finds what a plain comparison finds, and ranks as one that is built at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 40 }), text, async (changes, lastQuery) => {
        let search = await createSearch()
        const model: Model = new Map()
        const check = async (query: string) => {
          const answer = await search.search(query, { limit: 100 })
          expect(ids(answer).sort()).toEqual(matching(model, query).sort())
          expect(answer.totalCandidates).toBe(answer.hits.length)
          const group = await search.search(query, { limit: 100, group: 'g1' })
          expect(ids(group).sort()).toEqual(matching(model, query, 'g1').sort())
          return answer
        }
        for (const one of changes) {
          if (one.kind === 'add') {
            const id = `t${one.id}`
            const group = `g${one.group}`
            search.add(id, one.text, { group })
            model.delete(id)
            model.set(id, { text: one.text, group })
          } else if (one.kind === 'remove') {
            expect(search.remove(`t${one.id}`)).toBe(model.delete(`t${one.id}`))
          } else if (one.kind === 'search') {
            await check(one.query)
          } else {
            const bytes = await search.save()
            search = await createSearch()
            expect((await search.load(bytes)).reindexed).toBeUndefined()
          }
          expect(search.size).toBe(model.size)
        }
        const answer = await check(lastQuery)
        const whole = await rebuilt(model)
        const again = await whole.search(lastQuery, { limit: 100 })
        expect(ids(again)).toEqual(ids(answer))
        for (const [i, { score }] of again.hits.entries()) {
          expect(answer.hits[i]?.score).toBeCloseTo(score, 5)
        }
        expect(again.coverage).toEqual(answer.coverage)
      }),
      { numRuns: 60 },
    )
  })

  it('answers after save and load as before, in all modes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), text, async (changes, query) => {
        const search = await createSearch<{ n: number }>()
        for (const [n, one] of changes.entries()) {
          const facts = { group: `g${n % 2}`, fields: { n } }
          if (one.kind === 'add') search.add(`t${one.id}`, one.text, facts)
          else if (one.kind === 'remove') search.remove(`t${one.id}`)
          else if (one.kind === 'search') await search.search(one.query)
        }
        const loaded = await createSearch<{ n: number }>()
        await loaded.load(await search.save())
        for (const mode of ['bm25', 'fused'] as const) {
          for (const group of [{}, { group: 'g0' }]) {
            const options = { mode, ...group, limit: 50, snippet: true, highlight: true }
            expect(await loaded.search(query, options)).toEqual(await search.search(query, options))
          }
        }
      }),
      { numRuns: 40 },
    )
  })
})
