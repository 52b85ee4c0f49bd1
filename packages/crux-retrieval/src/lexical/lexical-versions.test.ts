import { type Hashes, loadHashes } from 'crux-segment'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { analyserOf, queryWeight } from '../analyser/analyser.js'
import {
  type PlainDoc,
  type PlainSegment,
  plainCcxi,
  plainIndex,
  type Version,
} from '../testing/plain-index.js'
import { createLexicalIndex } from './lexical-index.js'
import type { LexicalAnswer, LexicalIndex } from './lexical-types.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const acme = (...texts: string[]): PlainDoc[] => texts.map((text) => ({ text, tenant: 'acme' }))
const second = (...texts: string[]) => plainIndex([acme(...texts)], 2, hashes)
const find = (index: LexicalIndex, query: string, limit = 100): LexicalAnswer =>
  index.searchNow({ query, tenant: 'acme', limit })
const places = ({ hits }: { readonly hits: LexicalAnswer['hits'] }) =>
  hits.map(({ segment, docId }) => `${segment}:${docId}`)

const WORDS = ['running', 'alpha', 'the', 'userId', 'größe', 'of', 'kebab-case', 'alphas', '東京都']
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 10 }).map((w) => w.join(' '))
const segment = fc.record({
  version: fc.constantFrom<Version>(1, 2),
  docs: fc.array(fc.record({ text, tenant: fc.constantFrom('acme', 'acme', 'globex') }), {
    maxLength: 6,
  }),
})

/** BM25 by the textbook, each segment by the tokens of its own analyser. */
function scan(
  segments: readonly { readonly version: Version; readonly docs: PlainSegment }[],
  query: string,
) {
  const all = segments.flatMap(({ version, docs }, s) =>
    docs.flatMap((doc, docId) =>
      doc === undefined || doc.text === ''
        ? []
        : [
            {
              key: `s${s}:${docId}`,
              version,
              tenant: doc.tenant,
              terms: analyserOf(version)
                .analyse(doc.text)
                .map(({ term }) => term),
            },
          ],
    ),
  )
  const mean = all.reduce((sum, { terms }) => sum + terms.length, 0) / all.length
  const scores = new Map<string, number>()
  for (const version of [1, 2] as const) {
    const ours = all.filter((doc) => doc.version === version)
    for (const token of analyserOf(version).analyse(query)) {
      const { term } = token
      if (token.isStop) continue
      const df = ours.filter(({ terms }) => terms.includes(term)).length
      const idf = Math.log((all.length - df + 0.5) / (df + 0.5) + 1)
      for (const { key, terms, tenant } of ours) {
        const tf = terms.filter((each) => each === term).length
        if (tf === 0 || tenant !== 'acme') continue
        const norm = 1.2 * (0.25 + (0.75 * terms.length) / mean)
        const share = (queryWeight(token) * idf * tf * 2.2) / (tf + norm)
        scores.set(key, (scores.get(key) ?? 0) + share)
      }
    }
  }
  return scores
}

