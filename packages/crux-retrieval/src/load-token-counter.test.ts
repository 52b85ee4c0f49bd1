import { createPauser } from 'crux-types'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadTokenCounter, TOKEN_VOCABULARIES } from './load-token-counter.js'

const pause = createPauser()

describe('loadTokenCounter', () => {
  let counter: Awaited<ReturnType<typeof loadTokenCounter>>
  // Parsing a vocabulary takes a second or more on a busy machine.
  beforeAll(async () => {
    counter = await loadTokenCounter('o200k_base')
  }, 60_000)

  it('counts by a vocabulary, marks of models as plain text', async () => {
    expect(counter.id).toBe('o200k_base')
    expect(await counter.count('hello world', pause)).toBe(2)
    expect(await counter.count('', pause)).toBe(0)
    expect(await counter.count('a <|endoftext|> b', pause)).toBeGreaterThan(3)
    expect(await counter.countRow('{"a":1}', pause)).toBe(await counter.count('{"a":1}', pause))
  })

  it('counts text of any length without holding the event loop', async () => {
    const text = Array.from({ length: 2000 }, (_, i) => `word${i} ${'ab'.repeat(20)}`).join(' ')
    let turns = 0
    let isCounting = true
    const turn = (): void => {
      turns++
      if (isCounting) setImmediate(turn)
    }
    setImmediate(turn)
    const tokens = await counter.count(text, createPauser({ sliceMs: 1 }))
    isCounting = false
    expect(tokens).toBeGreaterThan(text.length / 6)
    expect(turns).toBeGreaterThan(2)
  })

  it('cuts at a character, within the tokens', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 50 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map((each) => each.repeat(50)),
    )
    await fc.assert(
      fc.asyncProperty(text, fc.nat(300), async (whole, tokens) => {
        const cut = await counter.cut(whole, tokens, pause)
        expect(whole.startsWith(cut)).toBe(true)
        expect(Buffer.from(cut).toString()).toBe(cut)
        expect(await counter.count(cut, pause)).toBeLessThanOrEqual(tokens)
        if ((await counter.count(whole, pause)) <= tokens) expect(cut).toBe(whole)
      }),
    )
  })

  it('prices a long text within two hundredths of its price in one piece', async () => {
    const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
    const text = 'The journal is the memory; größere Dinge folgen. '.repeat(200)
    const whole = countTokens(text)
    const counted = await counter.count(text, pause)
    expect(counted).toBeGreaterThanOrEqual(whole)
    expect(counted).toBeLessThanOrEqual(whole * 1.02)
  })

  it('says what to install when the package is missing or another one', async () => {
    const missing = () => Promise.reject(new Error("Cannot find package 'gpt-tokenizer'"))
    await expect(loadTokenCounter('o200k_base', missing)).rejects.toMatchObject({
      code: 'TOKENIZER_UNUSABLE',
      message:
        "tokens of o200k_base cannot be counted (Cannot find package 'gpt-tokenizer'); install the package gpt-tokenizer beside crux-retrieval",
    })
    await expect(loadTokenCounter('cl100k_base', async () => ({ encode: 1 }))).rejects.toThrow(
      'it does not export what is used of it',
    )
    expect(TOKEN_VOCABULARIES).toContain('cl100k_base')
  })
})
