import { type CcxiReader, type Hashes, loadHashes, openCcxi } from 'crux-segment'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type PlainDoc, type PlainSegment, plainCcxi, plainIndex } from '../testing/plain-index.js'
import { createLexicalIndex } from './lexical-index.js'
import type { LexicalIndex } from './lexical-types.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const acme = (...texts: string[]): PlainDoc[] => texts.map((text) => ({ text, tenant: 'acme' }))
const ccxi = (docs: PlainSegment) => plainCcxi(docs, 2, hashes) ?? new Uint8Array()
const find = (index: LexicalIndex, query: string, tenant = 'acme') =>
  index.searchNow({ query, tenant, limit: 100 })
const places = (index: LexicalIndex, query: string) =>
  find(index, query).hits.map(({ segment, docId }) => `${segment}:${docId}`)

/** A reader that counts the lists it decodes. */
function counting(reader: CcxiReader): { reader: CcxiReader; decoded: () => number } {
  let decoded = 0
  const counted: CcxiReader = Object.create(reader, {
    decodeInto: {
      value: (...args: Parameters<CcxiReader['decodeInto']>) => {
        decoded += 1
        return reader.decodeInto(...args)
      },
    },
  })
  return { reader: counted, decoded: () => decoded }
}

const WORDS = ['alpha', 'beta', 'gamma', 'delta']
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 })
const doc = fc.record({
  text: text.map((words) => words.join(' ')),
  tenant: fc.constantFrom('acme', 'acme', 'globex'),
})
const docs = fc.array(doc, { minLength: 1, maxLength: 40 })
const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), docs }) },
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(9) }),
  fc.record({ kind: fc.constant('hide' as const), at: fc.nat(9), docId: fc.nat(39) }),
  fc.record({
    kind: fc.constant('replace' as const),
    from: fc.nat(9),
    count: fc.nat(3),
    docs,
    hidden: fc.array(fc.nat(39), { maxLength: 5 }),
  }),
)

interface ModelSegment {
  readonly key: string
  readonly docs: PlainSegment
  readonly hidden: ReadonlySet<number>
}

describe('a changed index', () => {
  it('answers as one made anew, whatever was decoded before', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), fc.boolean(), (changes, isPruned) => {
        const options = isPruned ? { pruneFrom: 0 } : {}
        const index = createLexicalIndex(hashes, options)
        let model: ModelSegment[] = []
        for (const [n, each] of changes.entries()) {
          const key = `k${n}`
          if (each.kind === 'add') {
            index.addSegment(key, ccxi(each.docs))
            model.push({ key, docs: each.docs, hidden: new Set() })
          } else if (each.kind === 'remove') {
            const gone = model[each.at]
            if (gone === undefined) continue
            index.removeSegment(gone.key)
            model = model.filter((segment) => segment !== gone)
          } else if (each.kind === 'hide') {
            const changed = model[each.at]
            if (changed === undefined) continue
            index.hide(changed.key, [each.docId])
            const hidden = new Set([...changed.hidden, each.docId])
            model = model.map((segment) => (segment === changed ? { ...segment, hidden } : segment))
          } else {
            const gone = model.slice(each.from, each.from + each.count)
            const added = { key, docs: each.docs, hidden: new Set(each.hidden) }
            index.replaceSegments(
              gone.map((segment) => segment.key),
              [{ key, ccxi: ccxi(each.docs), hidden: each.hidden }],
            )
            if (gone.length === 0) model.push(added)
            else model.splice(each.from, each.count, added)
          }
          const anew = createLexicalIndex(hashes, options)
          for (const segment of model) {
            anew.replaceSegments(
              [],
              [{ key: segment.key, ccxi: ccxi(segment.docs), hidden: segment.hidden }],
            )
          }
          for (const tenant of ['acme', 'globex']) {
            expect(find(index, 'alpha beta', tenant)).toEqual(find(anew, 'alpha beta', tenant))
          }
          // Not asked for after each change, so that its list skips some.
          if (n % 3 === 2) expect(find(index, 'gamma')).toEqual(find(anew, 'gamma'))
        }
      }),
      { numRuns: 120 },
    )
  })

  it('decodes only what was added, and nothing when documents are hidden', () => {
    const old = counting(openCcxi(ccxi(acme('alpha beta', 'alpha', 'beta')), hashes))
    const more = counting(openCcxi(ccxi(acme('alpha gamma')), hashes))
    const index = createLexicalIndex(hashes)
    index.addSegment('old', old.reader)
    expect(places(index, 'alpha')).toHaveLength(2)
    expect(old.decoded()).toBe(1)
    index.addSegment('more', more.reader)
    expect(places(index, 'alpha')).toHaveLength(3)
    index.hide('old', [1])
    expect(places(index, 'alpha')).toEqual(['old:0', 'more:0'])
    index.replaceSegments(['more'], [{ key: 'new', ccxi: ccxi(acme('alpha')) }])
    expect(places(index, 'alpha')).toEqual(['new:0', 'old:0'])
    expect([old.decoded(), more.decoded()]).toEqual([1, 1])
  })

  it('lets searches that are running end on what they started with', async () => {
    const many = acme(...Array.from({ length: 3000 }, (_, i) => `alpha beta${i % 7} gamma${i % 5}`))
    const index = plainIndex([many, many], 2, hashes, { pruneFrom: 0 })
    const query = { query: 'alpha beta1 gamma2', tenant: 'acme', limit: 20 }
    const before = plainIndex([many, many], 2, hashes).searchNow(query)
    const first = index.search(query)
    index.addSegment('s9', ccxi(many))
    const second = index.search(query)
    index.removeSegment('s0')
    const third = index.search(query)
    expect(await first).toEqual(before)
    expect((await second).totalCandidates).toBe(9000)
    expect((await third).totalCandidates).toBe(6000)
    expect(index.searchNow(query).totalCandidates).toBe(6000)
  })
})

