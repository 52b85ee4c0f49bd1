import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scrubReserved } from './scrub-reserved.js'

describe('scrubReserved', () => {
  it.each([
    ['asked  about\n\tthe   door ', 'asked about the door'],
    ['read __bootstrap__::doc:start now', 'read [reserved] now'],
    ['("__agent::anna::plan", `__ops::x`)', '[reserved] [reserved]'],
    ['__agent__::x and agent::x stay', '__agent__::x and agent::x stay'],
    [
      'a__ops::x stays, it begins with another word',
      'a__ops::x stays, it begins with another word',
    ],
  ])('turns %j into %j (MCP-11.12-reserved-leak)', (text, shown) => {
    expect(scrubReserved(text)).toBe(shown)
  })

  it('leaves no word that begins with a reserved prefix, and all others', () => {
    const plain = fc.stringMatching(/^[a-z:]{1,8}$/)
    const prefix = fc.constantFrom('__agent::', '__ops::', '__bootstrap__::')
    const reserved = fc
      .tuple(fc.stringMatching(/^["'(`.,*-]{0,3}$/), prefix, plain)
      .map((parts) => parts.join(''))
    const space = fc.constantFrom(' ', '\n', '\t ', '\u00a0')
    const words = fc.array(fc.tuple(fc.oneof(plain, reserved), space))
    fc.assert(
      fc.property(words, (list) => {
        const shown = list.map(([word]) => (word.includes('__') ? '[reserved]' : word))
        expect(scrubReserved(list.flat().join(''))).toBe(shown.join(' '))
      }),
    )
  })
})