describe('segments of several analysers', () => {
  it('are searched each by its own terms, with counts and mean length of all', () => {
    fc.assert(
      fc.property(
        fc.array(segment, { maxLength: 5 }),
        text,
        fc.boolean(),
        (segments, query, isPruned) => {
          const index = plainIndex(
            segments.map(({ docs }) => docs),
            segments.map(({ version }) => version),
            hashes,
            isPruned ? { pruneFrom: 0 } : {},
          )
          const expected = scan(segments, query)
          const answer = find(index, query)
          expect(answer.totalCandidates).toBe(expected.size)
          expect(places(answer).sort()).toEqual([...expected.keys()].sort())
          for (const { segment: key, docId, score } of answer.hits) {
            expect(Math.abs(score - (expected.get(`${key}:${docId}`) ?? 0))).toBeLessThan(1e-12)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('know a word when the tokens of either have it', () => {
    const docs = [acme('policies'), acme('journals')]
    const index = plainIndex(docs, [1, 2], hashes)
    expect(find(index, 'policies journals zebra').coverage).toEqual({
      score: 2 / 3,
      missingTokens: ['zebra'],
      belowFloor: 0,
    })
    expect(places(find(index, 'policies journals')).sort()).toEqual(['s0:0', 's1:0'])
  })

  it('are refused by number when the analyser is not here', () => {
    const bytes = plainCcxi(acme('alpha'), 2, hashes) ?? new Uint8Array()
    bytes[42] = 9
    const index = createLexicalIndex(hashes)
    expect(() => index.addSegment('s0', bytes)).toThrow(
      expect.objectContaining({ code: 'ANALYSER_UNKNOWN', message: expect.stringContaining('9') }),
    )
    expect(index.stats().segments).toBe(0)
  })
})

describe('stop words', () => {
  it('count neither for the score nor for coverage', () => {
    const index = second('the journal of the store', 'the the the of')
    expect(places(find(index, 'the journal'))).toEqual(['s0:0'])
    expect(find(index, 'the journal')).toMatchObject({
      totalCandidates: 1,
      onlyStopWords: false,
      coverage: { score: 1, missingTokens: [] },
    })
    expect(find(index, 'the zebra').coverage).toMatchObject({ score: 0, missingTokens: ['zebra'] })
  })

  it('find nothing alone, and the answer says why', () => {
    const index = second('the journal of the store')
    expect(find(index, 'the of the')).toEqual({
      hits: [],
      totalCandidates: 0,
      coverage: { score: 0, missingTokens: [], belowFloor: 0 },
      onlyStopWords: true,
    })
    expect(find(index, '').onlyStopWords).toBe(false)
  })
})

describe('words in parts', () => {
  it('are covered when their parts are, and else the part is named', () => {
    const index = second('get the user by id', 'boundary layer')
    expect(find(index, 'getUserById').coverage).toMatchObject({ score: 1, missingTokens: [] })
    expect(find(index, 'getZebraById').coverage.missingTokens).toEqual(['Zebra'])
    expect(find(index, 'boundary-zebra and boundary-layer').coverage).toMatchObject({
      score: 3 / 4,
      missingTokens: ['zebra'],
    })
  })

  it('rank the exact form first', () => {
    const index = second('user id of a user with an id', 'set userId here', 'user')
    expect(places(find(index, 'userId'))[0]).toBe('s0:1')
  })

  it('name a word as often as it is asked for', () => {
    expect(find(second('alpha'), 'zebra alpha Zebra').coverage).toMatchObject({
      score: 1 / 3,
      missingTokens: ['zebra', 'Zebra'],
    })
  })
})

describe('searchTerms', () => {
  it('ranks like search when the terms are those of the query', () => {
    fc.assert(
      fc.property(
        fc.array(segment, { maxLength: 4 }),
        text,
        fc.boolean(),
        (segments, query, isPruned) => {
          const index = plainIndex(
            segments.map(({ docs }) => docs),
            2,
            hashes,
            isPruned ? { pruneFrom: 0 } : {},
          )
          const terms = analyserOf(2)
            .analyse(query)
            .filter(({ isStop }) => !isStop)
            .map((token) => ({ term: token.term, weight: queryWeight(token) }))
          const { hits, totalCandidates } = find(index, query)
          const found = index.searchTermsNow({ terms, tenant: 'acme', limit: 100 })
          expect(found).toEqual({ hits, totalCandidates, belowFloor: 0 })
          const scores = index.scoreOf(terms, 'acme', hits)
          expect([...scores]).toEqual(hits.map(({ score }) => score))
        },
      ),
    )
  })

  it('multiplies by the weights and leaves out what weighs nothing', async () => {
    const index = second('alpha beta', 'beta gamma', 'gamma')
    const search = (alpha: number, gamma: number) => ({
      terms: [
        { term: 'alpha', weight: alpha },
        { term: 'gamma', weight: gamma },
      ],
      tenant: 'acme',
      limit: 10,
    })
    const plain = await index.searchTerms(search(1, 1))
    const doubled = await index.searchTerms(search(2, 2))
    expect(doubled.hits.map(({ score }) => score)).toEqual(plain.hits.map(({ score }) => score * 2))
    expect(places(await index.searchTerms(search(9, 0.1)))[0]).toBe('s0:0')
    const one = await index.searchTerms(search(0, 1))
    expect(places(one)).toEqual(['s0:2', 's0:1'])
    expect(one.totalCandidates).toBe(2)
    expect(await index.searchTerms({ ...search(1, 1), minScore: 99 })).toEqual({
      hits: [],
      totalCandidates: 3,
      belowFloor: 3,
    })
    for (const weight of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => index.searchTermsNow(search(weight, 1))).toThrow(RangeError)
    }
  })

  it('scores only documents that the tenant may find', () => {
    const docs = [[...acme('alpha', 'alpha alpha'), { text: 'alpha', tenant: 'globex' }]]
    const index = plainIndex(docs, 2, hashes)
    index.hide('s0', [1])
    const places = [0, 1, 2, 3, -1, 0.5].map((docId) => ({ segment: 's0', docId }))
    const scores = index.scoreOf([{ term: 'alpha', weight: 1 }], 'acme', [
      ...places,
      { segment: 'absent', docId: 0 },
    ])
    expect(scores[0]).toBeGreaterThan(0)
    expect([...scores].slice(1)).toEqual([0, 0, 0, 0, 0, 0])
    expect(index.documentFrequency('alpha')).toBe(2)
    expect(index.documentFrequency('zebra')).toBe(0)
  })
})