describe('replaceSegments', () => {
  it('puts the new ones where the first of the old ones stood', async () => {
    const index = plainIndex([acme('alpha'), acme('alpha'), acme('alpha')], 2, hashes)
    const add = [
      { key: 'x', ccxi: ccxi(acme('alpha', 'alpha')), hidden: [0] },
      { key: 'y', ccxi: ccxi(acme('alpha')) },
    ]
    await index.replaceSegmentsInSlices(['s2', 's1', 'absent'], add, () => undefined)
    expect(places(index, 'alpha')).toEqual(['s0:0', 'x:1', 'y:0'])
    index.replaceSegments(['absent'], [{ key: 'z', ccxi: ccxi(acme('alpha')) }])
    index.replaceSegments(['x'], [])
    expect(places(index, 'alpha')).toEqual(['s0:0', 'y:0', 'z:0'])
    expect(index.stats()).toMatchObject({ segments: 3, docs: 3 })
  })

  it('takes a key again that it takes out, and refuses one that stays', () => {
    const index = plainIndex([acme('alpha'), acme('beta')], 2, hashes)
    index.replaceSegments(['s0'], [{ key: 's0', ccxi: ccxi(acme('gamma')) }])
    expect(places(index, 'gamma')).toEqual(['s0:0'])
    expect(places(index, 'alpha')).toEqual([])
    const twice = { key: 't', ccxi: ccxi(acme('alpha')) }
    for (const add of [[{ key: 's1', ccxi: ccxi(acme('alpha')) }], [twice, twice]]) {
      expect(() => index.replaceSegments(['s0'], add)).toThrow(
        expect.objectContaining({ code: 'INDEX_DUPLICATE_SEGMENT' }),
      )
    }
    expect(places(index, 'gamma')).toEqual(['s0:0'])
  })
})

describe('limits', () => {
  it('give the first of the same ranking, however many are asked for', () => {
    const size = fc.integer({ min: 1, max: 40 })
    const sizes = fc.array(size, { minLength: 40, maxLength: 200 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 30, max: 120 }), (lengths, limit) => {
        const index = createLexicalIndex(hashes)
        const texts = lengths.map((length) => `alpha beta ${'filler '.repeat(length)}`)
        index.addSegment('s', ccxi(acme(...texts)))
        const search = (most: number) =>
          index.searchNow({ query: 'alpha beta', tenant: 'acme', limit: most })
        const all = search(1000)
        expect(all.hits).toHaveLength(lengths.length)
        expect(search(limit)).toEqual({ ...all, hits: all.hits.slice(0, limit) })
        // Few enough not to look at how high scores are.
        expect(search(7).hits).toEqual(all.hits.slice(0, 7))
      }),
      { numRuns: 60 },
    )
  })
})
