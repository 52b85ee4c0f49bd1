import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findLinks, MAX_LINKS, MAX_TARGET_LENGTH } from './find-links.js'

describe('findLinks', () => {
  it('reads inline links, wiki links and definitions, in order and each once', () => {
    const text = [
      'See [setup](./setup.md) and [[Release notes|the notes]] or [again](./setup.md "Title").',
      '![figure](img/a(1).png) [spaced](<two words.md>) [part](guide.md#install)',
      '[ref]: ../other/ref.md "A title"',
    ].join('\n')
    expect(findLinks(text)).toEqual([
      './setup.md',
      'Release notes',
      'img/a(1).png',
      'two words.md',
      'guide.md',
      '../other/ref.md',
    ])
  })

  it('leaves out what leads outside, nowhere or to itself', () => {
    for (const text of [
      '[a](https://example.com/a.md)',
      '[a](mailto:someone@example.com)',
      '[a](//example.com/a)',
      '[a](#section)',
      '[a]()',
      '[[',
      '[[not\nclosed]]',
      'array[0](call',
      `[a](${'x'.repeat(MAX_TARGET_LENGTH + 1)})`,
      'in a line [no]: definition.md',
    ]) {
      expect(findLinks(text), text).toEqual([])
    }
  })

  it('keeps a bounded number of a chunk, and ends soon on brackets that are no links', () => {
    const many = Array.from({ length: 500 }, (_, i) => `[x](doc${i}.md)`).join(' ')
    expect(findLinks(many)).toHaveLength(MAX_LINKS)
    expect(findLinks(']('.repeat(500_000))).toEqual([])
    expect(findLinks('[['.repeat(500_000))).toEqual([])
  })

  it('takes any text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[', ']', '(', ')', ':', '\n', '<', '>', '|', 'a', ' ')),
        (parts) => {
          for (const target of findLinks(parts.join(''))) expect(target).toMatch(/\S/)
        },
      ),
    )
  })
})
