import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Token } from './analyser.js'
import { STOP_CONTRACTIONS, STOP_WORDS } from './stop-words.js'
import { analyserVersion2, analyseWithoutTable } from './version-2.js'
import { wordBreaks } from './word-breaks.js'

const { analyse } = analyserVersion2

/** One letter of the kind before each term, stop words in brackets: `c:getuserbyid p:get p:[by]`. */
function short(text: string): string {
  return analyse(text)
    .map(({ kind, term, isStop }) => `${kind[0]}:${isStop ? `[${term}]` : term}`)
    .join(' ')
}

const joiner = fc.constantFrom(
  ..."-_./\\:@+#~'&=?%",
  '://',
  '::',
  '->',
  ':\\',
  '__',
  '’',
  ' ',
  ', ',
)
const asciiWord = fc.oneof(
  fc.constantFrom('s', 'S', 'don', 't', 'it', 'C', 'getUserById', 'HTTPServer2', 'URLs', 'v1.2.3'),
  fc.constantFrom('running', 'boundaries', '1,000.5', 'x86', 'The', 'f5cb7f4', 'iPhone', '7'),
  fc.stringMatching(/^[a-zA-Z0-9]{1,8}$/),
)
const asciiText = fc
  .array(
    fc.oneof(
      asciiWord,
      joiner.filter((text) => text !== '’'),
      fc.string({ maxLength: 3 }),
    ),
    {
      maxLength: 30,
    },
  )
  .map((pieces) => pieces.join(''))
