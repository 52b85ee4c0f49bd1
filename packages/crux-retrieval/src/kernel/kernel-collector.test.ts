import { type Hashes, loadHashes } from 'crux-segment'
import { runNow } from 'crux-types'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { analyserOf } from '../analyser/analyser.js'
import { PostingsCollector } from '../lexical/postings-collector.js'
import type { IndexFiles, TermCollector } from '../lexical/term-collector.js'
import { createIndexKernel } from './index-kernel.js'
import { KernelCollector } from './kernel-collector.js'

const TARGET = { shardId: 1, segmentSeq: 7, epoch: 2 }
const ANALYSER = analyserOf(2)
let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

/** Characters that the rules tell apart, in the proportions of a nasty text. */
const ascii = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'aeiostbnryAEST') },
  { weight: 2, arbitrary: fc.constantFrom(...'0129') },
  { weight: 3, arbitrary: fc.constantFrom(..."-_./\\:@+#~'&=?%,;'>") },
  { weight: 2, arbitrary: fc.constantFrom(...' \t\n(') },
)
const snippets = fc.constantFrom(
  ...['the', "don't", "It's", "boys'", "cat's", "o'clock", "rock'n'roll", 'getUserById', 'URLs'],
  ...['HTTPServer2', 'utf8', '1,000.5', 'user_id', '__init__', 'C++', 'c#', 'a://b', 'std::vec'],
  ...['a->b', 'https://example.org/a/b.html?x=1&y=2', 'v1.2.3', 'deadbeef0123456789abcdef'],
  ...[
    'größe',
    '\u2019s',
    'naïve',
    '日本語',
    'ไทย',
    '\ud800',
    '👩‍👩‍👧',
    'İstanbul',
    '\0',
    ' ',
    '\n',
    '  ',
  ],
  ...['a'.repeat(15), 'b'.repeat(16), 'c'.repeat(17), `x${'yz'.repeat(64)}`, 'q'.repeat(1030)],
  'ab-'.repeat(70),
)
const nasty = fc
  .array(fc.oneof({ weight: 3, arbitrary: ascii }, snippets), { maxLength: 60 })
  .map((parts) => parts.join(''))

/** Words that the stemmer has rules for. */
const endings =
  'ing ingly ed edly eed eedly s es ies y ational ization izer alism fulness ogist ogi'
const moreEndings =
  'li lessli biliti icate iciti ical ative ness ement ment ion sion ll e ying past'
const inflected = fc
  .tuple(
    fc.stringMatching(/^[aeiouybcdfgklmnprstw']{1,5}$/),
    fc.constantFrom('', ...`${endings} ${moreEndings}`.split(' ')),
    fc.constantFrom('', 's', 'ed', "'s", "'"),
  )
  .map((parts) => parts.join(''))
const english = fc.array(inflected, { maxLength: 60 }).map((words) => words.join(' '))

describe('KernelCollector', () => {
  it('gives the bytes of the analyser and the encoder', () => {
    const texts = fc.array(fc.oneof(nasty, english), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(texts, fc.nat(2), fc.boolean(), (given, gap, words) => {
        expectSameFiles(given, { gap, words })
      }),
      { numRuns: 300 },
    )
  })

  it('goes on over the ends of its pages, blocks and tables', () => {
    const random = numbers(1)
    const texts = Array.from({ length: 2500 }, (_, doc) =>
      Array.from({ length: 40 }, () => {
        // Common and rare words, some only within a stretch of documents, some in all.
        const rank = Math.floor(20_000 ** ((random() % 1000) / 1000))
        return doc % 700 < 600 || rank > 20 ? `w${spelled(rank)}` : 'the'
      }).join(' '),
    )
    expectSameFiles(['common '.repeat(70_000), ...texts], { gap: 0, words: true })
    expectSameFiles(texts, { gap: 40, words: false })
  })

  it('reads long texts in slices, with and without white space', () => {
    const random = numbers(2)
    const words = Array.from({ length: 30_000 }, () => `word${random() % 977}`)
    const wide = Array.from({ length: 3000 }, () => `größe${random() % 977}`)
    const parts = [words.join(' '), 'ab+/'.repeat(9000), wide.join('\n'), words.join('-')]
    for (const text of [...parts, parts.join(' '), parts.reverse().join('')]) {
      expectSameFiles([text], { gap: 0, words: true })
    }
  })

  it('says when its memory is at its limit', () => {
    const collector = new KernelCollector(hashes, ANALYSER, { words: false, mostPages: 24 })
    const text = Array.from({ length: 30_000 }, (_, i) => `w${spelled(i)}`).join(' ')
    const tooLarge = expect.objectContaining({ code: 'INDEX_TOO_LARGE' })
    expect(() => runNow(collector.add(0, text, 5n, 4096))).toThrow(tooLarge)
  })

  it('has the calls that it is described with', () => {
    const calls =
      'addStopWords addTokens beginDoc encodeSome endDoc finish firstStop frames input memory numberPage passedEnd passedStart postings postingsEnd read resume start stops terms texts tokens totalPostings vocab words'
    expect(Object.keys(createIndexKernel()).sort().join(' ')).toBe(calls)
  })
})

function expectSameFiles(
  texts: readonly string[],
  { gap, words }: { gap: number; words: boolean },
): void {
  const found = filesOf(new KernelCollector(hashes, ANALYSER, { words }), texts, gap)
  const wanted = filesOf(new PostingsCollector(hashes, ANALYSER, { words }), texts, gap)
  // Not `toEqual`, which takes seconds to tell how long arrays differ.
  expect(Buffer.compare(found.ccxi, wanted.ccxi)).toBe(0)
  expect(found.ccxf === undefined).toBe(!words)
  expect(Buffer.compare(found.ccxf ?? EMPTY, wanted.ccxf ?? EMPTY)).toBe(0)
}

const EMPTY = new Uint8Array(0)

function filesOf(collector: TermCollector, texts: readonly string[], gap: number): IndexFiles {
  for (const [i, text] of texts.entries()) {
    runNow(collector.add(i * (gap + 1), text, 0xfedcba9876543210n + BigInt(i), 4096 + i))
  }
  return collector.finish(TARGET)
}

/** A number in letters, so that it does not split. */
function spelled(number: number): string {
  return String(number).replace(/\d/g, (digit) => 'bcdfghjklm'.charAt(Number(digit)))
}

/** Even numbers of 31 bits, the same for a seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 1
  }
}
