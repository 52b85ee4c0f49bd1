import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stemEnglish } from './english-stemmer.js'

const fixture = new URL('../../fixtures/snowball/english-stems.tsv', import.meta.url)

describe('stemEnglish', () => {
  it('gives the stems that the Snowball project published', () => {
    const pairs = readFileSync(fixture, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split('\t'))
    expect(pairs.length).toBeGreaterThan(3000)
    const wrong = pairs.filter(([word = '', stem]) => stemEnglish(word) !== stem)
    expect(wrong).toEqual([])
  })

  it('follows the rules that version 3 added', () => {
    const stems = {
      // Beginnings of their own, so that these stay apart from what they are not.
      organ: 'organ',
      organize: 'organiz',
      organic: 'organic',
      internal: 'internal',
      intern: 'intern',
      university: 'universiti',
      universe: 'univers',
      lateral: 'lateral',
      later: 'later',
      emergency: 'emergenc',
      emerge: 'emerg',
      // Short words that keep their doubled consonant.
      added: 'add',
      egged: 'egg',
      // Words that look like forms and are none.
      evening: 'evening',
      herring: 'herring',
      proceed: 'proceed',
      // The ie that -ing took away.
      dying: 'die',
      vying: 'vie',
      // The past of paste is not the past.
      pasted: 'paste',
      past: 'past',
      geologist: 'geolog',
    }
    for (const [word, stem] of Object.entries(stems))
      expect([word, stemEnglish(word)]).toEqual([word, stem])
  })

  it('never makes a word longer and never leaves nothing of it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,20}$/), (word) => {
        const stem = stemEnglish(word)
        expect(stem).toMatch(/^[a-z]+$/)
        expect(stem.length).toBeLessThanOrEqual(word.length)
      }),
    )
  })
})
