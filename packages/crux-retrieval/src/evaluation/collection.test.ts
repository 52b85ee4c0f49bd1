import { describe, expect, it } from 'vitest'
import { createDocReader, createQueryReader, parseCollection, textToIndex } from './collection.js'
import { gradeQueries, summariseTimes, timeQueries } from './measure-queries.js'

const DOCS = `{"id":"1","title":"Slices","text":"Borrowed parts","group":"g"}
{"id":"2","text":"Journal","extra":[1]}

`
const QUERIES = '{"id":"q","text":"borrowed","group":"g","rels":{"1":3,"9":0}}'

const { queries: judged } = parseCollection(
  DOCS,
  `${QUERIES}\n{"id":"r","text":"x","rels":{"2":1}}\n{"id":"n","text":"x","rels":{}}`,
)

describe('parseCollection', () => {
  it('reads documents and judged queries', () => {
    expect(parseCollection(DOCS, QUERIES)).toEqual({
      docs: [
        { id: '1', title: 'Slices', text: 'Borrowed parts', group: 'g' },
        { id: '2', text: 'Journal' },
      ],
      queries: [
        {
          id: 'q',
          text: 'borrowed',
          group: 'g',
          relevance: new Map([
            ['1', 3],
            ['9', 0],
          ]),
        },
      ],
    })
  })

  it.each([
    ['{', 'documents, line 1: expected one JSON object'],
    ['[]', 'expected a JSON object'],
    ['{"text":"a"}', 'expected a string id'],
    ['{"id":"1","text":7}', 'expected a string text'],
    ['{"id":"1","text":"a","title":7}', 'expected a string title'],
    ['{"id":"1","text":"a"}\n{"id":"1","text":"b"}', 'line 2: id "1" is there twice'],
  ])('refuses documents %s', (docs, message) => {
    expect(() => parseCollection(docs, QUERIES)).toThrow(
      expect.objectContaining({
        code: 'COLLECTION_INVALID',
        message: expect.stringContaining(message),
      }),
    )
  })

  it.each(['{"id":"q","text":"a"}', '{"id":"q","text":"a","rels":{"1":"best"}}'])(
    'refuses queries %s',
    (queries) => {
      expect(() => parseCollection(DOCS, queries)).toThrow(
        expect.objectContaining({ code: 'COLLECTION_INVALID' }),
      )
    },
  )
})

describe('createDocReader', () => {
  it('reads line by line and counts the empty ones', () => {
    const read = createDocReader()
    expect(read('{"id":"1","title":"Slices","text":"a"}')).toEqual({
      id: '1',
      title: 'Slices',
      text: 'a',
    })
    expect(read(' ')).toBeUndefined()
    expect(() => read('{"id":"1","text":"b"}')).toThrow('documents, line 3: id "1" is there twice')
  })
})

describe('createQueryReader', () => {
  it('reads the kind of a query', () => {
    const read = createQueryReader()
    expect(read('{"id":"q","text":"a","class":"rare","rels":{}}')).toEqual({
      id: 'q',
      text: 'a',
      class: 'rare',
      relevance: new Map(),
    })
    expect(() => read('{"id":"r","text":"a","class":7,"rels":{}}')).toThrow(
      'queries, line 2: expected a string class',
    )
  })
})

describe('textToIndex', () => {
  it('puts the title first unless the text starts with it', () => {
    expect(textToIndex({ id: '1', title: 'Slices', text: 'Borrowed' })).toBe('Slices\nBorrowed')
    expect(textToIndex({ id: '1', title: 'Slices', text: 'Slices borrowed' })).toBe(
      'Slices borrowed',
    )
    expect(textToIndex({ id: '1', text: 'Borrowed' })).toBe('Borrowed')
  })
})

describe('gradeQueries', () => {
  it('averages over the queries that something is relevant to', async () => {
    expect(await gradeQueries(judged, () => ['1'])).toEqual({ ndcg10: 0.5, recall10: 0.5 })
    expect(await gradeQueries(judged, async () => ['1', '2'])).toMatchObject({ recall10: 1 })
    expect(await gradeQueries([], () => [])).toEqual({ ndcg10: 0, recall10: 0 })
  })

  it('stops when told to', async () => {
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(gradeQueries(judged, () => [], { signal })).rejects.toThrow('stop')
  })
})

describe('timeQueries', () => {
  it('gives one time per query, whether the answer comes at once or later', async () => {
    const times = await timeQueries(judged, () => ['1'])
    expect(times).toHaveLength(judged.length)
    expect(times.every((time) => time >= 0)).toBe(true)
    let answered = 0
    const later = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      answered += 1
      return []
    }
    expect(await timeQueries(judged, later)).toHaveLength(judged.length)
    expect(answered).toBe(judged.length)
  })
})

describe('summariseTimes', () => {
  it('gives the middle and the slow end', () => {
    expect(summariseTimes([5, 1, 4, 2, 3])).toEqual({ p50Us: 3, p95Us: 5 })
  })
})
