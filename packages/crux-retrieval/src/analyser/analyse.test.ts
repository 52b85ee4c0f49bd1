import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyse } from './analyse.js'
import { stem } from './stem.js'

const terms = (text: string): string[] => analyse(text).map(({ term }) => term)
const stemOf = (word: string): string => stem(word, Buffer.byteLength(word))

/** Texts with what matters: cases, apostrophes, endings, other scripts, pairs and halves of surrogates. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(' ', '-', "'", '.', '_', '\n', 'é', 'ß', 'İ', '東', '𝒳', '😀', '\ud800', '١'),
      fc.constantFrom('s', 'ies', 'ied', 'ness', 'sses', 'ment', 'ing', 'tion', 'able', 'ly', 'ed'),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
      fc.stringMatching(/^[a-zA-Z]{1,6}$/),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''))

describe('analyse', () => {
  it('cuts at everything but letters, digits and apostrophes', () => {
    expect(terms("Rock'n'roll-music, zzzz_42!")).toEqual(["rock'n'roll", 'music', 'zzzz', '42'])
  })

  it('leaves out words of one byte and keeps a single wide character', () => {
    expect(terms("a I 7 ' é 東")).toEqual(['é', '東'])
  })

  it('lower-cases ASCII letters only', () => {
    expect(terms('HELLO ÀBC')).toEqual(['hello', 'Àbc'])
  })

  it('has no stop words', () => {
    expect(terms('the of and')).toEqual(['the', 'of', 'and'])
  })

  it('says where each word stands in the text', () => {
    const text = "  Slices'  borrowed, 𝒳𝒴 mutably"
    const words = analyse(text).map(({ start, end }) => text.slice(start, end))
    expect(words).toEqual(["Slices'", 'borrowed', '𝒳𝒴', 'mutably'])
  })

  it('agrees with a plain reading of the rules', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(analyse(text)).toEqual(plainAnalyse(text))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('stem', () => {
  it('takes off or replaces one ending', () => {
    const stems = {
      running: 'runn',
      policies: 'polici',
      applied: 'appli',
      passes: 'pass',
      happiness: 'happi',
      payment: 'pay',
      nation: 'nat',
      creation: 'creat',
      readable: 'read',
      possible: 'poss',
      helpful: 'help',
      famous: 'fam',
      massive: 'mass',
      quickly: 'quick',
      walked: 'walk',
      tower: 'tow',
      boxes: 'box',
      cats: 'cat',
      glass: 'glass',
    }
    for (const [word, expected] of Object.entries(stems)) expect(stemOf(word)).toBe(expected)
  })

  it('goes on to later endings when too little is left', () => {
    expect(stemOf('dies')).toBe('die')
    expect(stemOf('bed')).toBe('bed')
    expect(stemOf('sing')).toBe('sing')
    expect(stemOf('used')).toBe('used')
  })

  it('counts bytes, not characters', () => {
    expect(stemOf('éés')).toBe('éé')
    expect(stemOf('éing')).toBe('éing')
    expect(stemOf('ééing')).toBe('éé')
  })
})

const RULES: readonly (readonly [ending: string, least: number, becomes: string])[] = [
  ['ies', 2, 'i'],
  ['ied', 2, 'i'],
  ['sses', 0, 'ss'],
  ['ness', 2, ''],
  ['ment', 3, ''],
  ['ing', 3, ''],
  ['tion', 2, 't'],
  ['ation', 2, 'at'],
  ...['able', 'ible', 'ful', 'ous', 'ive', 'ly', 'ed', 'er', 'es'].map(
    (ending) => [ending, 3, ''] as const,
  ),
]

function plainStem(word: string): string {
  const bytes = Buffer.byteLength(word)
  if (bytes <= 3) return word
  for (const [ending, least, becomes] of RULES) {
    if (word.endsWith(ending) && bytes - ending.length >= least) {
      return word.slice(0, word.length - ending.length) + becomes
    }
  }
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function plainAnalyse(text: string) {
  return [...text.matchAll(/[\p{Alphabetic}\p{N}']+/gu)]
    .map((match) => ({ word: match[0], start: match.index }))
    .filter(({ word }) => Buffer.byteLength(word) > 1)
    .map(({ word, start }) => ({
      term: plainStem(word.replace(/[A-Z]/g, (letter) => letter.toLowerCase())),
      start,
      end: start + word.length,
    }))
}
