import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { crc32c } from '../checksum.js'
import { type Hashes, loadHashes } from '../hashes.js'
import { viewOf } from '../little-endian.js'
import { expectEveryCutRefused, expectEveryFlipRefused, refusalOf } from '../testing/refusals.js'
import { type CcxfContent, encodeCcxf, encodeCcxfInSlices } from './encode-ccxf.js'
import { openCcxf } from './open-ccxf.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const sample: CcxfContent = {
  tokenizerVersion: 2,
  strings: ['größe', 'seal', ''],
  stopStrings: ['the', 'of'],
  offsets: Uint32Array.of(0, 4, 4, 6),
  words: Uint32Array.of(3, 1, 4, 0, 2, 1),
}

const open = (bytes: Uint8Array) => openCcxf(bytes, hashes)

/** Every word of every document, which touches every byte. */
async function readAll(bytes: Uint8Array): Promise<readonly (readonly string[])[]> {
  const reader = await open(bytes)
  return Array.from({ length: reader.totalFrames }, (_, doc) => {
    const into = new Uint32Array(reader.wordCount(doc))
    const words = into.subarray(0, reader.readWords(doc, into))
    return Array.from(words, (n) => reader.string(n))
  })
}

/** Bytes after a change that header and hash do not tell. */
function changed(change: (bytes: Uint8Array, view: DataView) => void): Uint8Array {
  const bytes = encodeCcxf(sample, hashes)
  change(bytes, viewOf(bytes))
  viewOf(bytes).setUint32(60, crc32c(bytes.subarray(0, 60)), true)
  bytes.set(hashes.blake3(bytes.subarray(64, -32)), bytes.length - 32)
  return bytes
}

