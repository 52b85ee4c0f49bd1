import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyserOf } from '../analyser/analyser.js'
import { runNow } from '../lexical/term-collector.js'
import { type FoundToken, QueryTerms } from './query-terms.js'

function found(text: string, query: string, most = Number.POSITIVE_INFINITY): FoundToken[] {
  const tokens: FoundToken[] = []
  const terms = runNow(QueryTerms.of(query))
  runNow(
    terms.find(text, (token) => {
      tokens.push(token)
      return tokens.length < most
    }),
  )
  return tokens
}

describe('QueryTerms', () => {
  it('has the terms of the query, each once', () => {
    const { terms, stops } = runNow(QueryTerms.of('the runner runs, the run of user_id'))
    expect([...terms]).toEqual([
      ['runner', 0],
      ['run', 1],
      ['user_id', 2],
      ['user', 3],
      ['id', 4],
    ])
    expect([...stops]).toEqual(['the', 'of'])
  })

  it('stops when no more are wanted', () => {
    expect(found('run run run', 'run', 2)).toHaveLength(2)
    expect(found('検索'.repeat(100), '検', 2)).toHaveLength(2)
  })

  it('finds in a text what its analyser finds there, at the same places', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'alpha',
        'beta',
        'getUserById',
        'the',
        'of',
        '検索',
        'e\u0301',
        'c++',
        '\ud83d',
        '!',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom('検'.repeat(60), 'long-word.'.repeat(8)),
    )
    const space = fc.constantFrom(' ', '\n', '\t  ', '', '\u00a0', '\u3000', '\u2028')
    const text = fc
      .array(fc.tuple(piece, space), { maxLength: 12 })
      .map((pairs) => pairs.flat().join(''))
    fc.assert(
      fc.property(text, text, (document, query) => {
        const { terms, stops } = runNow(QueryTerms.of(query))
        const has = ({ term, isStop }: FoundToken) => (isStop ? stops.has(term) : terms.has(term))
        const all = analyserOf(2)
          .analyse(document)
          .map(({ term, start, end, kind, isStop, position }) => {
            return { term, kind, isStop, start, end, position }
          })
        expect(found(document, query).filter(has)).toEqual(all.filter(has))
      }),
      { numRuns: 300 },
    )
  })
})
