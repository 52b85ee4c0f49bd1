import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { polarityOf } from './polarity.js'

const POSITIVE =
  'true yes y on enabled enable active complete completed passed pass approved approve present'
const NEGATIVE =
  'false no n off disabled disable inactive blocked failed fail rejected reject absent'

describe('polarityOf', () => {
  it('knows the words for yes and no, in any letter case and between punctuation', () => {
    for (const word of POSITIVE.split(' ')) {
      expect(polarityOf(word)).toBe('positive')
      expect(polarityOf(`  "${word.toUpperCase()}!" `)).toBe('positive')
    }
    for (const word of NEGATIVE.split(' ')) {
      expect(polarityOf(word)).toBe('negative')
      expect(polarityOf(`(${word}).`)).toBe('negative')
    }
  })

  it.each([
    '',
    ' ',
    '...',
    'yes no',
    'yes, it is',
    'not true',
    '_yes',
    'yes_',
    'ja',
    '1',
    '部',
    'disabledx',
    'disabled\u{10000}',
    'é yes',
  ])('has no opinion of %j', (value) => expect(polarityOf(value)).toBeUndefined())

  it('takes a value apart as trimming letter by letter does', () => {
    const inside = /[\p{Alphabetic}\p{N}_]/u
    const plain = (value: string) => {
      let letters = [...value]
      while (letters[0] !== undefined && !inside.test(letters[0])) letters = letters.slice(1)
      for (let last = letters.at(-1); last !== undefined && !inside.test(last); ) {
        letters = letters.slice(0, -1)
        last = letters.at(-1)
      }
      const word = letters.join('').toLowerCase()
      if (POSITIVE.split(' ').includes(word)) return 'positive'
      return NEGATIVE.split(' ').includes(word) ? 'negative' : undefined
    }
    const piece = fc.oneof(
      fc.constantFrom(...`${POSITIVE} ${NEGATIVE}`.split(' ')),
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.constantFrom('.', ' ', '!', '_', '-'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const value = pieces.join('')
        expect(polarityOf(value)).toBe(plain(value))
      }),
      { numRuns: 500 },
    )
  })
})
