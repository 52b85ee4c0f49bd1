import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wordBreaks } from './word-breaks.js'

interface BreakCase {
  readonly name: string
  readonly text: string
  readonly breaks: readonly number[]
}

/** The cases of a test file of the Unicode Character Database. */
function parseBreakTest(file: string): readonly BreakCase[] {
  const cases: BreakCase[] = []
  for (const line of file.split('\n')) {
    const name = line.split('#')[0]?.trim() ?? ''
    if (name === '') continue
    let text = ''
    const breaks: number[] = []
    for (const item of name.split(/\s+/)) {
      if (item === '÷') breaks.push(text.length)
      else if (item !== '×') text += String.fromCodePoint(Number.parseInt(item, 16))
    }
    cases.push({ name, text, breaks })
  }
  return cases
}

const fixture = new URL('../../fixtures/unicode/WordBreakTest-15.0.0.txt', import.meta.url)

/**
 * Cases whose answer a later Unicode version changed: U+2701 is Extended_Pictographic no more, so
 * that rule WB3c does not hold the joiner to it.
 */
const CHANGED_SINCE = ['÷ 2701 × 200D × 2701 ÷', '÷ 0061 × 200D × 2701 ÷']

describe('wordBreaks', () => {
  it('passes the test file of Unicode 15.0 but for what changed since', () => {
    const cases = parseBreakTest(readFileSync(fixture, 'utf8'))
    expect(cases.length).toBe(1823)
    const failed = cases.filter(({ text, breaks }) => `${wordBreaks(text)}` !== `${breaks}`)
    const isOld = /\p{Extended_Pictographic}/u.test('\u2701')
    expect(failed.map(({ name }) => name)).toEqual(isOld ? [] : CHANGED_SINCE)
  })

  it('follows what later versions of Unicode changed', () => {
    // A number sign counts as a digit, presentation forms of commas and semicolons separate.
    expect(wordBreaks('\u06dd1')).toEqual([0, 2])
    expect(wordBreaks('1\ufe101')).toEqual([0, 1, 2, 3])
    expect(wordBreaks('a\u070fb')).toEqual([0, 3])
  })

  it('finds the words of plain text', () => {
    const text = 'The quick ("brown") fox can\'t jump 32.3 feet, right?'
    const breaks = wordBreaks(text)
    const words = breaks.slice(1).map((end, i) => text.slice(breaks[i], end))
    expect(words.filter((word) => /\w/.test(word))).toEqual([
      'The',
      'quick',
      'brown',
      'fox',
      "can't",
      'jump',
      '32.3',
      'feet',
      'right',
    ])
  })

  it('cuts any text in whole characters, from its start to its end', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const breaks = wordBreaks(text)
        expect(breaks[0]).toBe(text === '' ? undefined : 0)
        expect(breaks.at(-1)).toBe(text === '' ? undefined : text.length)
        const pieces = breaks.slice(1).map((end, i) => text.slice(breaks[i], end))
        expect(pieces.join('')).toBe(text)
        expect(pieces.every((piece) => piece !== '')).toBe(true)
        expect(pieces.flatMap((piece) => [...piece])).toEqual([...text])
      }),
    )
  })
})
