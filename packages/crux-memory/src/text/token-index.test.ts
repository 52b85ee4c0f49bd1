import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PostingLists } from './posting-lists.js'
import { RowSet } from './row-set.js'
import { TokenIndex } from './token-index.js'
import { termsOf, whiteSpaceAt } from './white-space.js'

const noPause = (): undefined => undefined

async function indexOf(texts: readonly string[]): Promise<TokenIndex> {
  const index = new TokenIndex()
  for (const [row, text] of texts.entries()) {
    const bytes = Buffer.from(text)
    await index.add(row, bytes, 0, bytes.length, noPause)
  }
  return index
}

async function rowsOf(index: TokenIndex, term: string): Promise<number[]> {
  const rows = new Set<number>()
  await index.match(term, (row) => rows.add(row), noPause)
  return [...rows].sort((a, b) => a - b)
}

const scan = (texts: readonly string[], term: string): number[] =>
  [...texts.keys()].filter((row) => texts[row]?.toLowerCase().includes(term))

const wellFormed = (text: string): boolean => Buffer.from(text).toString() === text

describe('TokenIndex', () => {
  it('finds the rows that hold a term as a substring', async () => {
    const texts = ['Deploy now', 'redeployed', 'DEPLOY', 'dep loy', '']
    const index = await indexOf(texts)
    expect(await rowsOf(index, 'deploy')).toEqual([0, 1, 2])
    expect(await rowsOf(index, 'd')).toEqual([0, 1, 2, 3])
    expect(await rowsOf(index, 'lo')).toEqual([0, 1, 2, 3])
    expect(await rowsOf(index, 'loy')).toEqual([0, 1, 2, 3])
    expect(await rowsOf(index, 'nowhere')).toEqual([])
  })

  it('equals a scan for any text and any piece of it', async () => {
    const alphabet = fc.constantFrom(
      'a',
      'b',
      'A',
      'ß',
      'Σ',
      'İ',
      '部',
      '署',
      '😀',
      ' ',
      '\n',
      '\u3000',
      '\u0085',
      '\u0000',
    )
    const text = fc.oneof(
      fc.string({ unit: alphabet, maxLength: 20 }),
      fc.string({ unit: 'grapheme', maxLength: 8 }).filter(wellFormed),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 12 }),
        fc.array(text, { maxLength: 4 }),
        async (texts, more) => {
          const index = await indexOf(texts)
          // Terms as a query makes them, and pieces of the texts themselves.
          const pieces = texts.map((each) => [...each].slice(1, 4).join(''))
          for (const term of [...more, ...pieces].flatMap(termsOf)) {
            expect(await rowsOf(index, term)).toEqual(scan(texts, term))
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('looks through tokens that are too long for grams', async () => {
    const long = `${'ab'.repeat(5000)}Needle${'cd'.repeat(5000)}`
    const texts = [long, `x ${long} y`, 'needle', 'ab']
    const index = await indexOf(texts)
    for (const term of ['needle', 'bneed', 'ec', 'zz', 'abab']) {
      expect(await rowsOf(index, term)).toEqual(scan(texts, term))
    }
  })

  it('keeps long lists of rows whole', async () => {
    const texts = Array.from({ length: 20_000 }, (_, i) => (i % 3 === 0 ? 'common word' : `n${i}`))
    const index = await indexOf(texts)
    expect(await rowsOf(index, 'common')).toEqual(scan(texts, 'common'))
    expect(await rowsOf(index, 'n1999')).toEqual(scan(texts, 'n1999'))
  })
})

describe('PostingLists', () => {
  it('gives back what was appended, each number once', () => {
    const list = fc.array(fc.nat(2 ** 30), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 8 }), (lists) => {
        const postings = new PostingLists()
        const sorted = lists.map((numbers) => [...numbers].sort((a, b) => a - b))
        const longest = Math.max(...sorted.map(({ length }) => length))
        for (const numbers of sorted) postings.add(numbers[0] ?? 0)
        for (let i = 1; i < longest; i++) {
          for (const [number, numbers] of sorted.entries()) {
            const value = numbers[i]
            if (value !== undefined) postings.append(number, value)
          }
        }
        const cursor = postings.cursor()
        for (const [number, numbers] of sorted.entries()) {
          const expected = [...new Set(numbers)]
          expect(postings.count(number)).toBe(expected.length)
          cursor.reset(number)
          expect(expected.map(() => cursor.next())).toEqual(expected)
          expect(cursor.next()).toBe(-1)
        }
      }),
    )
  })
})

describe('RowSet', () => {
  it('gives back its rows from the largest down', () => {
    fc.assert(
      fc.property(fc.nat(200), fc.array(fc.nat(220)), (limit, rows) => {
        const set = new RowSet(limit)
        for (const row of rows) set.add(row)
        const found: number[] = []
        for (let row = set.previous(limit); row !== -1; row = set.previous(row)) found.push(row)
        const expected = [...new Set(rows)].filter((row) => row < limit).sort((a, b) => b - a)
        expect(found).toEqual(expected)
        for (let row = 0; row < 230; row++) expect(set.has(row)).toBe(expected.includes(row))
      }),
    )
  })
})

describe('whiteSpaceAt', () => {
  it('knows exactly the characters of the property White_Space', () => {
    const wrong: string[] = []
    for (let code = 0; code <= 0x10ffff; code += code < 0x3100 ? 1 : 97) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const text = String.fromCodePoint(code)
      const bytes = Buffer.from(text)
      const isWhite = /^\p{White_Space}$/u.test(text)
      const length = whiteSpaceAt(bytes, 0, bytes.length)
      const isGap = termsOf(`a${text}b`).length === 2
      if (length !== (isWhite ? bytes.length : 0) || isGap !== isWhite)
        wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
  })

  it('reads nothing beyond the end', () => {
    const bytes = Buffer.from('a\u3000')
    expect(whiteSpaceAt(bytes, 1, 3)).toBe(0)
    expect(whiteSpaceAt(Buffer.from([0xc2]), 0, 1)).toBe(0)
  })
})
