import { CHARS4, vocabularyCounter } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { chooseTokenizer } from './tokenizer.js'

describe('chooseTokenizer', () => {
  const warned: string[] = []
  const log = { warn: (...parts: unknown[]) => void warned.push(String(parts.at(-1))) }

  it('loads nothing unless asked to (RET-11.8-chars4)', async () => {
    const load = () => Promise.reject(new Error('not to be called'))
    expect(await chooseTokenizer({ tokenizer: 'chars4' }, log, load)).toEqual({
      counter: CHARS4,
      status: { id: 'chars4', wanted: 'chars4', reason: null },
      warnings: [],
    })
  })

  it('gives the counter that was asked for', async () => {
    const counter = vocabularyCounter('o200k_base', (text) => text.length)
    const chosen = await chooseTokenizer({ tokenizer: 'o200k_base' }, log, async () => counter)
    expect(chosen).toEqual({
      counter,
      status: { id: 'o200k_base', wanted: 'o200k_base', reason: null },
      warnings: [],
    })
  })

  it('falls back to four bytes a token and says why', async () => {
    const load = () => Promise.reject(new Error('it is not installed'))
    const chosen = await chooseTokenizer({ tokenizer: 'cl100k_base' }, log, load)
    expect(chosen.counter).toBe(CHARS4)
    expect(chosen.status).toEqual({
      id: 'chars4',
      wanted: 'cl100k_base',
      reason: 'it is not installed',
    })
    expect(chosen.warnings).toEqual(['it is not installed; until then four bytes count as a token'])
    expect(warned).toEqual(chosen.warnings)
  })
})
