import { describe, expect, it } from 'vitest'
import { parseCommandLine } from './command-line.js'

describe('parseCommandLine', () => {
  it('compares everything by default', () => {
    expect(parseCommandLine([], '/data')).toEqual({
      kind: 'compare',
      data: '/data',
      engines: ['crux', 'fts5', 'wink', 'minisearch', 'lunr', 'flexsearch', 'orama'],
      collections: ['cranfield', 'cisi', 'locomo-dev', 'rfcs'],
      modes: expect.arrayContaining(['bm25']),
      passes: 5,
      processes: 5,
    })
  })

  it('takes names, counts and a file for the numbers', () => {
    const line = '--engines crux,wink --collections cisi --mode bm25 --passes 1 --json out.json'
    expect(parseCommandLine(line.split(' '), '/data')).toMatchObject({
      engines: ['crux', 'wink'],
      collections: ['cisi'],
      modes: ['bm25'],
      passes: 1,
      jsonPath: 'out.json',
    })
  })

  it('reads how the comparison calls itself', () => {
    expect(parseCommandLine(['--index', 'lunr', '--folder', '/data/cisi'], '/data')).toEqual({
      kind: 'index',
      engine: 'lunr',
      folder: '/data/cisi',
    })
  })

  it.each([
    ['--engines', 'crux,solr', "--engines: 'solr' is none of crux, fts5"],
    ['--collections', 'trec', "--collections: 'trec' is none of cranfield"],
    ['--mode', 'best', "--mode: 'best' is none of bm25"],
    ['--passes', '0', '--passes: expected a whole number above 0'],
    ['--processes', 'x', '--processes: expected a whole number above 0'],
  ])('refuses %s %s', (option, value, message) => {
    expect(() => parseCommandLine([option, value], '/data')).toThrow(message)
  })

  it('refuses an option that there is not', () => {
    expect(() => parseCommandLine(['--fast'], '/data')).toThrow(TypeError)
  })
})