describe('encodeCcxf and openCcxf', () => {
  it('give words and strings back', async () => {
    const reader = await open(encodeCcxf(sample, hashes))
    expect(reader).toMatchObject({
      tokenizerVersion: 2,
      totalFrames: 3,
      terms: 3,
      stopTerms: 2,
      totalWords: 6,
    })
    expect([0, 1, 2].map((doc) => reader.wordCount(doc))).toEqual([4, 0, 2])
    expect(await readAll(encodeCcxf(sample, hashes))).toEqual([
      ['the', 'seal', 'of', 'größe'],
      [],
      ['', 'seal'],
    ])
  })

  it('lie at the documented offsets', () => {
    const bytes = Buffer.from(encodeCcxf(sample, hashes))
    expect(bytes.toString('latin1', 0, 4)).toBe('CCXF')
    expect(bytes.readUInt16LE(4)).toBe(1)
    expect(bytes.readUInt16LE(6)).toBe(2)
    const numbers = [8, 12, 16, 28, 32].map((at) => bytes.readUInt32LE(at))
    const stringsLength = 1 + 7 + 1 + 4 + 1 + 1 + 3 + 1 + 2
    expect(numbers).toEqual([3, 3, 2, stringsLength, 6])
    expect(bytes.readBigUInt64LE(20)).toBe(6n)
    expect(bytes.readUInt32LE(60)).toBe(crc32c(bytes.subarray(0, 60)))
    expect(bytes.length).toBe(64 + stringsLength + 4 * 4 + 6 + 32)
    expect(bytes.subarray(-32)).toEqual(Buffer.from(hashes.blake3(bytes.subarray(64, -32))))
  })

  it('round trip any documents, in slices or not, wherever the bytes stand', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 300 }),
        fc.array(text, { maxLength: 5 }),
        fc.array(fc.array(fc.nat(2 ** 31), { maxLength: 30 }), { maxLength: 10 }),
        fc.nat(3),
        async (strings, stopStrings, docs, shift) => {
          const known = strings.length + stopStrings.length
          const numbered = docs.map((doc) => doc.map((n) => n % known))
          let end = 0
          const offsets = Uint32Array.from([0, ...numbered.map((doc) => (end += doc.length))])
          const words = Uint32Array.from(numbered.flat())
          const content = { tokenizerVersion: 1, strings, stopStrings, offsets, words }
          const bytes = encodeCcxf(content, hashes)
          expect(await encodeCcxfInSlices(content, hashes)).toEqual(bytes)
          const moved = new Uint8Array(bytes.length + shift)
          moved.set(bytes, shift)
          const all = [...strings, ...stopStrings]
          expect(await readAll(moved.subarray(shift))).toEqual(
            numbered.map((doc) => doc.map((n) => all[n])),
          )
        },
      ),
    )
  })

  it('hold numbers of any size, and pause on long documents', async () => {
    const strings = Array.from({ length: 20_000 }, (_, i) => `term ${i}`)
    const words = Uint32Array.from({ length: 60_000 }, (_, i) => (i * 7919) % strings.length)
    const content = {
      tokenizerVersion: 2,
      strings,
      stopStrings: [],
      offsets: Uint32Array.of(0, words.length),
      words,
    }
    let pauses = 0
    const pause = () => {
      pauses++
      return undefined
    }
    const bytes = await encodeCcxfInSlices(content, hashes, pause)
    expect(pauses).toBeGreaterThanOrEqual(10)
    const reader = await openCcxf(bytes, hashes, pause)
    const into = new Uint32Array(reader.wordCount(0))
    expect(reader.readWords(0, into)).toBe(words.length)
    expect(into).toEqual(words)
    expect(reader.string(19_999)).toBe('term 19999')
  })

  it('store an unpaired surrogate as the replacement character', async () => {
    const reader = await open(encodeCcxf({ ...sample, strings: ['a\ud800', 'b', 'c'] }, hashes))
    expect(reader.string(0)).toBe('a\ufffd')
  })

  it('refuse to write content that contradicts itself', () => {
    for (const wrong of [
      { words: Uint32Array.of(3, 1, 4, 0, 2, 5) },
      { offsets: Uint32Array.of(0, 4, 4, 5) },
      { offsets: Uint32Array.of(1, 4, 4, 6) },
      { offsets: Uint32Array.of(0, 4, 3, 6) },
      { offsets: new Uint32Array(0) },
      { tokenizerVersion: -1 },
    ]) {
      expect(() => encodeCcxf({ ...sample, ...wrong }, hashes)).toThrow(RangeError)
    }
  })

  it('know what is not there', async () => {
    const reader = await open(encodeCcxf(sample, hashes))
    expect(() => reader.string(5)).toThrow(RangeError)
    expect(() => reader.wordCount(3)).toThrow(RangeError)
    expect(() => reader.readWords(-1, new Uint32Array(9))).toThrow(RangeError)
    expect(() => reader.readWords(0, new Uint32Array(3))).toThrow(RangeError)
  })

  it('refuse a file that is cut anywhere or has one byte changed, and say where', async () => {
    const bytes = encodeCcxf(sample, hashes)
    await expectEveryCutRefused(bytes, readAll)
    await expectEveryFlipRefused(bytes, readAll, () => true)
    expect(await refusalOf(new Uint8Array([...bytes, 0]), open)).toMatchObject({
      data: { field: 'file_len' },
    })
  })

  it('refuse what hashes do not tell', async () => {
    const streams = 64 + 21 + 16
    const faults: readonly (readonly [string, Uint8Array])[] = [
      ['terms', changed((_, view) => view.setUint32(12, 2 ** 31, true))],
      ['strings_len', changed((_, view) => view.setUint32(16, 1, true))],
      ['total_words', changed((_, view) => view.setUint32(20, 7, true))],
      ['offsets', changed((_, view) => view.setUint32(64 + 21, 1, true))],
      ['offsets', changed((_, view) => view.setUint32(64 + 21 + 4, 5, true))],
      ['offsets', changed((_, view) => view.setUint32(64 + 21 + 12, 5, true))],
      ['word', changed((bytes) => bytes.fill(5, streams, streams + 1))],
      ['string 0', changed((bytes) => bytes.fill(0xff, 66, 67))],
    ]
    for (const [field, bytes] of faults) {
      expect(await refusalOf(bytes, readAll), field).toMatchObject({ data: { field } })
    }
    const cutWord = changed((bytes) => bytes.fill(0x80, streams + 3, streams + 4))
    expect(await refusalOf(cutWord, readAll)).toMatchObject({ code: 'BUFFER_TOO_SMALL' })
    const longString = changed((bytes) => bytes.fill(0x7f, 64, 65))
    expect(await refusalOf(longString, readAll)).toMatchObject({ code: 'BUFFER_TOO_SMALL' })
  })
})
