import { parseCollection } from 'crux-retrieval'
import { describe, expect, it } from 'vitest'
import { compareEngines, type EngineResult } from './compare.js'
import { ENGINES, enginesOf } from './engines/engines.js'
import { matchOf } from './engines/fts5-engine.js'
import { formatReports } from './report.js'

const COLLECTION = parseCollection(
  [
    { id: 'a', title: 'Slices', text: 'borrowed mutably in patterns', group: 'one' },
    { id: 'b', text: 'a journal is replayed at start', group: 'one' },
    { id: 'c', text: 'slices of another group', group: 'two' },
  ]
    .map((doc) => JSON.stringify(doc))
    .join('\n'),
  [
    { id: 'q1', text: 'how are slices borrowed?', group: 'one', rels: { a: 2 } },
    { id: 'q2', text: 'slices', group: 'two', rels: { c: 1 } },
    { id: 'q3', text: 'journal', group: 'two', rels: { b: 1 } },
  ]
    .map((query) => JSON.stringify(query))
    .join('\n'),
)

describe.each(ENGINES)('$name', ({ open }) => {
  it('finds documents of the query’s own group by title and text', async () => {
    const engine = await open(COLLECTION.docs)
    const answers = await Promise.all(COLLECTION.queries.map((query) => engine.search(query)))
    expect(answers).toEqual([['a'], ['c'], []])
    expect(engine.indexMs).toBeGreaterThan(0)
    expect(engine.bytes).toBeGreaterThan(0)
    engine.close()
  })

  it('answers with nothing to a query of punctuation and to an unknown group', async () => {
    const engine = await open(COLLECTION.docs)
    const ask = async (text: string, group: string) =>
      engine.search({ id: 'q', text, group, relevance: new Map() })
    expect(await ask('"?" + *', 'one')).toEqual([])
    expect(await ask('slices', 'nobody')).toEqual([])
    engine.close()
  })

  it('finds other forms of a word, and documents that hold only some of the words', async () => {
    const engine = await open(COLLECTION.docs)
    const query = { id: 'q', group: 'one', relevance: new Map() }
    expect(await engine.search({ ...query, text: 'journals that nobody replays' })).toEqual(['b'])
    engine.close()
  })

  it('gives ten documents at most', async () => {
    const docs = Array.from({ length: 12 }, (_, i) => ({ id: `d${i}`, text: `slice ${i}` }))
    const engine = await open(docs)
    expect(await engine.search({ id: 'q', text: 'slice', relevance: new Map() })).toHaveLength(10)
    engine.close()
  })
})

describe('matchOf', () => {
  it('quotes the words that say something, repeated ones too', () => {
    expect(matchOf('What is the "flow" of a Gas-flow?')).toBe('"flow" OR "gas" OR "flow"')
    expect(matchOf('to be or not')).toBe('')
  })
})

describe('enginesOf', () => {
  it('keeps ours first and reads crux as its modes', () => {
    expect(enginesOf(['fts5', 'crux'], ['bm25']).map(({ name }) => name)).toEqual([
      'crux-bm25',
      'fts5',
    ])
    expect(enginesOf(['lunr'], ['bm25']).map(({ name }) => name)).toEqual(['lunr'])
  })
})

describe('compareEngines', () => {
  const engines = enginesOf(['crux', 'fts5'], ['bm25'])

  it('measures each engine and indexes in turns', async () => {
    const turns: string[] = []
    const results = await compareEngines(
      engines,
      COLLECTION,
      async (engine) => {
        turns.push(engine)
        return turns.length
      },
      { passes: 2, processes: 2 },
    )
    expect(turns).toEqual(['crux-bm25', 'fts5', 'fts5', 'crux-bm25'])
    expect(results.map(({ engine, indexMs }) => [engine, indexMs])).toEqual([
      ['crux-bm25', 1],
      ['fts5', 2],
    ])
    for (const { ranking } of results) {
      expect(ranking?.recall10).toBeCloseTo(2 / 3, 12)
      expect(ranking?.p95Us).toBeGreaterThanOrEqual(ranking?.p50Us ?? Number.POSITIVE_INFINITY)
    }
  })

  it('only indexes what has no queries', async () => {
    const results = await compareEngines(engines, { ...COLLECTION, queries: [] }, async () => 7)
    expect(results).toEqual([
      { engine: 'crux-bm25', title: 'Crux bm25', indexMs: 7, bytes: expect.any(Number) },
      { engine: 'fts5', title: 'SQLite FTS5', indexMs: 7, bytes: expect.any(Number) },
    ])
  })
})

describe('formatReports', () => {
  const setting = { machine: '2 x test', node: '20', passes: 5, processes: 3 }

  it('gives numbers and each engine over the first', () => {
    const ours: EngineResult = {
      engine: 'crux-bm25',
      title: 'Crux bm25',
      indexMs: 10,
      bytes: 100,
      ranking: { p50Us: 20, p95Us: 40, ndcg10: 0.5, recall10: 0 },
    }
    const rival: EngineResult = {
      engine: 'fts5',
      title: 'SQLite FTS5',
      indexMs: 5,
      bytes: null,
      ranking: { p50Us: 300, p95Us: 400, ndcg10: 0.4, recall10: 0 },
    }
    const text = formatReports(
      [{ collection: 'tiny', docs: 3, queries: 2, results: [ours, rival] }],
      setting,
    )
    expect(text).toContain(
      '| tiny (3 / 2) | Crux bm25 | 10.0 | 100 | 20.0 | 40.0 | 0.5000 | 0.0000 |',
    )
    expect(text).toContain('| tiny (3 / 2) | SQLite FTS5 | 5.0 | - | 300.0 |')
    expect(text).toContain('| tiny | SQLite FTS5 | 0.50 | - | 15.00 | 10.00 | 0.80 | - |')
    expect(text).toContain('2 x test; Node.js 20; processes: 3; passes: 5.')
  })

  it('leaves out what a collection without queries does not say', () => {
    const result = { engine: 'fts5', title: 'SQLite FTS5', indexMs: 5, bytes: 200 }
    const reports = [{ collection: 'files', docs: 3, queries: 0, results: [result] }]
    expect(formatReports(reports, setting)).toContain(
      '| files (3 / 0) | SQLite FTS5 | 5.0 | 200 | - | - | - | - |',
    )
  })
})
