import { type Hashes, loadHashes, tenantHash } from 'crux-segment'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { analyse } from '../analyser/analyse.js'
import { analyserOf, DEFAULT_ANALYSER_VERSION } from '../analyser/analyser.js'
import { type PlainDoc, type PlainSegment, plainCcxi, plainIndex } from '../testing/plain-index.js'
import { createLexicalIndex } from './lexical-index.js'
import type { LexicalIndex } from './lexical-types.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'the', 'of', "rock'n'roll", 'größe', 'x']
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((w) => w.join(' '))
const doc = fc.record({ text, tenant: fc.constantFrom('acme', 'acme', 'globex') })
const corpora = fc.array(fc.array(doc, { maxLength: 8 }), { maxLength: 5 })
const queries = fc
  .array(fc.constantFrom(...WORDS, 'zzzz'), { maxLength: 6 })
  .map((picked) => picked.join(' '))

const bytesOf = (docs: PlainSegment) => plainCcxi(docs, 1, hashes)

const indexOf = (...segments: readonly PlainSegment[]) => plainIndex(segments, 1, hashes)

const acme = (...texts: string[]): PlainDoc[] =>
  texts.map((each) => ({ text: each, tenant: 'acme' }))

const find = (
  index: LexicalIndex,
  query: string,
  rest: { limit?: number; minScore?: number } = {},
) => index.searchNow({ query, tenant: 'acme', limit: 100, ...rest })

const defaultWords = (query: string) =>
  analyserOf(DEFAULT_ANALYSER_VERSION)
    .analyse(query)
    .filter(({ isStop, kind }) => !isStop && (kind === 'word' || kind === 'part'))

/** BM25 by the textbook over documents that can be found: one scan, no index. */
function scan(
  index: LexicalIndex,
  segments: readonly PlainSegment[],
  query: string,
  tenant: string,
) {
  const all = segments.flatMap((docs, s) =>
    docs.flatMap((each, docId) =>
      each === undefined || each.text === ''
        ? []
        : [{ segment: `s${s}`, docId, ...each, terms: analyse(each.text).map(({ term }) => term) }],
    ),
  )
  const meanLength = all.reduce((sum, { terms }) => sum + terms.length, 0) / all.length
  // An index without segments counts the words of the default analyser.
  const tokens = index.stats().segments > 0 ? analyse(query) : defaultWords(query)
  const dfOf = (term: string) => all.filter(({ terms }) => terms.includes(term)).length
  const missing = tokens.filter(({ term }) => dfOf(term) === 0)
  const hits = all
    .filter((each) => each.tenant === tenant)
    .map(({ segment, docId, terms }) => {
      let score = 0
      for (const { term } of tokens) {
        const tf = terms.filter((each) => each === term).length
        const df = dfOf(term)
        const idf = Math.log((all.length - df + 0.5) / (df + 0.5) + 1)
        const norm = 1.2 * (0.25 + (0.75 * terms.length) / meanLength)
        if (tf > 0) score += idf * ((tf * 2.2) / (tf + norm))
      }
      return { segment, docId, score }
    })
    .filter(({ score }) => score > 0)
  return {
    hits,
    missing: missing.map(({ start, end }) => query.slice(start, end)),
    coverage: tokens.length === 0 ? 0 : (tokens.length - missing.length) / tokens.length,
  }
}

/** Double precision in another order of additions. */
const TOLERANCE = 1e-12

function expectSameAsScan(
  index: LexicalIndex,
  segments: readonly PlainSegment[],
  query: string,
): void {
  for (const tenant of ['acme', 'globex', 'nobody']) {
    const answer = index.searchNow({ query, tenant, limit: 1000 })
    const expected = scan(index, segments, query, tenant)
    expect(answer.totalCandidates).toBe(expected.hits.length)
    expect(answer.hits).toHaveLength(expected.hits.length)
    expect(answer.coverage.missingTokens).toEqual(expected.missing)
    expect(answer.coverage.score).toBeCloseTo(expected.coverage, 12)
    for (const [i, hit] of answer.hits.entries()) {
      const same = expected.hits.find(
        ({ segment, docId }) => segment === hit.segment && docId === hit.docId,
      )
      expect(Math.abs(hit.score - (same?.score ?? 0))).toBeLessThan(TOLERANCE)
      const before = answer.hits[i - 1]
      if (before !== undefined) expect(before.score).toBeGreaterThanOrEqual(hit.score)
    }
  }
}

