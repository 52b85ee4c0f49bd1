import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyse } from './analyse.js'
import { analyserOf, DEFAULT_ANALYSER_VERSION, type Token } from './analyser.js'
import { STOP_CONTRACTIONS, STOP_WORDS } from './stop-words.js'

describe('analyserOf', () => {
  it('gives the analyser of each version, the newest by default', () => {
    expect(analyserOf(1).version).toBe(1)
    expect(analyserOf(DEFAULT_ANALYSER_VERSION).version).toBe(2)
  })

  it('refuses a version it does not know and names those it knows', () => {
    expect(() => analyserOf(3)).toThrow(
      expect.objectContaining({
        code: 'ANALYSER_UNKNOWN',
        message: expect.stringMatching(/version 3 .*only 1 and 2/),
        data: { version: 3 },
      }),
    )
  })
})

describe('version 1', () => {
  const text = fc
    .array(fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom(' ', '\n', 'ing')))
    .map((pieces) => pieces.join(''))

  it('gives the terms and places of the rules of old, each a word', () => {
    fc.assert(
      fc.property(text, (text) => {
        const tokens = analyserOf(1).analyse(text)
        expect(tokens.map(({ term, start, end }) => ({ term, start, end }))).toEqual(analyse(text))
        tokens.forEach(({ start, end, byteStart, byteEnd, kind, isStop, position }, i) => {
          expect([kind, isStop, position]).toEqual(['word', false, i])
          expect(byteStart).toBe(Buffer.from(text.slice(0, start)).length)
          expect(byteEnd).toBe(Buffer.from(text.slice(0, end)).length)
        })
      }),
      { numRuns: 500 },
    )
  })

  it('gives the same in pieces', () => {
    const long = 'Words of a text, in pieces: größe — 東京\n'.repeat(200)
    const tokens: Token[] = []
    const stream = analyserOf(1).stream(long)
    let reads = 1
    while (stream.read(1, (token) => tokens.push(token))) reads += 1
    expect(reads).toBeGreaterThan(5)
    expect(tokens).toEqual(analyserOf(1).analyse(long))
  })
})

describe('docs/formats/analyser.md', () => {
  it('lists the stop words', () => {
    const page = new URL('../../../../docs/formats/analyser.md', import.meta.url)
    const listed = /stop words: begin -->\s*```([^`]*)```/.exec(readFileSync(page, 'utf8'))?.[1]
    const words = [...STOP_WORDS, ...STOP_CONTRACTIONS].filter((word) => !/^[b-hj-z]$/.test(word))
    expect(listed?.trim().split(/\s+/)).toEqual(words.sort())
  })
})
