import { type Hashes, loadHashes } from 'crux-segment'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { analyserOf } from '../analyser/analyser.js'
import { PostingsCollector } from '../lexical/postings-collector.js'
import { runNow, type TermCollector } from '../lexical/term-collector.js'
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
  'the',
  "don't",
  "It's",
  "boys'",
  "cat's",
  'getUserById',
  'HTTPServer2',
  'URLs',
  'utf8',
  '1,000.5',
  'user_id',
  '__init__',
  'C++',
  'c#',
  'a://b',
  'std::vec',
  'a->b',
  'https://example.org/a/b.html?x=1&y=2',
  'running',
  'generously',
  'skies',
  'v1.2.3',
  'deadbeef0123456789abcdef',
  'größe',
  '\u2019s',
  'naïve',
  '日本語テキスト',
  'ไทย',
  '\ud800',
  '👩‍👩‍👧',
  'İstanbul',
  '\u0000',
  ' ',
  '\n',
  '  ',
  "o'clock",
  "rock'n'roll",
  'a'.repeat(15),
  'b'.repeat(16),
  'c'.repeat(17),
  `x${'yz'.repeat(64)}`,
  'q'.repeat(1030),
  'ab-'.repeat(70),
)
const texts = fc
  .array(fc.oneof({ weight: 3, arbitrary: ascii }, snippets), { maxLength: 60 })
  .map((parts) => parts.join(''))
const docs = fc.array(texts, { minLength: 1, maxLength: 6 })

const hexOf = (bytes?: Uint8Array) => bytes && Buffer.from(bytes).toString('hex')

function filesOf(collector: TermCollector, given: readonly string[], gap: number) {
  for (const [i, text] of given.entries()) {
    runNow(collector.add(i * (gap + 1), text, 77n * BigInt(i), 4096 + i))
  }
  return collector.finish(TARGET)
}

describe('KernelCollector', () => {
  it('gives the bytes of the analyser and the encoder', () => {
    fc.assert(
      fc.property(docs, fc.nat(2), fc.boolean(), (given, gap, words) => {
        const kernel = new KernelCollector(hashes, ANALYSER, { words })
        const plain = new PostingsCollector(hashes, ANALYSER, { words })
        const found = filesOf(kernel, given, gap)
        const wanted = filesOf(plain, given, gap)
        expect(Buffer.compare(found.ccxi, wanted.ccxi)).toBe(0)
        expect(hexOf(found.ccxf)).toBe(hexOf(wanted.ccxf))
      }),
      { numRuns: 300 },
    )
  })
})