describe('createLexicalIndex', () => {
  it('ranks like a plain scan (RET-11.4-bm25-sum)', () => {
    fc.assert(
      fc.property(corpora, queries, (segments, query) => {
        expectSameAsScan(indexOf(...segments), segments, query)
      }),
      { numRuns: 200 },
    )
  })

  it('adds up idf times term weight over the tokens (RET-11.4-bm25-sum)', () => {
    const index = indexOf(acme('alpha alpha beta', 'gamma delta delta', 'gamma gamma delta'))
    const alone = find(index, 'alpha').hits[0]?.score ?? 0
    expect(Math.abs(alone - 1.34864)).toBeLessThan(1e-4)
    const beta = find(index, 'beta').hits[0]?.score ?? 0
    expect(find(index, 'alpha beta').hits[0]?.score).toBeCloseTo(alone + beta, 5)
    expect(find(index, 'alpha alpha').hits[0]?.score).toBeCloseTo(2 * alone, 5)
  })

  it('scores alike however documents are split into segments (RET-11.4-bm25-df-global)', () => {
    fc.assert(
      fc.property(fc.array(doc, { maxLength: 20 }), queries, fc.nat(19), (docs, query, cut) => {
        const whole = find(indexOf(docs), query)
        const parts = find(indexOf(docs.slice(0, cut), docs.slice(cut)), query)
        const place = (segment: string, docId: number) => (segment === 's1' ? docId + cut : docId)
        expect(parts.hits.map((hit) => [place(hit.segment, hit.docId), hit.score])).toEqual(
          whole.hits.map((hit) => [hit.docId, hit.score]),
        )
        expect(parts.coverage).toEqual(whole.coverage)
      }),
    )
  })

  it('breaks ties by segment, then document', () => {
    const index = indexOf(acme('alpha beta', 'alpha beta'), acme('alpha beta', 'alpha beta'))
    const order = (limit: number) =>
      find(index, 'alpha', { limit }).hits.map(({ segment, docId }) => `${segment}:${docId}`)
    expect(order(10)).toEqual(['s0:0', 's0:1', 's1:0', 's1:1'])
    expect(order(3)).toEqual(['s0:0', 's0:1', 's1:0'])
  })

  it('gives a document its length and place', () => {
    const index = indexOf([undefined, ...acme('alpha beta gamma')])
    expect(find(index, 'beta').hits).toMatchObject([
      { segment: 's0', docId: 1, docLength: 3, frameOffset: 4097 },
    ])
    expect(index.findDoc('s0', 1)).toEqual({
      docLength: 3,
      frameOffset: 4097,
      tenantHash: tenantHash('acme', hashes),
    })
    expect(index.findDoc('s0', 0)).toBeUndefined()
    expect(index.findDoc('s0', 2)).toBeUndefined()
    expect(index.findDoc('s1', 0)).toBeUndefined()
  })

  it('keeps tenants apart whose hashes share the low 16 bits (RET-11.4-bm25-tenant)', () => {
    const low16 = (name: string) => tenantHash(name, hashes) & 0xffffn
    const byLow = new Map<bigint, string>()
    let pair: readonly [string, string] | undefined
    for (let i = 0; pair === undefined; i++) {
      const name = `tenant-${i}`
      const other = byLow.get(low16(name))
      if (other !== undefined) pair = [other, name]
      byLow.set(low16(name), name)
    }
    const [one, other] = pair
    expect(low16(one)).toBe(low16(other))
    const index = indexOf([
      { text: 'alpha one', tenant: one },
      { text: 'alpha other', tenant: other },
    ])
    const foundBy = (tenant: string) =>
      index.searchNow({ query: 'alpha', tenant, limit: 10 }).hits.map(({ docId }) => docId)
    expect(foundBy(one)).toEqual([0])
    expect(foundBy(other)).toEqual([1])
    expect(foundBy('nobody')).toEqual([])
  })

  it('counts documents of all tenants as one corpus', () => {
    const mixed = indexOf([...acme('alpha beta'), { text: 'alpha gamma', tenant: 'globex' }])
    const alone = indexOf(acme('alpha beta'))
    expect(find(mixed, 'beta').hits[0]?.score).toBeGreaterThan(
      find(alone, 'beta').hits[0]?.score ?? 0,
    )
    // A word that only another tenant's document holds is no gap of the corpus.
    expect(find(mixed, 'gamma')).toMatchObject({
      hits: [],
      totalCandidates: 0,
      coverage: { score: 1, missingTokens: [] },
    })
  })
})

