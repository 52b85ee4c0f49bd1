import { runNow } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyserOf } from '../analyser/analyser.js'
import { MOST_HIGHLIGHTS } from './highlights.js'
import { readQueryTerms } from './query-terms.js'
import { markText, snippet } from './snippet.js'

/** The words of a text that a query matches. */
function marked(text: string, query: string): string[] {
  const { highlights } = runNow(markText(text, runNow(readQueryTerms(query)), { highlights: true }))
  return (highlights ?? []).map(({ start, end }) => text.slice(start, end))
}

/** A snippet with brackets around its highlights. */
function shown(text: string, query: string, length?: number): string {
  const found = snippet(text, query, length === undefined ? {} : { length })
  let out = ''
  let at = 0
  for (const { start, end } of found.highlights) {
    out += `${found.text.slice(at, start)}[${found.text.slice(start, end)}]`
    at = end
  }
  return out + found.text.slice(at)
}

describe('highlights', () => {
  it('are the words of the text as written, stems included', () => {
    expect(marked('Running late, the runner RUNS and ran.', 'run')).toEqual(['Running', 'RUNS'])
    expect(marked('The Straße ends; STRASSE begins', 'strasse')).toEqual(['Straße', 'STRASSE'])
    expect(marked('nothing here', 'journal')).toEqual([])
    expect(marked('', 'journal')).toEqual([])
    expect(marked('journal', '')).toEqual([])
  })

  it('are compounds as a whole, and parts where only these match', () => {
    const text = 'call getUserById(id) or get_user, see a.b/c-d'
    expect(marked(text, 'getUserById')).toEqual(['getUserById', 'id', 'get', 'user'])
    expect(marked(text, 'user')).toEqual(['User', 'user'])
    expect(marked(text, 'get user')).toEqual(['getUser', 'get', 'user'])
  })

  it('join characters of scripts without spaces', () => {
    expect(marked('日本語の検索エンジン', '検索')).toEqual(['検索'])
  })

  it('hold stop words only between words that match', () => {
    const query = 'state of the art'
    expect(marked('The state of the art of this', query)).toEqual(['state', 'of', 'the', 'art'])
    expect(marked('the state, and the art', query)).toEqual(['state', 'art'])
    expect(marked('state of the union', query)).toEqual(['state'])
    expect(marked('state of of-the-art things', query)).toEqual(['state', 'of', 'of', 'the', 'art'])
    expect(marked('of the of the', query)).toEqual([])
    expect(marked('to be or not', 'to be or not')).toEqual([])
  })

  it('are bounded in number', () => {
    const text = 'journal '.repeat(MOST_HIGHLIGHTS + 5)
    expect(marked(text, 'journal')).toHaveLength(MOST_HIGHLIGHTS)
  })

  it('hold what matches, in order, and nothing else', () => {
    const word = fc.constantFrom(
      'alpha',
      'Beta',
      'getUser',
      'user-id',
      'the',
      'of',
      '検',
      '索',
      'e\u0301',
      '\ud800',
      ', ',
      '\u202e',
    )
    const text = fc.array(word, { maxLength: 20 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(text, text, (document, query) => {
        const scored = ({ isStop }: { isStop: boolean }) => !isStop
        const wanted = new Set(
          analyserOf(2)
            .analyse(query)
            .filter(scored)
            .map(({ term }) => term),
        )
        const ranges = runNow(
          markText(document, runNow(readQueryTerms(query)), { highlights: true }),
        ).highlights
        const matches = analyserOf(2)
          .analyse(document)
          .filter((token) => scored(token) && wanted.has(token.term))
        for (const { start, end } of matches) {
          expect(ranges?.some((range) => range.start <= start && range.end >= end)).toBe(true)
        }
        let last = -1
        for (const { start, end } of ranges ?? []) {
          expect(start).toBeGreaterThan(last)
          expect(end).toBeGreaterThan(start)
          last = end
          const isStop = analyserOf(2)
            .analyse(document.slice(start, end))
            .every((token) => token.isStop)
          const holds = matches.some((token) => token.start >= start && token.end <= end)
          expect(isStop || holds).toBe(true)
        }
      }),
    )
  })
})

describe('snippet', () => {
  const long = 'It was a dull day. '.repeat(20)

  it('is the whole text where that is short enough', () => {
    expect(shown('A journal\nis\treplayed.', 'journal replay')).toBe('A [journal] is [replayed].')
    expect(snippet('A journal', 'x')).toEqual({
      text: 'A journal',
      highlights: [],
      start: 0,
      end: 9,
    })
  })

  it('is the beginning of a text that does not match', () => {
    const found = snippet(long, 'journal', { length: 30 })
    expect(found).toMatchObject({ text: 'It was a dull day. It was a…', start: 0, highlights: [] })
  })

  it('has the most words of the query, not the first', () => {
    const text = `The journal is long. ${long} The journal is replayed at start. ${long}`
    expect(shown(text, 'replay the journal at start', 60)).toMatch(
      /^….*\[journal\] is \[replayed\] \[at\] \[start\].*…$/,
    )
    expect(shown(`${long}one journal. ${long}`, 'journal', 40)).toContain('one [journal]')
  })

  it('prefers more matches, then the shorter stretch, then the first', () => {
    const sparse = `journal then much later replay. ${long}`
    const dense = `journal replay. ${long}`
    const twice = `journal journal replay. ${long}`
    expect(shown(`${sparse}${dense}`, 'journal replay', 50)).toContain('[journal] [replay]')
    expect(shown(`${dense}${twice}`, 'journal replay', 50)).toContain(
      '[journal] [journal] [replay]',
    )
    expect(snippet(`${dense}${dense}`, 'journal replay', { length: 50 }).start).toBe(0)
  })

  it('ends between words, or characters where a word is too long', () => {
    const found = snippet(`${long}A journal is here. ${long}`, 'journal', { length: 33 })
    expect(found.text).toMatch(/^…[A-Z]?\w*\b.*\bjournal\b.*\w…$/)
    const emoji = '👩‍👩‍👧‍👦'.repeat(20)
    const cut = snippet(emoji, 'x', { length: 30 })
    expect(cut.text).toBe(`${'👩‍👩‍👧‍👦'.repeat(2)}…`)
    expect(snippet('x'.repeat(500), 'y', { length: 20 }).text).toBe(`${'x'.repeat(18)}…`)
    expect(snippet('ab'.repeat(500), 'ab'.repeat(500), { length: 20 }).text).toHaveLength(19)
  })

  it('takes 8 units and more', () => {
    for (const length of [7, 0, -1, 8.5, Number.NaN]) {
      expect(() => snippet('text', 'text', { length })).toThrow(RangeError)
    }
  })

  it('is a stretch of the text, no longer than asked for, with the words that match', () => {
    const piece = fc.constantFrom(
      'alpha',
      'beta',
      'gamma-delta',
      'getUserById',
      ' ',
      '\n',
      ', ',
      '👩‍👧',
      'e\u0301',
      '検索',
      '\ud83d',
      'the ',
    )
    const text = fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join(''))
    const query = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(' '))
    fc.assert(
      fc.property(text, query, fc.integer({ min: 8, max: 80 }), (document, asked, length) => {
        const found = snippet(document, asked, { length })
        expect(found.text.length).toBeLessThanOrEqual(length)
        const before = found.start > 0 ? 1 : 0
        const inner = found.text.slice(before, before + found.end - found.start)
        expect(inner).toBe(document.slice(found.start, found.end).replace(/\n/g, ' '))
        expect(found.text.startsWith('…')).toBe(found.start > 0)
        expect(found.text.endsWith('…')).toBe(found.end < document.length)
        if (document.trim() !== '') expect(found.end).toBeGreaterThan(found.start)
        if (!document.includes('\ud83d ')) {
          expect(/^[\udc00-\udfff]/.test(inner)).toBe(false)
        }
        for (const { start, end } of found.highlights) {
          expect(start).toBeGreaterThanOrEqual(before)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(before + inner.length)
        }
        const anywhere = marked(document, asked)
        if (anywhere.some((match) => match.length <= length - 2)) {
          expect(found.highlights.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 300 },
    )
  })
})
