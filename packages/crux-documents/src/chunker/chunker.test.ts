import { isWellFormed } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CHUNK_OVERLAP_CHARACTERS,
  chunkMarkdown,
  chunkText,
  MAX_CHUNK_CHARACTERS,
  MIN_CUT_CHARACTERS,
} from './chunker.js'
import { titleOf } from './markdown-sections.js'

const characters = (text: string) => [...text].length

describe('chunkText', () => {
  it('gives nothing for blank text and one trimmed chunk for a short one', () => {
    expect(chunkText('')).toEqual([])
    expect(chunkText(' \n\t ')).toEqual([])
    expect(chunkText('  two words \n')).toEqual([
      { chunkId: 'c00001', text: 'two words', headingPath: [], start: 2, end: 11 },
    ])
  })

  it('keeps 1800 characters whole and cuts 1801, repeating 180', () => {
    expect(chunkText('x'.repeat(1800))).toHaveLength(1)
    const [first, second, ...rest] = chunkText('x'.repeat(1801))
    expect(rest).toEqual([])
    expect([first?.start, first?.end]).toEqual([0, 1800])
    expect([second?.start, second?.end]).toEqual([1620, 1801])
  })

  it('cuts at the last blank line from 1200 on, else after the last white space, else in the word', () => {
    const blankLine = `${'a'.repeat(1300)}\n\n${'b'.repeat(200)} ${'c'.repeat(1000)}`
    expect(chunkText(blankLine)[0]?.text).toBe('a'.repeat(1300))
    const tooEarly = `${'a'.repeat(1100)}\n\n${'b'.repeat(200)} ${'c'.repeat(1000)}`
    expect(chunkText(tooEarly)[0]?.end).toBe(1302)
    const oneWord = `${'a'.repeat(1100)} ${'b'.repeat(2000)}`
    expect(chunkText(oneWord)[0]?.end).toBe(1800)
  })

  it('sees blank lines that end in CR LF', () => {
    const text = `${'a'.repeat(1300)}\r\n\r\n${'b'.repeat(200)} ${'c'.repeat(1000)}`
    expect(chunkText(text)[0]?.text).toBe('a'.repeat(1300))
  })

  it('counts characters, not UTF-16 units, and never splits one', () => {
    const chunks = chunkText('😀'.repeat(1900))
    expect(chunks.map((chunk) => characters(chunk.text))).toEqual([1800, 280])
    expect(chunks.every((chunk) => isWellFormed(chunk.text))).toBe(true)
  })

  it('covers every word, within the sizes, in order, at the stated offsets', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
      fc.constantFrom(' ', '\n', '\n\n', '. ', 'x'.repeat(2500)),
    )
    const text = fc.array(word, { maxLength: 400 }).map((words) => words.join(' ').repeat(2))
    fc.assert(
      fc.property(text, (source) => {
        const chunks = chunkText(source)
        let covered = 0
        for (const [index, chunk] of chunks.entries()) {
          expect(chunk.text).toBe(source.slice(chunk.start, chunk.end))
          expect(chunk.text.trim()).toBe(chunk.text)
          expect(chunk.text).not.toBe('')
          expect(characters(chunk.text)).toBeLessThanOrEqual(MAX_CHUNK_CHARACTERS)
          expect(source.slice(covered, chunk.start).trim()).toBe('')
          if (index > 0) {
            const overlap = source.slice(chunk.start, covered)
            expect(characters(overlap)).toBeLessThanOrEqual(CHUNK_OVERLAP_CHARACTERS)
          }
          covered = chunk.end
        }
        expect(source.slice(covered).trim()).toBe('')
        expect(MIN_CUT_CHARACTERS).toBeGreaterThan(CHUNK_OVERLAP_CHARACTERS)
      }),
      { numRuns: 150 },
    )
  })
})

describe('chunkMarkdown', () => {
  const paths = (text: string) =>
    chunkMarkdown(text).map((chunk) => [chunk.text.split('\n')[0], chunk.headingPath])

  it('starts a chunk at each heading and names the headings around it', () => {
    const text = '\npreface\n# One\nalpha\n### Deep ###\nbeta\n## Two\ngamma\n# Three\ndelta\n'
    expect(paths(text)).toEqual([
      ['preface', []],
      ['# One', ['One']],
      ['### Deep ###', ['One', 'Deep']],
      ['## Two', ['One', 'Two']],
      ['# Three', ['Three']],
    ])
  })

  it('takes one to six signs, indented or not, followed by white space', () => {
    expect(paths('text\n  ###### Six\nx')).toEqual([
      ['text', []],
      ['###### Six', ['Six']],
    ])
    for (const plain of ['#tag', '####### seven', '##']) {
      expect(chunkMarkdown(`text\n${plain}\nmore`)).toHaveLength(1)
    }
  })

  it('sees no heading in fenced code', () => {
    const text =
      '# Use\n```sh\n# not a heading\n~~~\n````\n# After\nx\n~~~ `tilde`\n# inside\n~~~\n# End\ny'
    expect(paths(text)).toEqual([
      ['# Use', ['Use']],
      ['# After', ['After']],
      ['# End', ['End']],
    ])
    expect(paths('`` ` ``\n```inline``` code\n# Heading\nx')).toHaveLength(2)
  })

  it('sees no heading in front matter', () => {
    const text = '---\ntitle: x\n# a comment\n---\n# Real\nbody'
    expect(paths(text).map(([, path]) => path)).toEqual([[], ['Real']])
    expect(titleOf(text)).toBe('Real')
    expect(titleOf('---\n\n# A\n\n---\n## B')).toBe('A')
  })

  it('numbers chunks through the document, so that an edit leaves earlier ids alone', () => {
    const before = chunkMarkdown('# A\none\n# B\ntwo\n# C\nthree')
    const after = chunkMarkdown('# A\none\n# B\ntwo\n# C\nchanged\n# D\nfour')
    expect(before.map((chunk) => chunk.chunkId)).toEqual(['c00001', 'c00002', 'c00003'])
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2))
  })

  it('cuts a long section like plain text and keeps its path', () => {
    const chunks = chunkMarkdown(`# Long\n${'word '.repeat(1000)}\n# Short\nx`)
    expect(chunks.length).toBeGreaterThan(3)
    expect(chunks.slice(0, -1).every((chunk) => chunk.headingPath[0] === 'Long')).toBe(true)
    expect(chunks.at(-1)?.headingPath).toEqual(['Short'])
  })

  it('loses no text', () => {
    const line = fc.constantFrom(
      '# A',
      '## B',
      '```',
      '~~~~',
      'text',
      '',
      '   ',
      '---',
      '####### x',
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const text = lines.join('\n')
        const kept = chunkMarkdown(text)
          .map((chunk) => chunk.text)
          .join('')
        expect(kept.replace(/\s+/g, '')).toBe(text.replace(/\s+/g, ''))
      }),
    )
  })
})

describe('titleOf', () => {
  it('gives the first heading, without closing signs', () => {
    expect(titleOf('intro\n#  Getting started ##\n## Later\n## Still later')).toBe(
      'Getting started',
    )
    expect(titleOf('## Only this\n### Part')).toBe('Only this')
    expect(titleOf('```\n# no\n```\nplain')).toBeUndefined()
    expect(titleOf(`# ${'long '.repeat(200)}`)?.length).toBeLessThanOrEqual(256)
  })

  it('takes one section of several for no title', () => {
    expect(titleOf('- Start: 2014\n\n# Summary\n\n# Motivation')).toBeUndefined()
    expect(titleOf('## Preface\n# Book')).toBeUndefined()
  })
})