describe('coverage', () => {
  it('is the share of tokens that any segment holds (RET-11.4-coverage-score)', () => {
    const index = indexOf(acme('alpha beta'), acme('gamma'))
    expect(find(index, 'alpha beta gamma zzzz').coverage.score).toBe(0.75)
    expect(find(index, 'zzzz').coverage.score).toBe(0)
  })

  it('names the words that no document holds (RET-11.4-coverage-missing)', () => {
    const index = indexOf(acme('alpha beta'))
    expect(find(index, 'alpha zzzz').coverage.missingTokens).toEqual(['zzzz'])
    expect(find(index, 'Zzzz! alpha, ZZZZ').coverage.missingTokens).toEqual(['Zzzz', 'ZZZZ'])
  })

  it('names exactly the words whose tokens missed (RET-11.4-coverage-positional)', () => {
    const index = indexOf(acme("we play rock'n'roll"))
    const answer = find(index, "rock'n'roll zzzz")
    expect(answer.coverage.missingTokens).toEqual(['zzzz'])
    // Cutting at the apostrophe would name the second of four pieces instead.
    expect(find(index, "rock'n'blues played").coverage.missingTokens).toEqual(["rock'n'blues"])
  })

  it('scores by the tokens of the analyser (RET-11.4-coverage-score-reliable)', () => {
    const index = indexOf(acme("we play rock'n'roll"))
    expect(find(index, "rock'n'roll zzzz").coverage.score).toBe(0.5)
  })

  it('counts the documents that a floor leaves out (RET-11.4-coverage-floor)', () => {
    const index = indexOf(
      acme('alpha', 'alpha x1', 'alpha x1 x2', 'alpha x1 x2 x3', 'alpha x1 x2 x3 x4'),
    )
    const all = find(index, 'alpha')
    const [, second = { score: 0 }, third = { score: 0 }] = all.hits
    const minScore = (second.score + third.score) / 2
    const answer = find(index, 'alpha', { minScore })
    expect(answer.hits).toEqual(all.hits.slice(0, 2))
    expect(answer.coverage.belowFloor).toBe(3)
    expect(answer.totalCandidates).toBe(5)
    // A document exactly at the floor stays.
    expect(find(index, 'alpha', { minScore: second.score }).coverage.belowFloor).toBe(3)
    // The limit comes after the floor.
    const cut = find(index, 'alpha', { minScore, limit: 1 })
    expect(cut.hits).toHaveLength(1)
    expect(cut.coverage.belowFloor).toBe(3)
  })

  it('leaves nothing out without a floor (RET-11.4-coverage-floor-zero)', () => {
    const answer = find(indexOf(acme('alpha', 'alpha beta')), 'alpha', { limit: 1 })
    expect(answer.coverage.belowFloor).toBe(0)
    expect(answer.totalCandidates).toBe(2)
  })

  it('is nothing for a query without tokens or an empty index', () => {
    const nothing = { hits: [], totalCandidates: 0 }
    expect(find(indexOf(acme('alpha')), ' - a ? ')).toEqual({
      ...nothing,
      coverage: { score: 0, missingTokens: [], belowFloor: 0 },
      onlyStopWords: false,
    })
    expect(find(indexOf(), 'alpha')).toEqual({
      ...nothing,
      onlyStopWords: false,
      coverage: { score: 0, missingTokens: ['alpha'], belowFloor: 0 },
    })
  })
})

