import { readFileSync } from 'node:fs'
import { CHARS4, dispatchTokens, noPause, storeTokens } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { greedyWithinBudget } from './budgets.js'

const fromRoot = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

describe('token estimates', () => {
  it('round up in the store and down in the dispatcher (RET-11.8-two-estimators)', () => {
    expect(dispatchTokens('12345')).toBe(1)
    expect(storeTokens('12345')).toBe(2)
    expect(dispatchTokens('')).toBe(1)
    expect(storeTokens('')).toBe(0)
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 4 }), (text) => {
        const difference = storeTokens(text) - dispatchTokens(text)
        expect([0, 1]).toContain(difference)
      }),
    )
  })

  it('are UTF-8 bytes over four by default, without a tokenizer (RET-11.8-chars4)', () => {
    expect(storeTokens('x'.repeat(400))).toBe(100)
    expect(storeTokens('é'.repeat(400))).toBe(200)
    expect(CHARS4.count('x'.repeat(400), noPause)).toBe(100)
    // A package for it comes with this one only when its user installs it.
    const own = JSON.parse(fromRoot('packages/crux-retrieval/package.json'))
    expect(own.peerDependenciesMeta['gpt-tokenizer']).toEqual({ optional: true })
    for (const folder of ['packages/crux-retrieval', 'apps/daemon']) {
      const { dependencies, optionalDependencies } = JSON.parse(fromRoot(`${folder}/package.json`))
      expect(Object.keys({ ...dependencies, ...optionalDependencies }).join(' ')).not.toMatch(
        /tiktoken|gpt-tokenizer|gpt-3-encoder|sentencepiece/,
      )
    }
  })

  it('price a text alike each time, in a unit that is documented (RET-11.8-comparable)', () => {
    const texts = ['one text', 'another, longer text', 'größer']
    const prices = texts.map(storeTokens)
    expect(texts.map((text) => storeTokens(Buffer.from(text).toString()))).toEqual(prices)
    const budget = prices.slice(0, 2).reduce((sum, price) => sum + price, 0)
    expect(greedyWithinBudget(prices, budget)).toBe(2)
    expect(fromRoot('packages/crux-retrieval/README.md')).toContain(
      'A token is about four bytes of UTF-8, not a model’s token.',
    )
  })
})
