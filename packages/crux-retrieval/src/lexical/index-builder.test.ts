import { type Hashes, loadHashes, openCcxf, openCcxi, tenantHash } from 'crux-segment'
import { createPauser } from 'crux-types'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { analyserOf } from '../analyser/analyser.js'
import { createIndexBuilder } from './index-builder.js'

const TARGET = { shardId: 0, segmentSeq: 7, epoch: 1 }
let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const words = fc.constantFrom(
  ...['alpha', 'beta', 'Alphas', 'x', "it's", 'größe', 'running', 'runner', 'getUserById'],
)
const texts = fc.array(
  fc.array(words, { maxLength: 30 }).map((picked) => picked.join(' ')),
  { maxLength: 12 },
)

describe('createIndexBuilder', () => {
  it.each([1, 2])(
    'gives the postings, lengths and owners of a plain count, version %i',
    (version) => {
      fc.assert(
        fc.property(texts, fc.nat(3), (given, gap) => {
          const builder = createIndexBuilder(hashes, { analyserVersion: version })
          const owner = tenantHash('acme', hashes)
          const numbered = given.map((text, i) => ({ text, docId: i * (gap + 1) }))
          for (const { text, docId } of numbered) builder.add(docId, text, owner, 4096 + docId)
          const bytes = builder.finish(TARGET)
          const indexed = numbered.filter(({ text }) => text !== '')
          expect(bytes === undefined).toBe(indexed.length === 0)
          if (bytes === undefined) return
          const reader = openCcxi(bytes, hashes)
          expect(reader.header.tokenizerVersion).toBe(version)
          const counts = new Map<string, Map<number, number>>()
          for (const { text, docId } of indexed) {
            const tokens = analyserOf(version).analyse(text)
            const isWord = ({ kind }: { kind: string }) => kind === 'word' || kind === 'part'
            expect(reader.docLength(docId)).toBe(tokens.filter(isWord).length)
            expect(reader.docTenantHash(docId)).toBe(owner)
            expect(reader.docFrameOffset(docId)).toBe(4096 + docId)
            for (const { term, isStop } of tokens) {
              if (isStop) continue
              const docs = counts.get(term) ?? new Map<number, number>()
              docs.set(docId, (docs.get(docId) ?? 0) + 1)
              counts.set(term, docs)
            }
          }
          expect(reader.vocabSize).toBe(counts.size)
          for (const [term, docs] of counts) {
            const { docIds, tfs } = reader.postings(reader.find(hashes.xxh64Text(term)))
            expect([...docIds]).toEqual([...docs.keys()])
            expect([...tfs]).toEqual([...docs.values()])
          }
        }),
      )
    },
  )

  it('gives the same bytes in slices', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (given) => {
        const whole = createIndexBuilder(hashes)
        const sliced = createIndexBuilder(hashes)
        const pause = createPauser({ sliceMs: 0 })
        for (const [docId, text] of given.entries()) {
          whole.add(docId, text, 5n, docId)
          await sliced.addInSlices(docId, text, 5n, docId, pause)
        }
        expect(await sliced.finishInSlices(TARGET, pause)).toEqual(whole.finish(TARGET))
      }),
      { numRuns: 30 },
    )
  })

  it('cuts a long text between words only', async () => {
    const text = Array.from({ length: 40_000 }, (_, i) => `word${i % 977}`).join(' ')
    const whole = createIndexBuilder(hashes)
    const sliced = createIndexBuilder(hashes)
    whole.add(0, text, 5n, 4096)
    await sliced.addInSlices(0, text, 5n, 4096, () => undefined)
    expect(sliced.finish(TARGET)).toEqual(whole.finish(TARGET))
  })

  it('counts words that share a hash as one term', () => {
    const colliding: Hashes = { ...hashes, xxh64Text: () => 42n }
    const builder = createIndexBuilder(colliding, { analyserVersion: 1 })
    builder.add(0, 'beta alpha beta', 5n, 4096)
    builder.add(2, 'alpha', 5n, 4097)
    const reader = openCcxi(builder.finish(TARGET) ?? new Uint8Array(), hashes)
    expect(reader.vocabSize).toBe(1)
    const { docIds, tfs } = reader.postings(0)
    expect([...docIds]).toEqual([0, 2])
    expect([...tfs]).toEqual([3, 1])
  })

  it('orders hashes that differ in the lower half only', () => {
    const low: Hashes = { ...hashes, xxh64Text: (text) => BigInt(1000 - text.length) }
    const builder = createIndexBuilder(low, { analyserVersion: 1 })
    builder.add(0, 'aa bbbb cccccc', 5n, 4096)
    const reader = openCcxi(builder.finish(TARGET) ?? new Uint8Array(), hashes)
    expect([0, 1, 2].map((i) => reader.termHash(i))).toEqual([994n, 996n, 998n])
  })

  it('stores at most 65,535 tokens and occurrences', () => {
    const builder = createIndexBuilder(hashes)
    builder.add(0, 'slice '.repeat(70_000), 5n, 4096)
    const reader = openCcxi(builder.finish(TARGET) ?? new Uint8Array(), hashes)
    expect(reader.docLength(0)).toBe(65_535)
    expect([...reader.postings(0).tfs]).toEqual([65_535])
  })

  it('refuses documents out of order and work after the end', () => {
    const builder = createIndexBuilder(hashes)
    builder.add(3, 'one', 5n, 4096)
    expect(() => builder.add(3, 'two', 5n, 4097)).toThrow(
      expect.objectContaining({ code: 'INDEX_DOC_ORDER' }),
    )
    expect(builder.docs).toBe(1)
    builder.finish(TARGET)
    expect(() => builder.add(4, 'two', 5n, 4097)).toThrow(
      expect.objectContaining({ code: 'INDEX_FINISHED' }),
    )
    expect(() => builder.finish(TARGET)).toThrow(
      expect.objectContaining({ code: 'INDEX_FINISHED' }),
    )
  })
  it.each([1, 2])('gives the words of documents in order, version %i', async (analyserVersion) => {
    const builder = createIndexBuilder(hashes, { analyserVersion, words: true })
    builder.add(1, 'The cat sat, and the_cat sat', 5n, 4096)
    await builder.addInSlices(3, 'Cats', 5n, 4100, () => undefined)
    const files = await builder.finishWithWordsInSlices(TARGET, () => undefined)
    const forward = await openCcxf(files?.ccxf ?? new Uint8Array(), hashes)
    const read = (doc: number): string[] => {
      const numbers = new Uint32Array(forward.wordCount(doc))
      forward.readWords(doc, numbers)
      return [...numbers].map((number) => forward.string(number))
    }
    expect(read(1).join(' ')).toBe('the cat sat and the cat sat')
    expect([read(0), read(2), read(3)]).toEqual([[], [], ['cat']])
    const terms = openCcxi(files?.ccxi ?? new Uint8Array(), hashes)
    expect(terms.find(hashes.xxh64Text('cat'))).toBe(
      [...Array(forward.terms).keys()].findIndex((i) => forward.string(i) === 'cat'),
    )
  })

  it('gives words only where they are kept', () => {
    const builder = createIndexBuilder(hashes)
    builder.add(0, 'one', 5n, 4096)
    expect(() => builder.finishWithWords(TARGET)).toThrow(
      expect.objectContaining({ code: 'INDEX_WITHOUT_WORDS' }),
    )
    expect(builder.finish(TARGET)).toBeDefined()
  })

  it('refuses numbers that the index has no room for', () => {
    const builder = createIndexBuilder(hashes)
    expect(() => builder.add(2 ** 32 - 1, 'one', 5n, 0)).toThrow(RangeError)
    expect(() => builder.add(0.5, 'one', 5n, 0)).toThrow(RangeError)
    expect(() => builder.add(0, 'one', 5n, 2 ** 32)).toThrow(RangeError)
  })

  it('refuses an analyser that is not here', () => {
    expect(() => createIndexBuilder(hashes, { analyserVersion: 3 })).toThrow(
      expect.objectContaining({ code: 'ANALYSER_UNKNOWN' }),
    )
  })
})