describe('changes', () => {
  it('answers after any changes as an index made anew, and hidden as never added', () => {
    const change = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        docs: fc.array(doc, { minLength: 1, maxLength: 6 }),
      }),
      fc.record({ do: fc.constant('remove' as const), at: fc.nat(5) }),
      fc.record({ do: fc.constant('hide' as const), at: fc.nat(5), docId: fc.nat(6) }),
      fc.record({ do: fc.constant('search' as const), query: queries }),
    )
    fc.assert(
      fc.property(fc.array(change, { maxLength: 15 }), queries, (changes, query) => {
        const index = createLexicalIndex(hashes, { maxPostingBytes: 2000 })
        const model: (PlainDoc | undefined)[][] = []
        for (const each of changes) {
          if (each.do === 'add') {
            const bytes = bytesOf(each.docs)
            if (bytes !== undefined) index.addSegment(`s${model.length}`, bytes)
            model.push(each.docs)
          } else if (each.do === 'remove') {
            index.removeSegment(`s${each.at}`)
            if (model[each.at] !== undefined) model[each.at] = []
          } else if (each.do === 'hide') {
            const docs = model[each.at]
            if (docs === undefined || !docs.some((d) => d !== undefined && d.text !== '')) continue
            if (docs.every((d) => d === undefined)) continue
            index.hide(`s${each.at}`, [each.docId])
            model[each.at] = docs.map((d, i) => (i === each.docId ? undefined : d))
          } else {
            expectSameAsScan(index, model, each.query)
          }
        }
        expectSameAsScan(index, model, query)
      }),
      { numRuns: 150 },
    )
  })

  it('hides a document from hits, statistics and coverage', () => {
    const index = indexOf(acme('alpha beta', 'alpha gamma', 'delta'))
    index.hide('s0', [1, 1, 99, -1])
    expect(index.stats()).toMatchObject({ segments: 1, docs: 2, tokens: 3 })
    expect(find(index, 'gamma').coverage).toMatchObject({ score: 0, missingTokens: ['gamma'] })
    expect(find(index, 'alpha').hits.map(({ docId }) => docId)).toEqual([0])
    expect(index.findDoc('s0', 1)).toBeUndefined()
  })

  it('refuses a key twice and an unknown key', () => {
    const index = indexOf(acme('alpha'))
    const bytes = bytesOf(acme('beta')) ?? new Uint8Array()
    expect(() => index.addSegment('s0', bytes)).toThrow(
      expect.objectContaining({ code: 'INDEX_DUPLICATE_SEGMENT' }),
    )
    expect(() => index.hide('s9', [0])).toThrow(
      expect.objectContaining({ code: 'INDEX_UNKNOWN_SEGMENT' }),
    )
    expect(index.removeSegment('s9')).toBe(false)
    expect(index.removeSegment('s0')).toBe(true)
    index.addSegment('s0', bytes)
    expect(find(index, 'beta').hits).toHaveLength(1)
  })

  it('refuses damaged bytes and stays as it was', () => {
    const index = indexOf(acme('alpha'))
    const bytes = bytesOf(acme('beta gamma')) ?? new Uint8Array()
    bytes[260] = (bytes[260] ?? 0) ^ 1
    expect(() => index.addSegment('bad', bytes)).toThrow(
      expect.objectContaining({ code: 'HASH_MISMATCH' }),
    )
    expect(index.stats().segments).toBe(1)
    expect(find(index, 'alpha').hits).toHaveLength(1)
  })
})

describe('search', () => {
  it('gives the answer of searchNow, whatever happens meanwhile', async () => {
    const many = Array.from({ length: 3000 }, (_, i) => `alpha word${i % 50} beta${i % 7}`)
    const index = indexOf(acme(...many), acme(...many), acme('alpha only'))
    const query = { query: 'alpha word7 beta3 zzzz', tenant: 'acme', limit: 20 }
    const now = index.searchNow(query)
    index.hide('s2', []) // what was decoded is dropped
    const running = [index.search(query), index.search(query)]
    index.removeSegment('s0')
    expect(await running[0]).toEqual(now)
    expect(await running[1]).toEqual(now)
    expect((await index.search(query)).totalCandidates).toBeLessThan(now.totalCandidates)
  })

  it('stops when told to and answers the next query right', async () => {
    const index = indexOf(acme('alpha beta', 'alpha'))
    const query = { query: 'alpha beta', tenant: 'acme', limit: 5 }
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(index.search(query, { signal })).rejects.toThrow('stop')
    expect(await index.search(query)).toEqual(index.searchNow(query))
    expect(index.searchNow(query).hits).toHaveLength(2)
  })

  it('keeps decoded postings within the bound', () => {
    const index = createLexicalIndex(hashes, { maxPostingBytes: 5000 })
    const texts = Array.from({ length: 60 }, (_, i) => `common rare${i}`)
    index.addSegment('s0', bytesOf(acme(...texts)) ?? new Uint8Array())
    for (let i = 0; i < 60; i++) {
      expect(find(index, `common rare${i}`).hits[0]?.docId).toBe(i)
      expect(index.stats().postingBytes).toBeLessThanOrEqual(5000)
    }
    expect(index.stats().postingBytes).toBeGreaterThan(0)
  })
})