const anyText = fc
  .array(
    fc.oneof(
      asciiWord,
      joiner,
      fc.constantFrom('é', 'e\u0301', 'ß', 'İ', 'Σ', '東京', 'タワー', 'ｶﾞ', 'สวัสดี', '한국어'),
      fc.constantFrom('שלום', 'צה"ל', 'مرحبا', '\u200d', '\u00ad', '\ufeff', '👩‍💻', '½', '²'),
      fc.constantFrom('\ud800', '\udc00', '𝒳', '𠀀', '\0', '\u202e', '\u3164', '＿', 'ʼ', '·'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(''))

describe('version 2: words', () => {
  it('stems English and keeps stop words as they are', () => {
    expect(short('The runners were running quickly')).toBe(
      'w:[the] w:runner w:[were] w:run w:quick',
    )
  })

  it('reads contractions as stop words, and drops possessives', () => {
    expect(short("Don’t say it's the user's or the users'")).toBe(
      "w:[don't] w:say w:[it's] w:[the] w:user w:[or] w:[the] w:user",
    )
    expect(short("1990's O'Brien’s")).toBe("w:1990 c:o'brien p:[o] p:brien")
  })

  it('is blind to case, width and composition', () => {
    expect(short('Straße STRASSE ΟΔΟΣ οδος ﬁne ＦＩＮＥ café cafe\u0301 CAFÉ')).toBe(
      'w:strass w:strass w:οδοσ w:οδοσ w:fine w:fine w:café w:café w:café',
    )
    expect(short('İstanbul ISTANBUL ıstanbul')).toBe('w:istanbul w:istanbul w:istanbul')
    expect(short('co\u00adoperate')).toBe(short('cooperate'))
  })

  it('keeps single digits, and single letters as stop words', () => {
    expect(short('plan 9 from x')).toBe('w:plan w:9 w:[from] w:[x]')
  })

  it('keeps a number with separators in one', () => {
    expect(short('1,000.5 and 192.168.0.1')).toBe('w:1,000.5 w:[and] w:192.168.0.1')
  })

  it('does not stem what is not English', () => {
    expect(short('приветы ναίσ élèves')).toBe('w:приветы w:ναίσ w:élèves')
  })

  it('reads quotes, operators and wildcards as what stands between words', () => {
    expect(short('"quoted phrase" AND (cat* OR -dog) ^title:^')).toBe(
      'w:quot w:phrase w:[and] w:cat w:[or] w:dog w:titl',
    )
  })

  it('cuts a term at a character within 128 bytes', () => {
    const [first] = analyse(`x${'é'.repeat(100)}`)
    expect(Buffer.byteLength(first?.term ?? '')).toBe(127)
    expect(first?.end).toBe(101)
  })

  it('lists stop words in the form in which they are looked up', () => {
    for (const word of [...STOP_WORDS, ...STOP_CONTRACTIONS]) {
      expect(analyse(word).map(({ term, isStop }) => [term, isStop])).toEqual([[word, true]])
    }
  })
})

describe('version 2: identifiers', () => {
  it.each([
    ['getUserById', 'c:getuserbyid p:get p:user p:[by] p:id'],
    ['user_id', 'c:user_id p:user p:id'],
    ['HTTPServer2', 'c:httpserver2 p:http p:server p:2'],
    ['kebab-case', 'c:kebab-case p:kebab p:case'],
    ['a.b.c', 'c:a.b.c p:[a] p:[b] p:[c]'],
    ['ID3v2', 'c:id3v2 p:id p:3 p:[v] p:2'],
    ['utf8', 'c:utf8 p:utf p:8'],
    ['v1.2.3', 'c:v1.2.3 p:[v] p:1.2.3'],
    ['URLs', 'w:url'],
    ['boundary-layers', 'c:boundary-layers p:boundari p:layer'],
    ['C++ and C#', 'c:c++ p:[c] w:[and] c:c# p:[c]'],
    ['c++17', 'c:c++ p:[c] w:17'],
    ['2024-01-15', 'c:2024-01-15 p:2024 p:01 p:15'],
    ['__init__', 'w:init'],
    ['f5cb7f4', 'w:f5cb7f4'],
    ['std::io::readLine', 'c:std::io::readline p:std p:io c:readline p:read p:line'],
    ['a@b.org', 'c:a@b.org p:[a] c:b.org p:[b] p:org'],
    ['src/term-table.ts', 'c:src/term-table.ts p:src c:term-table.ts p:term p:tabl p:ts'],
    ['C:\\tmp\\x.log', 'c:c:\\tmp\\x.log p:[c] p:tmp c:x.log p:[x] p:log'],
    [
      'https://docs.example.com/a?q=1',
      'c:https://docs.example.com/a?q=1 p:https c:docs.example.com p:doc p:exampl p:com p:[a] p:[q] p:1',
    ],
  ])('%s', (text, expected) => {
    expect(short(text)).toBe(expected)
  })

  it('gives the parts of a long chain without the whole', () => {
    const long = Array.from({ length: 20 }, (_, i) => `w${'x'.repeat(i + 1)}`).join('/')
    expect(new Set(analyse(long).map(({ kind }) => kind))).toEqual(new Set(['part']))
    expect(analyse(long)).toHaveLength(20)
  })

  it('gives a query the terms of the text it names', () => {
    const inText = new Set(analyse('call svc.getUserById() now').map(({ term }) => term))
    expect(analyse('getUserById').every(({ term }) => inText.has(term))).toBe(true)
    expect(analyse('get user by ID').every(({ term }) => inText.has(term))).toBe(true)
  })

  it('numbers parts, and gives compounds the number of the first', () => {
    expect(analyse('see user_id now').map(({ term, position }) => [term, position])).toEqual([
      ['see', 0],
      ['user_id', 1],
      ['user', 1],
      ['id', 2],
      ['now', 3],
    ])
  })
})

describe('version 2: scripts without spaces', () => {
  it('gives each character and each pair of neighbours', () => {
    expect(short('東京都 x')).toBe('w:東 g:東京 w:京 g:京都 w:都 w:[x]')
    expect(analyse('東京都').map(({ position }) => position)).toEqual([0, 0, 1, 1, 2])
    expect(short('タワー')).toBe('w:タ g:タワ w:ワ g:ワー w:ー')
  })

  it('keeps marks with their character', () => {
    expect(short('สวัสดี')).toBe('w:ส g:สวั w:วั g:วัส w:ส g:สดี w:ดี')
    expect(short('ｶﾞ')).toBe('w:ガ')
  })

  it('leaves Hangul in words', () => {
    expect(short('한국어 검색')).toBe('w:한국어 w:검색')
  })
})

describe('version 2: any text', () => {
  it('gives the same with and without the table for ASCII', () => {
    fc.assert(
      fc.property(asciiText, (text) => {
        expect(analyse(text)).toEqual(analyseWithoutTable(text))
      }),
      { numRuns: 1000 },
    )
    fc.assert(
      fc.property(anyText, (text) => {
        expect(analyse(text)).toEqual(analyseWithoutTable(text))
      }),
      { numRuns: 300 },
    )
  })

  it('says where tokens stand, in units and bytes, in whole characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const breaks = new Set<number>([0])
        let at = 0
        for (const character of text) {
          at += character.length
          breaks.add(at)
        }
        for (const { start, end, byteStart, byteEnd, term } of analyse(text)) {
          expect(term).not.toBe('')
          expect(Buffer.byteLength(term)).toBeLessThanOrEqual(128)
          expect(start).toBeLessThan(end)
          expect(breaks.has(start) && breaks.has(end)).toBe(true)
          expect(byteStart).toBe(Buffer.from(text.slice(0, start)).length)
          expect(byteEnd).toBe(Buffer.from(text.slice(0, end)).length)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('gives the terms of a word that is cut out of its text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { term, start, end } of analyse(text)) {
          const alone = analyse(text.slice(start, end))
          expect(alone.map((token) => token.term)).toContain(term)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('gives the tokens of both when texts are put together with a space', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        const both = analyse(`${one} ${other}`)
        const first = analyse(one)
        const words = first.reduce((most, { position }) => Math.max(most, position + 1), 0)
        const bytes = Buffer.from(`${one} `).length
        const moved = analyse(other).map((token) => ({
          ...token,
          start: token.start + one.length + 1,
          end: token.end + one.length + 1,
          byteStart: token.byteStart + bytes,
          byteEnd: token.byteEnd + bytes,
          position: token.position + words,
        }))
        expect(both).toEqual([...first, ...moved])
      }),
      { numRuns: 300 },
    )
  })

  it('never lets a word reach over a word break', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const breaks = wordBreaks(text)
        for (const { kind, start, end } of analyse(text)) {
          // A possessive and a contraction behind a digit hold an apostrophe at which a text may break.
          if (kind === 'compound' || kind === 'gram' || /['’ʼ]/.test(text.slice(start, end)))
            continue
          expect(breaks.filter((at) => at > start && at < end)).toEqual([])
        }
      }),
      { numRuns: 300 },
    )
  })

  it('gives the same in pieces of any size', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 20 }), (text, most) => {
        const tokens: Token[] = []
        const stream = analyserVersion2.stream(text)
        while (stream.read(most, (token) => tokens.push(token)));
        expect(tokens).toEqual(analyse(text))
      }),
      { numRuns: 300 },
    )
  })

  it('numbers positions without a gap, in the order of the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const tokens = analyse(text)
        const words = tokens.filter(({ kind }) => kind === 'word' || kind === 'part')
        expect(words.map(({ position }) => position)).toEqual(words.map((_, i) => i))
        const starts = tokens.map(({ start }) => start)
        expect(starts).toEqual([...starts].sort((a, b) => a - b))
      }),
      { numRuns: 300 },
    )
  })

  it('reads on within bounds over words, chains and joiners without end', () => {
    for (const unit of ['a', 'a-', 'aB', '_', 'a\u0301', '\u0301', '東', 'a.', '1,', "a'", ' ']) {
      const text = unit.repeat(60_000)
      const stream = analyserVersion2.stream(text)
      let reads = 0
      let last = 0
      let most = 0
      const take = ({ end }: Token) => {
        most = Math.max(most, end - last)
        last = end
      }
      while (stream.read(4096, take)) reads += 1
      expect(reads).toBeGreaterThan(1)
      expect(most).toBeLessThan(70_000)
    }
  })
})
