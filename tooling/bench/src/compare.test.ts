import { parseCollection } from 'crux-retrieval'
import { describe, expect, it } from 'vitest'
import { compareEngines } from './compare.js'
import { ENGINES } from './engines/engines.js'
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
    const [one, two, three] = COLLECTION.queries.map((query) => engine.search(query))
    expect([one, two, three]).toEqual([['a'], ['c'], []])
    expect(engine.indexMs).toBeGreaterThan(0)
    expect(engine.bytes).toBeGreaterThan(0)
    engine.close()
  })

  it('answers with nothing to a query of punctuation and to an unknown group', async () => {
    const engine = await open(COLLECTION.docs)
    const ask = (text: string, group: string) =>
      engine.search({ id: 'q', text, group, relevance: new Map() })
    expect(ask('"?" OR *', 'one')).toEqual([])
    expect(ask('slices', 'nobody')).toEqual([])
    engine.close()
  })
})

describe('matchOf', () => {
  it('quotes the words that say something, repeated ones too', () => {
    expect(matchOf('What is the "flow" of a Gas-flow?')).toBe('"flow" OR "gas" OR "flow"')
    expect(matchOf('to be or not')).toBe('')
  })
})

describe('compareEngines', () => {
  it('measures each engine and indexes in turns', async () => {
    const turns: string[] = []
    const results = await compareEngines(
      ENGINES,
      COLLECTION,
      async (engine) => {
        turns.push(engine)
        return turns.length
      },
      { passes: 2, processes: 2 },
    )
    expect(turns).toEqual(['crux', 'fts5', 'fts5', 'crux'])
    expect(results.map(({ engine, indexMs }) => [engine, indexMs])).toEqual([
      ['crux', 1],
      ['fts5', 2],
    ])
    for (const { recall10, p50Us, p95Us } of results) {
      expect(recall10).toBeCloseTo(2 / 3, 12)
      expect(p95Us).toBeGreaterThanOrEqual(p50Us)
    }
  })
})

describe('formatReports', () => {
  it('gives numbers and each rival over ours', () => {
    const ours = { engine: 'crux', indexMs: 10, bytes: 100, p50Us: 20, p95Us: 40 } as const
    const rival = { engine: 'fts5', indexMs: 5, bytes: 200, p50Us: 300, p95Us: 400 } as const
    const text = formatReports(
      [
        {
          collection: 'tiny',
          docs: 3,
          queries: 2,
          results: [
            { ...ours, ndcg10: 0.5, recall10: 0 },
            { ...rival, ndcg10: 0.4, recall10: 0 },
          ],
        },
      ],
      { machine: '2 x test', node: '20' },
    )
    expect(text).toContain('| tiny (3 / 2) | Crux | 10.0 | 100 | 20.0 | 40.0 | 0.5000 | 0.0000 |')
    expect(text).toContain('| tiny | SQLite FTS5 | 0.50 | 2.00 | 15.00 | 10.00 | 0.80 | - |')
    expect(text).toContain('2 x test')
  })
})
